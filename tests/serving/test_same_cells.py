"""For any policy, subscription and rows, every way to read gives the cells of the effective view and no others."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.serving.random_views import FIELDS, NOW, POLICIES, PURPOSES, ROWS, cells_of, readable, reader_of
from tests.serving.shop import SCHEMA, Lake
from treaty.contracts.versions import Line
from treaty.registry.service.data_readers import DataReader, NoDataAccess
from treaty.serving.data_service import DataService
from treaty.serving.encoding import WRITERS, Envelope, row_as_json
from treaty.serving.queries import Query


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    policy=POLICIES,
    purpose=st.none() | st.sampled_from(PURPOSES),
    fields=st.lists(st.sampled_from((*FIELDS, "lines[].sku")), unique=True),
    region=st.none() | st.sampled_from(("eu", "us")),
    rows=ROWS,
    size=st.integers(1, 9),
)
def test_every_way_gives_the_samecells_of(
    tmp_path_factory: Any,
    policy: dict[str, Any],
    purpose: str | None,
    fields: list[str],
    region: str | None,
    rows: list[dict[str, Any]],
    size: int,
) -> None:
    listed = [{"order_id": f"ORD-{number:03}", **row} for number, row in enumerate(rows)]
    lake = _lake(tmp_path_factory.mktemp("lake"), listed)
    service = lake.service(region)
    reader = reader_of(policy, purpose, ["order_id", *fields] if fields else [])
    publication = service.publication(Line("shop.orders", 1))
    view = service.view(reader)
    expected = cells_of(readable(listed, view))

    def read(**query: Any) -> Any:
        return service.read(publication, reader, Query(**query), NOW)

    try:
        stream = read()
    except NoDataAccess:
        assert expected == {}
        return

    tables = list(stream.tables)
    assert cells_of(_joined(stream.schema, tables)) == expected
    assert _pages(service, reader, size) == expected
    for key, row in expected.items():
        single = read(key=(key,), limit=1)
        assert [json.loads(row_as_json(one)) for table in single.tables for one in table.to_pylist()] == [row]
    for media, parse in _PARSERS.items():
        body = b"".join(WRITERS[media](stream.schema, tables, Envelope({"run": 1})))
        assert parse(body) == (_as_csv(expected) if media == "text/csv" else expected)


def _lake(folder: Path, rows: list[dict[str, Any]]) -> Lake:
    lake = Lake.create(folder)
    table = pa.Table.from_pylist(rows, SCHEMA)
    lake.publish(table.slice(0, len(rows) // 2), run=1)
    lake.publish(table.slice(len(rows) // 2), run=2)
    return lake


def _joined(schema: pa.Schema, tables: list[pa.Table]) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *tables])


def _pages(service: DataService, reader: DataReader, size: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    publication, cursor = service.publication(Line("shop.orders", 1)), None
    while True:
        page = service.read(publication, reader, Query(limit=size, cursor=cursor), NOW)
        for table in page.tables:
            cells = cells_of(table)
            assert not cells.keys() & found.keys()
            found |= cells
        cursor = page.next
        if cursor is None:
            return found


def _as_csv(cells: dict[str, Any]) -> dict[str, Any]:
    """Return rows as CSV has them: texts, and JSON for nested values; null is empty."""
    return {key: {name: _csv_text(value) for name, value in row.items()} for key, row in cells.items()}


def _csv_text(value: Any) -> str:
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def _read_csv(body: bytes) -> dict[str, Any]:
    return {row["order_id"]: row for row in csv.DictReader(io.StringIO(body.decode(), newline=""))}


_PARSERS: dict[str, Any] = {
    "application/json": lambda body: {row["order_id"]: row for row in json.loads(body)["items"]},
    "text/csv": _read_csv,
    "application/vnd.apache.arrow.stream": lambda body: cells_of(pa.ipc.open_stream(body).read_all()),
    "application/vnd.apache.parquet": lambda body: cells_of(pq.read_table(io.BytesIO(body))),
}
