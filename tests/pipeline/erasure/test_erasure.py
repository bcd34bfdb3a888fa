"""Erasing a key: it is in no file of the lake afterwards, and everything else is as a replay gives it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import fastavro
import pyarrow.parquet as parquet  # type: ignore[import-untyped]
import pytest
from pyspark.sql import SparkSession

from tests.pipeline.run import kiosk
from tests.pipeline.run.kiosk import Kiosk, ordered, paid
from treaty.errors import InvalidDocument, NotFound
from treaty.pipeline.erasure import ErasureRequest, erase_key
from treaty.pipeline.maintenance import Retention
from treaty.pipeline.maintenance import housekeeping as housekeeping_module
from treaty.pipeline.project import read_project
from treaty.pipeline.run import RunOptions
from treaty.pipeline.tables.table_reader import ReadRequest, read_table

KEY = "order-77-private"
TABLES = (
    *("raw.ordered", "raw.paid", "events.ordered", "events.paid", "products.orders", "products.payments"),
    *("reconciliation.sales", "reconciliation.sales_exceptions", "publications.books_v1"),
)
MORE_FILES = {
    "publications/shelf.yaml": "contract: kiosk.shelf@1\nfrom: [sales]\nsql: shelf.sql\nas: view\n",
    "shelf.sql": "SELECT order_id, is_paid FROM sales\n",
    "publications/partner.yaml": (
        "contract: kiosk.partner@1\nfrom: [sales]\nsql: shelf.sql\nas: feed\nfeed: {folder: out, format: csv}\n"
    ),
}


def _open(spark: SparkSession, folder: Path) -> Kiosk:
    opened = kiosk.open_kiosk(spark, folder, "erasure")
    for name, text in MORE_FILES.items():
        (folder / name).write_text(text.replace("folder: out", f"folder: {folder / 'out'}"))
    fields: dict[str, dict[str, Any]] = {
        "order_id": {"logicalType": "string"},
        "is_paid": {"logicalType": "boolean"},
    }
    more = {name: kiosk._contract(name, fields, "order_id") for name in ("shelf", "partner")}
    opened.contracts = kiosk.contracts(**more)
    return opened


def _deliver(shop: Kiosk) -> None:
    """Deliver the key in every way: as an event, an update, a duplicate, a malformed line, in two sources."""
    shop.deliver("ordered", [ordered(1, "A", 1, 10), ordered(2, KEY, 1, 20), ordered(3, "B", 1, 30)])
    shop.deliver("paid", [paid(1, "A", 10), paid(2, KEY, 25), paid(3, "B", 31)])
    assert shop.run(RunOptions(max_parallel_steps=1, retention=Retention(0, 1))).succeeded
    shop.deliver("ordered", [ordered(4, KEY, 2, 25), ordered(2, KEY, 1, 20), f'{{"event": "o9", "order_id": "{KEY}"'])
    shop.deliver("paid", [paid(4, "B", 1), {"event": "p9", "order_id": KEY, "amount": "many"}])
    shop.deliver("ordered", [ordered(5, "C", 1, 5)])
    assert shop.run(RunOptions(max_parallel_steps=1, retention=Retention(0, 1))).succeeded


def _texts(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet":
            yield path, str(parquet.read_table(path).to_pylist())
        elif path.suffix == ".avro":
            with path.open("rb") as file:
                yield path, str(list(fastavro.reader(file)))
        elif path.is_file() and path.suffix == ".json":
            yield path, path.read_text()


def _files_with_key(shop: Kiosk) -> list[Path]:
    locations = [shop.tables.catalog.open_table(table).location() for table in TABLES]
    folders = [Path(location.removeprefix("file://")) for location in locations]
    return [path for folder in folders for path, text in _texts(folder) if KEY in text]


def _others(state: dict[str, list[tuple[Any, ...]]]) -> dict[str, list[tuple[Any, ...]]]:
    return {table: [row for row in rows if KEY not in str(row)] for table, rows in state.items()}


def _erase(shop: Kiosk, *key: str, contract: str = "kiosk.sales", dry_run: bool = False) -> Any:
    shop.runs += 1
    now = kiosk.NOW + timedelta(minutes=shop.runs)
    request = ErasureRequest(contract, key, dry_run=dry_run)
    return erase_key(shop.tables, read_project(shop.folder), shop.contracts, request, now=now)


def test_an_erased_key_is_in_no_file(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping_module, "EXPIRY_BATCH", 1)
    shop = _open(spark, tmp_path)
    _deliver(shop)
    before = _others(shop.everything())
    assert {path.parents[1].name for path in _files_with_key(shop)} >= {
        "ordered",
        "paid",
        "orders",
        "sales",
        "books_v1",
    }

    with pytest.raises(NotFound, match=r"does not use a contract 'kiosk\.nothing'; use one of: kiosk\.ordered@1"):
        _erase(shop, KEY, contract="kiosk.nothing")
    with pytest.raises(InvalidDocument, match="not complete; add --key FIELD=VALUE for: order_id"):
        _erase(shop, contract="kiosk.sales")
    assert _erase(shop, "no such order").is_found is False
    planned = _erase(shop, KEY, dry_run=True)
    counts = {table.table: table.rows for table in planned.tables}
    assert (counts["raw.ordered"], counts["raw.paid"]) == (4, 2)
    assert (counts["products.orders"], counts["products.payments"], counts["publications.books_v1"]) == (1, 1, 1)
    assert len(planned.source_files) == 4
    assert [file.contains for file in planned.delivered] == [True]
    assert _files_with_key(shop) != []

    erased = _erase(shop, f"order_id={KEY}")
    assert erased.problems == ()
    assert _files_with_key(shop) == []
    assert KEY not in str(erased.as_data())
    assert _others(shop.everything()) == before == shop.everything()
    shelf = read_table(shop.tables.catalog, ReadRequest("shelf"), lambda: nullcontext(shop.tables))
    assert all(KEY not in str(row) for row in shelf.rows)
    newest = max((tmp_path / "out" / "partner_v1").glob("run=*"))
    assert all(KEY not in path.read_text() for path in newest.iterdir())

    with pytest.raises(NotFound, match=r"older states were removed at .* when a key was erased \(treaty erase\)"):
        read_table(shop.tables.catalog, ReadRequest("books", as_of="2026-01-01"), lambda: nullcontext(shop.tables))
    shop.deliver("ordered", [ordered(6, "A", 2, 11)])
    assert shop.run().succeeded  # without an alarm about a foreign write
    state = shop.everything()
    assert shop.run(RunOptions(rebuild=True, from_raw=True, max_parallel_steps=1)).succeeded
    assert shop.everything() == state
    assert _files_with_key(shop) == []
