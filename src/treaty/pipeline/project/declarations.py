"""The declarations of a project as values: sources, products, reconciliations, publications, and their tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from treaty.contracts.findings import Place
from treaty.contracts.values import EMPTY
from treaty.contracts.versions import Line
from treaty.legacy.feeds import LegacyFeed

ADDED_LATER: Mapping[str, bool] = {"added later": True}
"""Metadata of fields that earlier releases did not have: without a value, they do not change the digest of a step."""


class Format(StrEnum):
    """The format of files."""

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
    """A database table; rows above the highest value of a column so far are new."""

    url: str
    table: str
    column: str
    user: str | None = None


class ValueFormat(StrEnum):
    """How the values of a topic are written."""

    JSON = "json"
    AVRO = "avro"
    PROTOBUF = "protobuf"


class Framing(StrEnum):
    """What stands before each value of a topic."""

    CONFLUENT = "confluent"
    """A magic byte and the id of the writer's schema."""
    NONE = "none"


@dataclass(frozen=True)
class SchemaRegistryAddress:
    """A schema registry with Confluent's API, and the environment variables that hold its credentials."""

    url: str
    user: str | None = None
    password: str | None = None
    token: str | None = None


@dataclass(frozen=True)
class Codec:
    """How the bytes of a value become a record."""

    format: ValueFormat
    framing: Framing
    schema: str | None = None
    """The text of the writer's schema of values that name none; None: the schema of the contract."""
    registry: SchemaRegistryAddress | None = None
    """Where schema ids are resolved; None: Treaty's own registry."""

    @property
    def needs_schemas(self) -> bool:
        """Whether values can be read only with the schema of their writer, or name one."""
        return self.format is not ValueFormat.JSON or self.framing is Framing.CONFLUENT


class FeedFormat(StrEnum):
    """The format of the envelopes of a change feed."""

    DEBEZIUM = "debezium"


@dataclass(frozen=True)
class ChangeFeed:
    """Changes of the rows of a database table: they follow its tables, and are not a business contract."""

    format: FeedFormat = FeedFormat.DEBEZIUM
    envelope: Mapping[str, str] = EMPTY
    """By field of the contract: the path in the envelope that provides it, such as `source.lsn`."""


class Starting(StrEnum):
    """Where the first run of a source starts to read its topics."""

    EARLIEST = "earliest"
    LATEST = "latest"


class LostOffsets(StrEnum):
    """What a run does if records were deleted before it could read them."""

    FAIL = "fail"
    ACCEPT = "accept"


@dataclass(frozen=True)
class Kafka:
    """Topics of a Kafka cluster; each record is read once."""

    bootstrap: str
    topic: str = ""
    """The name of the topic; empty if there is a pattern."""
    pattern: str = ""
    """A regular expression that the whole name of a topic matches."""
    starting: Starting = Starting.EARLIEST
    lost_offsets: LostOffsets = LostOffsets.FAIL
    security: Mapping[str, str] = EMPTY
    """By setting of `treaty.kafka.connection`: the environment variable with its value."""

    @property
    def topics(self) -> str:
        """The topic or pattern, for messages."""
        return self.topic or self.pattern


@dataclass(frozen=True)
class Source:
    """Where the events of one contract come from."""

    name: str
    line: Line
    origin: Files | Jdbc | Kafka
    identity: tuple[str, ...] = ()
    """The fields that identify an event, to detect redeliveries; empty: those of the contract."""
    count_by: tuple[str, ...] = ()
    """The fields by whose values the rows of a run are counted for the measure `rows_in`."""
    codec: Codec | None = field(default=None, metadata=ADDED_LATER)
    """How values are decoded; None: lines of JSON or CSV."""
    change_feed: ChangeFeed | None = field(default=None, metadata=ADDED_LATER)
    at: str = ""
    """File and line of the declaration, for messages; the same in the other declarations."""


@dataclass(frozen=True)
class Sql:
    """A query of the project, with its file."""

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
    deletion_mark: str | None = field(default=None, metadata=ADDED_LATER)
    """The boolean field that marks keys that a change feed deleted; None: they have no row."""
    at: str = ""


@dataclass(frozen=True)
class Claim:
    """What one product says about the key, one row per key."""

    name: str
    product: str
    sql: Sql | None = None


class OnConflict(StrEnum):
    """What happens to an attribute on which claims disagree."""

    EXCEPTION = "exception"
    AUTHORITY = "authority"
    NULL = "null"


@dataclass(frozen=True)
class Agreement:
    """How far claims may differ: by a number, or by a share of the first value; zero means exact agreement."""

    within: float = 0.0
    is_share: bool = False


@dataclass(frozen=True)
class Attribute:
    """How a field of the reconciled contract gets its value."""

    name: str
    authority: tuple[str, ...] = ()
    columns: Mapping[str, str] = EMPTY
    """By claim: the column, if it is not named like the field."""
    derived: str | None = None
    default: str | int | float | bool | None = None
    agreement: Agreement | None = None
    on_conflict: OnConflict = OnConflict.EXCEPTION
    owner: str | None = None


class ReasonClass(StrEnum):
    """Why a key is not settled."""

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
    """A view of a key across products, with the owner of its exceptions."""

    name: str
    line: Line
    claims: tuple[Claim, ...]
    attributes: tuple[Attribute, ...]
    assertions: tuple[Assertion, ...] = ()
    owner: str | None = None
    at: str = ""


class Redaction(StrEnum):
    """How a value is redacted."""

    HASH = "hash"
    NULL = "null"
    CONSTANT = "constant"


@dataclass(frozen=True)
class Redacted:
    """A redacted field, and how it is redacted."""

    field: str
    how: Redaction
    constant: str | None = None


@dataclass(frozen=True)
class Delay:
    """Rows become visible a certain time after the time in a column."""

    by: str
    duration: timedelta


class Form(StrEnum):
    """The form in which a publication is served."""

    TABLE = "table"
    VIEW = "view"
    FEED = "feed"
    TOPIC = "topic"


@dataclass(frozen=True)
class FileLayout:
    """How the files of a legacy feed are named and written."""

    name: str
    """The name of a file; `*` stands for the day of its rows."""
    period: str
    """The column with the day of a row."""
    period_format: str | None = None
    dialect: Mapping[str, str] = EMPTY
    """The options of its CSV, such as `sep` and `encoding`."""


@dataclass(frozen=True)
class Feed:
    """Files for a partner, with a manifest."""

    folder: str
    format: Format
    files: int = 1
    layout: FileLayout | None = field(default=None, metadata=ADDED_LATER)
    """The layout of the legacy feed that the publication emulates."""


class Records(StrEnum):
    """What the records of a topic are."""

    UPSERTS = "upserts"
    """The current row of each key; a deleted key gets a tombstone. The topic is compacted."""
    STREAM = "stream"
    """Every change of a row, in the order in which runs published it; nothing is ever replaced."""


@dataclass(frozen=True)
class Topic:
    """A Kafka topic that the changes of a publication are sent to."""

    name: str
    bootstrap: str
    value: ValueFormat = ValueFormat.JSON
    records: Records | None = None
    """None: a stream if the key of the contract contains its sequence, so that no row is ever replaced."""
    partitions: int = 1
    replication: int | None = None
    """The replication factor with which the topic is created; None: that of the broker."""
    security: Mapping[str, str] = EMPTY
    """By setting of the connection: the environment variable with its value."""
    schema_registry: str | None = None
    """The address of a schema registry; None: that of the project's registry."""


@dataclass(frozen=True)
class Served:
    """Rows are served by the read API: the table is sorted by its key, and some more columns have filters."""

    filters: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConsumerDelivery:
    """What a publication delivers to one consumer: the fields, masks and rows that the consumer may read."""

    consumer: str
    region: str | None = None
    """Where the rows are read; without one, no rows are delivered under a residency rule."""
    feed: Feed | None = None
    topic: Topic | None = None
    table: str | None = None
    """The name of a generated table in the namespace of the consumer."""
    view: str | None = None
    """The name of a generated view in the namespace of the consumer."""
    at: str = ""

    @property
    def namespace(self) -> str:
        """The namespace of the consumer: its name with `_` for other characters than letters and digits."""
        return consumer_namespace(self.consumer)

    def own_table(self, publication: str) -> str | None:
        """Return the table with the rows of the consumer; a topic is sent from it too."""
        if self.table is None and self.topic is None:
            return None
        return f"{self.namespace}.{self.table or publication}"

    @property
    def own_view(self) -> str | None:
        """The view with the rows of the consumer."""
        return None if self.view is None else f"{self.namespace}.{self.view}"

    @property
    def own_feed(self) -> Feed | None:
        """The feed in a folder of its own."""
        return None if self.feed is None else replace(self.feed, folder=f"{self.feed.folder}/{self.namespace}")


def consumer_namespace(consumer: str) -> str:
    """Return the namespace of the tables that are generated for a consumer."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", consumer).lower()
    return name if name[:1].isalpha() else f"c_{name}"


@dataclass(frozen=True)
class Publication:
    """A consumer contract and how its rows are served."""

    name: str
    line: Line
    inputs: tuple[str, ...]
    table: str
    """Its table or view in the namespace of publications; by default the last part of the id, `_v` and MAJOR."""
    sql: Sql | None = None
    redacted: tuple[Redacted, ...] = ()
    delay: Delay | None = None
    form: Form = Form.TABLE
    feed: Feed | None = None
    topic: Topic | None = None
    served: Served | None = None
    deliveries: tuple[ConsumerDelivery, ...] = ()
    emulates: str | None = field(default=None, metadata=ADDED_LATER)
    """The legacy feed whose shape the rows have; the query gives clean rows, and is wrapped in a projection."""
    at: str = ""

    @property
    def generated_tables(self) -> tuple[str, ...]:
        """The tables that are generated for its consumers."""
        tables = (delivery.own_table(self.table) for delivery in self.deliveries)
        return tuple(table for table in tables if table is not None)


Declared = Source | Product | Reconciliation | Publication


@dataclass(frozen=True)
class Project:
    """All declarations of a folder."""

    folder: Path
    sources: tuple[Source, ...] = ()
    products: tuple[Product, ...] = ()
    reconciliations: tuple[Reconciliation, ...] = ()
    publications: tuple[Publication, ...] = ()
    legacy: tuple[LegacyFeed, ...] = ()
    """Feeds that are not contracts, and that publications replace."""
    stated_name: str | None = None
    """The `name` in the settings of the project."""

    @property
    def name(self) -> str:
        """The name of the project everywhere: the one in its settings, else that of its folder."""
        return self.stated_name or self.folder.name

    def __iter__(self) -> Iterator[Declared]:
        """Yield all declarations, upstream layers first."""
        yield from self.sources
        yield from self.products
        yield from self.reconciliations
        yield from self.publications


def place_at(at: str) -> Place:
    """Return the place in the `at` of a declaration: a file and a line."""
    source, colon, line = at.rpartition(":")
    return Place(source, int(line)) if colon and line.isdecimal() else Place(at)


class Layer(StrEnum):
    """The layers, upstream first; each has a namespace of its own."""

    RAW = "raw"
    EVENTS = "events"
    PRODUCTS = "products"
    RECONCILIATION = "reconciliation"
    PUBLICATIONS = "publications"


def raw_table(source: str) -> str:
    """Return the raw table of a source."""
    return f"{Layer.RAW}.{source}"


def table_of(declared: Declared) -> str:
    """Return the table of a declaration that others read; for a source, the table of events."""
    if isinstance(declared, Publication):
        return f"{Layer.PUBLICATIONS}.{declared.table}"
    return f"{layer_of(declared)}.{declared.name}"


def layer_of(declared: Declared) -> Layer:
    """Return the layer of that table."""
    if isinstance(declared, Product):
        return Layer.PRODUCTS
    if isinstance(declared, Reconciliation):
        return Layer.RECONCILIATION
    return Layer.PUBLICATIONS if isinstance(declared, Publication) else Layer.EVENTS


def exceptions_table(reconciliation: str) -> str:
    """Return the table of exceptions of a reconciliation."""
    return f"{Layer.RECONCILIATION}.{reconciliation}_exceptions"


def acceptances_table(reconciliation: str) -> str:
    """Return the table of acceptances of a reconciliation."""
    return f"{Layer.RECONCILIATION}.{reconciliation}_acceptances"
