"""Legacy feeds as a project declares them, and how a parallel run compares each with a publication."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from treaty.contracts.values import EMPTY
from treaty.legacy.cutover import DEFAULT_GATE, Gate


@dataclass(frozen=True, slots=True)
class LegacyTable:
    """A table of the catalog, or of another one that Spark knows."""

    name: str


@dataclass(frozen=True, slots=True)
class LegacyFiles:
    """Files that a legacy job writes: a path or pattern, read as `treaty test` reads data."""

    path: str
    format: str | None = None
    options: Mapping[str, str] = EMPTY


@dataclass(frozen=True, slots=True)
class LegacyDatabase:
    """A table of a database."""

    url: str
    table: str
    user: str | None = None


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far two values may differ: by a number, by a share of the legacy value, or by a time."""

    absolute: float = 0.0
    relative: float = 0.0
    seconds: int = 0


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """A column of the legacy feed, and how it is compared."""

    legacy: str
    new: str
    tolerance: Tolerance = Tolerance()
    codes: Mapping[str, str] | None = None
    """What each legacy code means in the publication; a difference is then one of interpretation."""
    format: str | None = None
    """How the legacy feed writes dates and times, such as `dd.MM.yyyy`; None: ISO 8601."""
    new_format: str | None = None
    """How the publication writes them, if it emulates the feed."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a parallel run compares a feed with a publication."""

    publication: str
    """Its name in the project."""
    columns: tuple[ColumnRule, ...]
    identity: tuple[str, ...] = ()
    """The columns that tell the same business fact, if its key differs."""
    late_days: int = 0
    """How long a row may be missing on one side, or be booked on another day, before it counts as lost."""
    money: tuple[str, ...] = ()
    """The columns whose differences are summed."""
    patterns: tuple[str, ...] = ()
    """The columns by whose values missing and duplicate rows are grouped into findings."""
    totals: tuple[str, ...] = ()
    """The columns by which the effect on the sums of money is shown."""


@dataclass(frozen=True, slots=True)
class LegacyFeed:
    """A feed that is not a contract: what it is, who owns and reads it, and when it is produced."""

    name: str
    origin: LegacyTable | LegacyFiles | LegacyDatabase
    key: tuple[str, ...]
    period: str
    """The column with the day that a row belongs to."""
    owner: str
    produced: str | None = None
    consumers: tuple[str, ...] = ()
    comparison: Comparison | None = None
    names: tuple[str, ...] = ()
    """Further names of tables under which scans and lineage events know it."""
    gate: Gate = DEFAULT_GATE
    """What a consumer needs before it may leave the feed."""
    at: str = ""

    @property
    def read_names(self) -> tuple[str, ...]:
        """The names of tables under which it is read; its own name if it is in files and no other is known."""
        if isinstance(self.origin, LegacyFiles):
            return self.names or (self.name,)
        table = self.origin.name if isinstance(self.origin, LegacyTable) else self.origin.table
        return tuple(dict.fromkeys((table, *self.names)))
