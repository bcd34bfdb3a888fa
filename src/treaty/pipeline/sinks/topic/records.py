"""Records of a topic: the key, the value and the headers of each change of a published table."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from treaty.contracts.model import Contract
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument
from treaty.pipeline.project.declarations import Records, Topic
from treaty.pipeline.sinks.topic.values import CONTENT_TYPES, Encoder
from treaty.pipeline.tables.row_changes import ChangeKind, Row, RowChange, key_text
from treaty.spark.schema import column_name, select_object

CONTRACT_HEADER, VERSION_HEADER = "treaty_contract", "treaty_version"
RUN_HEADER, CHANGE_HEADER = "treaty_run", "treaty_change"


@dataclass(frozen=True)
class RecordKeys:
    """The columns that decide where a record goes and in which order."""

    row: tuple[str, ...]
    """The primary key: identifies a row of the table."""
    message: tuple[str, ...]
    """The key of a record."""
    group: tuple[str, ...]
    """Records with the same values are in one partition, in the order of their sequence."""
    sequence: str | None = None


def record_keys(contract: Contract, records: Records) -> RecordKeys:
    """Return the key columns of a contract; raise InvalidDocument if it has no primary key."""
    schema = select_object(contract)
    by_name = {one.name: column_name(one) for one in schema.fields}
    row = tuple(by_name[name] for name in schema.primary_key)
    if not row:
        raise InvalidDocument(
            f"{contract.id} {contract.version} has no primary key, so its records would have no key; "
            "mark the key fields with primaryKey: true"
        )
    ordering = contract.treaty.ordering
    ordered = tuple(by_name[name] for name in ordering.key if name in by_name) if ordering else ()
    group = ordered if ordered and set(ordered) <= set(row) else row
    sequence = by_name.get(ordering.sequence or "") if ordering else None
    return RecordKeys(row, group if records is Records.STREAM else row, group, sequence)


def records_of(contract: Contract, topic: Topic) -> Records:
    """Return what the records of a topic are: as declared, else a stream if the primary key contains the sequence."""
    if topic.records is not None:
        return topic.records
    ordering = contract.treaty.ordering
    is_stream = ordering is not None and ordering.sequence in select_object(contract).primary_key
    return Records.STREAM if is_stream else Records.UPSERTS


@dataclass(frozen=True)
class Record:
    """A record before it is sent; the value None is a tombstone. `partition` is None where the key decides it."""

    key: bytes
    value: bytes | None
    headers: Sequence[tuple[str, bytes]]
    partition: int | None = None


@dataclass(frozen=True)
class RecordSource:
    """What the records of a topic say about where they come from."""

    project: str
    publication: str
    line: Line
    contract: Contract
    topic: Topic
    run: int
    published_at: datetime
    schema_address: str | None = None

    @property
    def source(self) -> str:
        """The source of the events, as CloudEvents defines it."""
        return f"/{quote(self.project)}/{quote(self.publication)}"


@dataclass(frozen=True)
class RecordBuilder:
    """Builds the records of the changes that one run published."""

    origin: RecordSource
    keys: RecordKeys
    records: Records
    encode: Encoder
    partitions: int
    fixed_headers: tuple[tuple[str, bytes], ...] = field(init=False)

    def __post_init__(self) -> None:
        origin = self.origin
        given = {
            CONTRACT_HEADER: origin.contract.id,
            VERSION_HEADER: origin.contract.version,
            RUN_HEADER: str(origin.run),
            "ce_specversion": "1.0",
            "ce_source": origin.source,
            "ce_type": f"{origin.line.contract}.v{origin.line.major}",
            "ce_time": f"{origin.published_at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
            **({"ce_dataschema": origin.schema_address} if origin.schema_address else {}),
        }
        headers = tuple((name, value.encode()) for name, value in given.items())
        object.__setattr__(self, "fixed_headers", headers)

    def in_order(self, changes: Sequence[RowChange]) -> list[RowChange]:
        """Return changes in the order in which they are sent: by group, and within a group by sequence."""
        group, sequence = self.keys.group, self.keys.sequence
        if sequence is None:
            return list(changes)
        return sorted(changes, key=lambda change: (key_text(change.row, group), _order(change.row[sequence])))

    def build(self, change: RowChange, position: int) -> Record:
        """Return the record of a change; `position` is its place among the changes of the run."""
        key = key_bytes(change.row, self.keys.message)
        is_tombstone = change.kind is ChangeKind.DELETE and self.records is Records.UPSERTS
        headers = [
            *self.fixed_headers,
            ("ce_id", f"{self.origin.run}-{position}".encode()),
            ("ce_subject", key),
            (CHANGE_HEADER, str(change.kind).encode()),
        ]
        if not is_tombstone:
            headers.append(("content-type", CONTENT_TYPES[self.origin.topic.value].encode()))
        partition = None
        if self.keys.group != self.keys.message:
            partition = zlib.crc32(key_bytes(change.row, self.keys.group)) % self.partitions
        return Record(key, None if is_tombstone else self.encode(change.row), headers, partition)


def key_bytes(row: Row, columns: Sequence[str]) -> bytes:
    """Return the key of a record: the text of a single column, or a JSON object of several columns."""
    if len(columns) == 1:
        value = _plain(row[columns[0]])
        return (value if isinstance(value, str) else json.dumps(value)).encode()
    return json.dumps({name: _plain(row[name]) for name in columns}, ensure_ascii=False).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat() if value.tzinfo else value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    return value


def _order(value: Any) -> tuple[bool, Any]:
    return value is not None, value
