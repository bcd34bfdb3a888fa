"""The manifest of a delivery: its contract, its files, and the digests that show that it arrived complete."""

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

MANIFEST_VERSION = 1
"""The version of the manifest format."""


class Content(StrEnum):
    """Whether a delivery holds all rows, or the changes since the previous delivery."""

    FULL = "full"
    CHANGES = "changes"


@dataclass(frozen=True)
class DataFile:
    """A data file of a delivery, with its row count, size and digest."""

    name: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Previous:
    """The previous delivery, by its run and the digest of its manifest."""

    run: int
    manifest_sha256: str


@dataclass(frozen=True)
class Column:
    """A column of the contract."""

    name: str
    type: str
    required: bool


@dataclass(frozen=True)
class Manifest:
    """The content of `manifest.json`."""

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
    """The stamp of the snapshot that was delivered."""
    dialect: Mapping[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Number of rows in all files."""
        return sum(file.rows for file in self.files)

    def as_data(self) -> dict[str, Any]:
        """Return the manifest as JSON data."""
        return {
            "manifest": MANIFEST_VERSION,
            "table": self.table,
            "contract": {"id": self.contract, "version": self.version},
            "run": self.run,
            "created_at": _format_time(self.created_at),
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
        """Return the content of the file."""
        return (json.dumps(self.as_data(), indent=2, ensure_ascii=False) + "\n").encode()


def columns_of(contract: Contract) -> tuple[Column, ...]:
    """Return the columns of a contract, as the manifest lists them."""
    fields = struct_type(select_object(contract)).fields
    return tuple(Column(item.name, item.dataType.simpleString(), not item.nullable) for item in fields)


def read_manifest(content: bytes, where: str) -> Manifest:
    """Parse a manifest; raise `InvalidDocument` if it is not one."""
    try:
        data = json.loads(content)
        if data["manifest"] != MANIFEST_VERSION:
            raise InvalidDocument(
                f"{where} has manifest version {data['manifest']}; only version {MANIFEST_VERSION} is supported"
            )
        return Manifest(
            table=str(data["table"]),
            contract=str(data["contract"]["id"]),
            version=str(data["contract"]["version"]),
            run=int(data["run"]),
            created_at=datetime.fromisoformat(data["created_at"]),
            format=str(data["format"]),
            columns=tuple(Column(**column) for column in data["schema"]),
            files=tuple(DataFile(**file) for file in data["files"]),
            content=Content(data["content"]),
            previous=None if data["previous"] is None else Previous(**data["previous"]),
            stamp=dict(data["stamp"]),
            dialect=dict(data["dialect"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidDocument(f"{where} is not a manifest of a delivery: {error}") from None


def _format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
