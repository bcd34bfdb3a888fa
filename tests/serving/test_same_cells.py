"""For any policy, subscription and rows, every way to read gives the cells of the effective view and no others."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.serving.shop import KEYS, LINE, SCHEMA, Lake, contract
from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.loader import contract_from
from treaty.contracts.versions import Line, parse_line
from treaty.governance.effective import effective_contract
from treaty.policy import EffectiveView
from treaty.policy.arrow_views import apply_view
from treaty.policy.key_files import key_finder
from treaty.registry.model import VersionAnswer
from treaty.registry.service.data_readers import DataReader, NoDataAccess
from treaty.serving.data_service import DataService
from treaty.serving.encoding import WRITERS, Envelope, row_as_json
from treaty.serving.queries import Query

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PURPOSES = ("support", "analytics", "partner")
FIELDS = ("order_id", "placed_on", "customer", "email", "amount", "country", "lines")
TEXTS = st.text("ab –ü\n\"',;", max_size=6)
MASKS = st.one_of(
    st.just("null"),
    st.builds(lambda text: {"mask": "redact", "text": text}, st.sampled_from(("***", "x"))),
    st.just({"mask": "hash", "key": "customers"}),
    st.just({"mask": "tokenise", "key": "customers"}),
    st.just({"mask": "generalise", "to": "prefix", "length": 1}),
    st.just({"mask": "generalise", "to": "month"}),
)


def _rule(mask: Any, purposes: list[str]) -> Any:
    rule = {"mask": mask} if isinstance(mask, str) else dict(mask)
    return rule | ({"clear_for": purposes} if purposes else {})


RULES = st.builds(_rule, MASKS, st.lists(st.sampled_from(PURPOSES), unique=True, max_size=2))
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "classifications": st.dictionaries(st.sampled_from(("restricted", "secret")), RULES, min_size=1),
        "fields": st.dictionaries(st.sampled_from((*FIELDS[1:], "lines[].sku")), RULES, min_size=1, max_size=3),
        "purposes": st.lists(st.sampled_from(PURPOSES), unique=True, min_size=1),
        "residency": st.just({"column": "country", "serve": {"de": ["eu"], "us": ["us"], "fr": ["*"]}}),
        "retention": st.just({"column": "placed_on", "at_most": "40 d"}),
    },
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "placed_on": st.none() | st.dates(datetime(2026, 1, 1).date(), datetime(2026, 2, 28).date()),
            "customer": st.none() | TEXTS,
            "email": st.none() | TEXTS,
            "amount": st.none() | st.decimals(-1_000, 1_000, places=2).map(Decimal),
            "country": st.sampled_from(("de", "us", "fr", "", None)),
            "lines": st.lists(st.fixed_dictionaries({"sku": st.none() | TEXTS, "note": st.none() | TEXTS}), max_size=2),
        }
    ),
    max_size=40,
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    policy=POLICIES,
    purpose=st.none() | st.sampled_from(PURPOSES),
    fields=st.lists(st.sampled_from((*FIELDS, "lines[].sku")), unique=True),
    region=st.none() | st.sampled_from(("eu", "us")),
    rows=ROWS,
    size=st.integers(1, 9),
)
def test_every_way_gives_the_same_cells(
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
    reader = _reader(policy, purpose, ["order_id", *fields] if fields else [])
    publication = service.publication(Line("shop.orders", 1))
    view = service.view(reader)
    expected = _cells(_oracle(listed, view))

    def read(**query: Any) -> Any:
        return service.read(publication, reader, Query(**query), NOW)

    try:
        stream = read()
    except NoDataAccess:
        assert expected == {}
        return

    tables = list(stream.tables)
    assert _cells(_joined(stream.schema, tables)) == expected
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


def _reader(policy: dict[str, Any], purpose: str | None, fields: list[str]) -> DataReader:
    subscription = Subscription(
        "reader", parse_line(LINE), ConsumerClass.OPERATIONAL_REPORTING, parse_fields(fields), purpose
    )
    document = {name: value for name, value in contract().items() if name != "data_policy"}
    effective = effective_contract(
        contract_from(document | ({"data_policy": policy} if policy else {}), "the test"), ()
    )
    version = VersionAnswer.model_construct(version="1.0.0", status="active")
    return DataReader(subscription, version, effective)


def _oracle(rows: list[dict[str, Any]], view: EffectiveView) -> pa.Table:
    return apply_view(pa.Table.from_pylist(rows, SCHEMA), view, key_finder(KEYS), NOW)


def _joined(schema: pa.Schema, tables: list[pa.Table]) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *tables])


def _cells(table: pa.Table) -> dict[str, Any]:
    if "order_id" not in table.column_names:
        return {}
    return {row["order_id"]: json.loads(row_as_json(row)) for row in table.to_pylist()}


def _pages(service: DataService, reader: DataReader, size: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    publication, cursor = service.publication(Line("shop.orders", 1)), None
    while True:
        page = service.read(publication, reader, Query(limit=size, cursor=cursor), NOW)
        for table in page.tables:
            cells = _cells(table)
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
    "application/vnd.apache.arrow.stream": lambda body: _cells(pa.ipc.open_stream(body).read_all()),
    "application/vnd.apache.parquet": lambda body: _cells(pq.read_table(io.BytesIO(body))),
}
