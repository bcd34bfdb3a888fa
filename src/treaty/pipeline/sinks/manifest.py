"""The manifest of a delivery: what was delivered, under which contract, and how to tell that it arrived whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.spark.schema import select_object, struct_type

EDITION = 1
"""The edition of the manifest's own layout."""


class Content(StrEnum):
    """What the rows of a delivery are, seen from the delivery before."""

    FULL = "full"
    CHANGES = "changes"


@dataclass(frozen=True)
class DataFile:
    """A file of a delivery, by what must be found when it is read again."""

    name: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Previous:
    """The delivery before, by its run and the digest of its manifest."""

    run: int
    manifest_sha256: str


@dataclass(frozen=True)
class Column:
    """A column as the contract says it."""

    name: str
    type: str
    required: bool


@dataclass(frozen=True)
class Manifest:
    """What stands in `manifest.json`."""

    table: str
    contract: str
    version: str
    run: int
    created_at: datetime
    format: str
    columns: tuple[Column, ...]
    files: tuple[DataFile, ...]
    content: Content = Content.FULL
    previous: Previous | None = None
    stamp: Mapping[str, str] = field(default_factory=dict)
    """What the rows reflect, as their table's snapshot says it."""
    dialect: Mapping[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many rows there are in all files."""
        return sum(file.rows for file in self.files)

    def as_data(self) -> dict[str, Any]:
        """Return the manifest as JSON would say it."""
        return {
            "manifest": EDITION,
            "table": self.table,
            "contract": {"id": self.contract, "version": self.version},
            "run": self.run,
            "created_at": _written(self.created_at),
            "content": self.content.value,
            "previous": None if self.previous is None else vars(self.previous),
            "format": self.format,
            "dialect": dict(self.dialect),
            "schema": [vars(column) for column in self.columns],
            "rows": self.rows,
            "files": [vars(file) for file in self.files],
            "stamp": dict(self.stamp),
        }

    def to_bytes(self) -> bytes:
        """Return the manifest as it stands in its file."""
        return (json.dumps(self.as_data(), indent=2, ensure_ascii=False) + "\n").encode()


def columns_of(contract: Contract) -> tuple[Column, ...]:
    """Return the columns of a contract as a manifest lists them."""
    fields = struct_type(select_object(contract)).fields
    return tuple(Column(item.name, item.dataType.simpleString(), not item.nullable) for item in fields)


def read_manifest(content: bytes, where: str) -> Manifest:
    """Read a manifest; what is none is refused."""
    try:
        data = json.loads(content)
        if data["manifest"] != EDITION:
            raise InvalidDocument(f"{where} is a manifest of edition {data['manifest']}; this reads {EDITION}")
        return Manifest(
            table=str(data["table"]),
            contract=str(data["contract"]["id"]),
            version=str(data["contract"]["version"]),
            run=int(data["run"]),
            created_at=datetime.fromisoformat(data["created_at"]),
            format=str(data["format"]),
            columns=tuple(Column(**item) for item in data["schema"]),
            files=tuple(DataFile(**item) for item in data["files"]),
            content=Content(data["content"]),
            previous=None if data["previous"] is None else Previous(**data["previous"]),
            stamp=dict(data["stamp"]),
            dialect=dict(data["dialect"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidDocument(f"{where} is no manifest of a delivery: {error}") from None


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
