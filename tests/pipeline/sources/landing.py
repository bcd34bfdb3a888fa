"""Sources with a landing folder."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from treaty.contracts.values import EMPTY
from treaty.contracts.versions import Line
from treaty.pipeline.project.declarations import Files, Format, Jdbc, Source
from treaty.pipeline.sources import ArrivalRequest

NOON = datetime(2026, 11, 16, 12, 0, 0, 123456, tzinfo=UTC)


def files(pattern: Path | str, kind: Format = Format.JSONL, options: Mapping[str, str] = EMPTY) -> Source:
    """Return a source that reads files."""
    return Source("order_placed", Line("retail.orders.order_placed", 1), Files(str(pattern), kind, options))


def table(database: Path, column: str = "id") -> Source:
    """Return a source that reads a SQLite table."""
    origin = Jdbc(f"jdbc:sqlite:{database}", "orders", column)
    return Source("order_placed", Line("retail.orders.order_placed", 1), origin)


def asking(folder: Path = Path(), *columns: str) -> ArrivalRequest:
    """Return the request of run 5 at noon, for a project in a folder and a contract with some columns."""
    return ArrivalRequest(5, NOON, folder=folder, columns=frozenset(columns))
