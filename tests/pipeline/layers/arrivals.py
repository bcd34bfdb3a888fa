"""Raw rows for tests, as sources write them, and their contracts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pyspark.sql import DataFrame, SparkSession

from treaty.contracts.loader import load
from treaty.contracts.model import Contract
from treaty.contracts.versions import Line
from treaty.pipeline.project.declarations import Files, Format, Source

_COLUMNS = (
    "payload string, source string, file string, file_size bigint, file_modified timestamp, position bigint, "
    "headers map<string,string>, arrived_at timestamp, _run bigint"
)


@dataclass(frozen=True)
class Arrival:
    """An arrived payload: bytes, or a value that is written as JSON."""

    payload: Any
    run: int = 1
    file: str = "a.jsonl"
    position: int = 1
    headers: Mapping[str, str] = field(default_factory=dict)
    day: int = 5
    """The day of January on which its file was modified."""

    def as_json(self) -> str:
        content = self.payload if isinstance(self.payload, bytes) else json.dumps(self.payload).encode()
        row = {
            "payload": content.hex(),
            "source": "orders",
            "file": self.file,
            "file_size": 1,
            "file_modified": f"2026-01-{self.day:02}T00:00:00Z",
            "position": self.position,
            "headers": dict(self.headers),
            "arrived_at": "2026-01-05T00:00:00Z",
            "_run": self.run,
        }
        return json.dumps(row)


def raw(spark: SparkSession, folder: Path, arrivals: Iterable[Arrival]) -> DataFrame:
    """Return raw rows that are read from a file, as the rows of a table are."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"raw-{len(list(folder.iterdir()))}.json"
    file.write_text("\n".join(arrival.as_json() for arrival in arrivals))
    return spark.read.schema(_COLUMNS).json(str(file)).selectExpr("unhex(payload) AS payload", "* EXCEPT (payload)")


def source(
    name: str = "orders", *, identity: Sequence[str] = (), form: Format = Format.JSONL, **options: str
) -> Source:
    """Return the declaration of a source of files."""
    return Source(
        name, Line(f"shop.{name}", 1), Files(f"{name}/*", form, options), tuple(identity), at=f"{name}.yaml:1"
    )


def contract(name: str, fields: Mapping[str, Mapping[str, Any]], **more: Any) -> Contract:
    """Return a contract with one object; fields are strings unless given otherwise, and a key of None is left out."""
    declared = [{"name": field, "logicalType": "string", **field_keys} for field, field_keys in fields.items()]
    properties = [{key: value for key, value in field_keys.items() if value is not None} for field_keys in declared]
    document = {
        "apiVersion": "v3.2.0",
        "kind": "DataContract",
        "id": f"shop.{name}",
        "version": "1.0.0",
        "status": "active",
        **more,
        "schema": [{"name": name, "properties": properties}],
    }
    return load(yaml.safe_dump(document).encode(), f"{name}.yaml").contract
