"""`treaty erase`: asks before it erases, prints what it found, and records one audit entry without the value."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Treaty, Write
from tests.registry.offers import orders
from treaty.cli.progress import Progress
from treaty.pipeline.erasure import DeliveredFile, ErasedTable, Erasure, ErasureRequest
from treaty.registry.service import Registry

FOUND = Erasure(
    "orders",
    "orders@1",
    ("order_id",),
    datetime(2026, 3, 1, tzinfo=UTC),
    (ErasedTable("raw.placed", 3, 4, 9), ErasedTable("products.orders", 1, 2, 5)),
    ("landing/1.jsonl",),
    (DeliveredFile("out/a.csv", True), DeliveredFile("out/b.parquet", None)),
)


@pytest.fixture
def requests(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[ErasureRequest]:
    """A project, and the requests that reach the pipeline, which answers without Spark."""
    iceberg = "{name: lake, uri: 'jdbc:sqlite:lake.db', warehouse: lake}"
    write("treaty.yaml", f"name: shop\nregistry: registry.db\nspark: {{iceberg: {iceberg}}}\n")
    write("sources/placed.yaml", "contract: orders@1\nfiles: landing/*.jsonl\n")
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        registry.register(orders())
    received: list[ErasureRequest] = []

    @contextmanager
    def no_session(_: Any) -> Iterator[tuple[None, Progress]]:
        yield None, Progress()

    def answer(_tables: Any, _project: Any, _contracts: Any, request: ErasureRequest, _environment: Any) -> Erasure:
        received.append(request)
        if request.key == ("absent",):
            return Erasure("orders", "orders@1", ("order_id",), FOUND.at, is_dry_run=request.dry_run)
        return FOUND

    monkeypatch.setattr("treaty.cli.spark_session.deferred_session", no_session)
    monkeypatch.setattr("treaty.pipeline.tables.Tables", lambda *_: None)
    monkeypatch.setattr("treaty.pipeline.erasure.erase_key", answer)
    return received


def test_nothing_is_erased_without_confirmation(
    treaty: Treaty, requests: list[ErasureRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    result = treaty("erase", "orders", "--key", "4711")
    assert result.code == 1
    assert "This cannot be undone" in result.errors
    assert [request.dry_run for request in requests] == [True]


def test_an_erasure_is_printed_and_recorded_without_the_value(treaty: Treaty, requests: list[ErasureRequest]) -> None:
    result = treaty("erase", "orders", "--key", "order_id=4711", "--yes")
    assert (result.code, result.errors) == (0, "")
    assert [(request.key, request.dry_run) for request in requests] == [(("order_id=4711",), False)]
    assert result.output.startswith("✓ orders: 3 raw rows erased from 2 tables\n")
    assert "out/b.parquet (may contain it)" in result.output
    with Registry.open("registry.db") as registry:
        (entry,) = [entry for entry in registry.access.audit().items if entry.action == "key.erase"]
    assert (entry.actor, entry.subject) == ("ada", "orders@1")
    assert entry.details == {"fields": ["order_id"], "rows": 3, "tables": ["raw.placed", "products.orders"]}
    assert "4711" not in result.output


def test_a_key_that_is_nowhere_is_not_recorded(treaty: Treaty, requests: list[ErasureRequest]) -> None:
    result = treaty("erase", "orders", "--key", "absent", "--format", "json")
    assert result.code == 0
    assert json.loads(result.output)["tables"] == []
    assert len(requests) == 2
