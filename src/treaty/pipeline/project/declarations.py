"""What a project declares: its sources, products, reconciliations and publications, as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from treaty.contracts.values import EMPTY


@dataclass(frozen=True)
class Line:
    """A line of a contract: its id and MAJOR version."""

    contract: str
    major: int

    def __str__(self) -> str:
        return f"{self.contract}@{self.major}"


class Format(StrEnum):
    """How the records of files are written."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    AVRO = "avro"


@dataclass(frozen=True)
class Files:
    """Files that arrive; each is read once."""

    pattern: str
    format: Format
    options: Mapping[str, str] = EMPTY


@dataclass(frozen=True)
class Jdbc:
    """A table in a database; rows above the highest value of a column are new."""

    url: str
    table: str
    column: str
    user: str | None = None


@dataclass(frozen=True)
class Source:
    """Where events of one contract come from."""

    name: str
    line: Line
    origin: Files | Jdbc
    identity: tuple[str, ...] = ()
    """The fields that tell a redelivery; empty: what the contract says."""
    at: str = ""
    """File and line of the declaration, for messages; so in the others."""


@dataclass(frozen=True)
class Sql:
    """A query of the project, with the file that it stands in."""

    path: Path
    text: str


@dataclass(frozen=True)
class Product:
    """One context's view of its own events."""

    name: str
    line: Line
    sources: tuple[str, ...]
    sql: Sql | None = None
    enrichments: tuple[str, ...] = ()
    deleted_when: str | None = None
    at: str = ""


@dataclass(frozen=True)
class Claim:
    """What one product says about the key; one row for each."""

    name: str
    product: str
    sql: Sql | None = None


class OnConflict(StrEnum):
    """What becomes of an attribute on which claims disagree."""

    EXCEPTION = "exception"
    AUTHORITY = "authority"
    NULL = "null"


@dataclass(frozen=True)
class Agreement:
    """How far claims may differ: by a number or a share of the first; zero is exact."""

    within: float = 0.0
    is_share: bool = False


@dataclass(frozen=True)
class Attribute:
    """How a field of the reconciled contract is settled."""

    name: str
    authority: tuple[str, ...] = ()
    columns: Mapping[str, str] = EMPTY
    """The column of a claim, where it is not named like the field."""
    derived: str | None = None
    default: str | int | float | bool | None = None
    agreement: Agreement | None = None
    on_conflict: OnConflict = OnConflict.EXCEPTION
    owner: str | None = None


class ReasonClass(StrEnum):
    """Why something is not settled."""

    MISSING = "missing"
    CONFLICT = "conflict"
    LATE = "late"
    DUPLICATE = "duplicate"
    IDENTITY = "identity"


@dataclass(frozen=True)
class Assertion:
    """A statement that must hold for a key to be settled."""

    name: str
    holds: str
    otherwise: ReasonClass
    owner: str | None = None
    statement: str | None = None


@dataclass(frozen=True)
class Reconciliation:
    """What no single product can answer, and who owns the doubt."""

    name: str
    line: Line
    claims: tuple[Claim, ...]
    attributes: tuple[Attribute, ...]
    assertions: tuple[Assertion, ...] = ()
    owner: str | None = None
    at: str = ""


class Redaction(StrEnum):
    """How a value is taken out of a publication."""

    HASH = "hash"
    NULL = "null"
    CONSTANT = "constant"


@dataclass(frozen=True)
class Redacted:
    """A field that is taken out, and what stands there instead."""

    field: str
    how: Redaction
    constant: str | None = None


@dataclass(frozen=True)
class Delay:
    """Rows become visible that long after the moment in a column."""

    by: str
    duration: timedelta


class Form(StrEnum):
    """How a publication is served."""

    TABLE = "table"
    VIEW = "view"
    FEED = "feed"


@dataclass(frozen=True)
class Feed:
    """Files for a partner, with a manifest."""

    folder: str
    format: Format
    files: int = 1


@dataclass(frozen=True)
class Publication:
    """A consumer contract as it is served."""

    name: str
    line: Line
    inputs: tuple[str, ...]
    table: str
    """Its table or view in the namespace of publications: the last part of the id, _v and MAJOR."""
    sql: Sql | None = None
    redacted: tuple[Redacted, ...] = ()
    delay: Delay | None = None
    form: Form = Form.TABLE
    feed: Feed | None = None
    at: str = ""


Declared = Source | Product | Reconciliation | Publication


@dataclass(frozen=True)
class Project:
    """All that a folder declares."""

    folder: Path
    sources: tuple[Source, ...] = ()
    products: tuple[Product, ...] = ()
    reconciliations: tuple[Reconciliation, ...] = ()
    publications: tuple[Publication, ...] = ()

    def __iter__(self) -> Iterator[Declared]:
        """Yield everything, upstream layers first."""
        yield from self.sources
        yield from self.products
        yield from self.reconciliations
        yield from self.publications
