"""What tables are called: names of the project, and the same names as Spark takes them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from treaty.errors import InvalidDocument

_PART = r"[A-Za-z_][A-Za-z0-9_]*"
_TABLE = re.compile(rf"{_PART}\.{_PART}")
_PLACE = re.compile(rf"{_PART}(?:\.{_PART})*")


@dataclass(frozen=True)
class Place:
    """A catalog, or a namespace in it, that the tables of a project are in."""

    name: str

    def __post_init__(self) -> None:
        if not _PLACE.fullmatch(self.name):
            raise InvalidDocument(f"{self.name!r} cannot name a catalog; use letters, digits and _")

    @property
    def catalog(self) -> str:
        """The catalog itself."""
        return self.name.partition(".")[0]

    def full(self, table: str) -> str:
        """Return the name that Spark finds a table by."""
        return f"{self.name}.{_known(table)}"

    def inside(self, table: str) -> str:
        """Return the name that the catalog's procedures find a table by."""
        return self.full(table).partition(".")[2]

    def namespace(self, layer: str) -> str:
        """Return the namespace of a layer."""
        return f"{self.name}.{layer}"


def _known(table: str) -> str:
    if not _TABLE.fullmatch(table):
        raise InvalidDocument(f"{table!r} cannot name a table; write layer.name with letters, digits and _")
    return table
