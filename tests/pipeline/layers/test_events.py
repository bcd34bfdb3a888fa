"""From raw rows to events: every raw row has one outcome and a pointer back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from examples.retail.history import Options, write
from tests.pipeline.layers.arrivals import Arrival, contract, raw, source
from treaty.contracts.loader import load
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.events import (
    check_events,
    event_columns,
    identity_columns,
    known_identities,
    mark_redeliveries,
)
from treaty.pipeline.project.declarations import Format

_FIELDS: dict[str, dict[str, Any]] = {
    "id": {"required": True},
    "seq": {"logicalType": "integer", "logicalTypeOptions": {"minimum": 1}},
    "amount": {"logicalType": "number", "physicalType": "decimal(38,18)"},
    "buyer": {
        "logicalType": "object",
        "properties": [{"name": "name", "logicalType": "string", "required": True}],
    },
    "tags": {"logicalType": "array", "items": {"logicalType": "string"}},
    "prices": {
        "logicalType": "map",
        "map": {"key": {"logicalType": "string"}, "value": {"logicalType": "integer"}},
    },
}
_ORDERED = {"ordering": {"key": ["id"], "sequence": "seq"}}

_JUDGED: dict[str, tuple[bytes, list[str]]] = {
    "a record": (b'{"id":"a","seq":1}', []),
    "a record of many spaces, with an end of line": (b' {"id" : "a"}\r', []),
    "a record after a byte order mark": (b'\xef\xbb\xbf{"id":"a"}', []),
    "a record with names that the contract does not know": (b'{"id":"a","end":5,"more":{"x":1}}', []),
    "a wrong value": (b'{"id":"a","seq":0}', ["range:seq"]),
    "a wrong type and a missing value": (b'{"seq":"first"}', ["required:id", "type:seq"]),
    "bad UTF-8": (b'{"id":"\xff\xfe\xc3\x28"}', ["malformed"]),
    "torn JSON": (b'{"id":"a","se', ["malformed"]),
    "nothing": (b"", ["malformed"]),
    "spaces": (b"   ", ["malformed"]),
    "zero bytes": (bytes(20), ["malformed"]),
    "a list with a record": (b'[{"id":"a"}]', ["malformed"]),
    "two records": (b'{"id":"a"} {"id":"b"}', ["malformed"]),
    "two records with a comma": (b'{"id":"a"},{"id":"b"}', ["malformed"]),
    "one brace too many": (b'{"id":"a"}}', ["malformed"]),
    "single quotes": (b"{'id':'a'}", ["malformed"]),
    "a text": (b'"a"', ["malformed"]),
    "null": (b"null", ["malformed"]),
    "a text where an object belongs": (b'{"id":"a","buyer":"Ada"}', ["malformed"]),
    "a very long line": (b'{"id":"' + b"x" * 300_000, ["malformed"]),
}


def test_payload_is_accepted_or_quarantined(any_spark: SparkSession, tmp_path: Path) -> None:
    arrivals = [Arrival(payload, 7, "f.jsonl", place) for place, (payload, _) in enumerate(_JUDGED.values())]
    orders = contract("orders", _FIELDS)
    held = check_events(raw(any_spark, tmp_path, arrivals), source(), orders)
    table = [item for item in event_columns(orders) if item.name != "_run"]
    assert [(item.name, item.dataType.simpleString()) for item in held.schema] == [
        (item.name, item.dataType.simpleString()) for item in table
    ]
    rows = {row["_position"]: row for row in held.collect()}
    assert len(rows) == len(_JUDGED)
    for place, (what, (_, rules)) in enumerate(_JUDGED.items()):
        row = rows[place]
        assert sorted(item["rule"] for item in row["_violations"] or []) == rules, what
        assert row["_outcome"] == ("quarantined" if rules else "accepted"), what
        assert row["id"] == (None if rules else "a"), what
        assert (row["_source_file"], row["_raw_run"]) == ("f.jsonl", 7), what


_NUMBERS = {
    b'{"id":"a","amount":12345678901234567890.123456789012345678}': "12345678901234567890.123456789012345678",
    b'{"id":"9.9999999999999999","amount":-0.100000000000000001,"tags":["1.0000000000000000001"]}': (
        "-0.100000000000000001"
    ),
    b'{"id":"\\"1.00000000000000000009","amount":1.5e2}': "150.000000000000000000",
    b'{"amount":7,"id":"a"}': "7.000000000000000000",
}


def test_long_numbers_keep_all_digits(spark: SparkSession, tmp_path: Path) -> None:
    arrivals = [Arrival(payload, position=place) for place, payload in enumerate(_NUMBERS)]
    held = check_events(raw(spark, tmp_path, arrivals), source(), contract("orders", _FIELDS))
    rows = held.orderBy("_position").selectExpr("id", "amount", "tags").collect()
    assert [str(row["amount"]) for row in rows] == list(_NUMBERS.values())
    assert [row["id"] for row in rows] == ["a", "9.9999999999999999", '"1.00000000000000000009', "a"]
    assert rows[1]["tags"] == ["1.0000000000000000001"]


_CLOSED = {
    '{"id":"a","buyer":{"name":"Ada"},"lines":[{"sku":"x"}]}': None,
    '{"id":"a","colour":"red"}': "colour",
    '{"id":"a","buyer":{"name":"Ada","age":3},"lines":[{"sku":"x"},{"sku":"y","n":2}]}': "buyer.age, lines[].n",
}


def test_closed_contract_refuses_unknown_fields_at_any_depth(spark: SparkSession, tmp_path: Path) -> None:
    lines = {"items": {"logicalType": "object", "properties": [{"name": "sku", "logicalType": "string"}]}}
    fields: dict[str, dict[str, Any]] = {
        "id": {},
        "buyer": _FIELDS["buyer"],
        "lines": {"logicalType": "array", **lines},
    }
    closed = contract("orders", fields, content="closed")
    arrivals = [Arrival(payload.encode(), position=place) for place, payload in enumerate(_CLOSED)]
    held = check_events(raw(spark, tmp_path, arrivals), source(), closed).orderBy("_position").collect()
    reasons = [
        None if row["_violations"] is None else [(v["rule"], v["value"]) for v in row["_violations"]] for row in held
    ]
    assert reasons == [None if names is None else [("unknown_field", names)] for names in _CLOSED.values()]


_CSV: dict[str, tuple[str, bytes, tuple[str | None, ...] | None]] = {
    "by name": ("id;seq", b"a;3", ("a", "3")),
    "in any order, with columns more": ("x;seq;id", b"?;3;a", ("a", "3")),
    "quotes, separators and lines inside": ("id;seq", b'"a;""b""\nc";"3"\r', ('a;"b"\nc', "3")),
    "nothing is null": ("id;seq", b"a;", ("a", None)),
    "a name in quotes": ('"id";seq', b"a;1", ("a", "1")),
    "too few values": ("id;seq", b"a", None),
    "too many values": ("id;seq", b"a;1;2", None),
    "a quote that does not end": ("id;seq", b'"a;1', None),
    "more after a quote": ("id;seq", b'"a"b;1', None),
    "bad UTF-8": ("id;seq", b"\xff;1", None),
}


def test_csv_records_are_read_by_the_header_of_their_file(spark: SparkSession, tmp_path: Path) -> None:
    arrivals = [
        Arrival(line, position=place, headers={"columns": header})
        for place, (header, line, _) in enumerate(_CSV.values())
    ]
    declared = source(form=Format.CSV, separator=";")
    held = check_events(raw(spark, tmp_path, arrivals), declared, contract("orders", _FIELDS))
    rows = held.orderBy("_position").collect()
    for row, (what, (_, _, values)) in zip(rows, _CSV.items(), strict=True):
        if values is None:
            assert [item["rule"] for item in row["_violations"]] == ["malformed"], what
        else:
            assert (row["id"], None if row["seq"] is None else str(row["seq"])) == values, what


_FIRST = {"id": "a", "seq": 1, "tags": ["x", None], "prices": {"p": 1, "q": 2}, "buyer": {"name": "Ada"}}
_DELIVERED: dict[str, tuple[int, object, str]] = {
    "first of an earlier run": (1, _FIRST, "accepted"),
    "the same bytes in the same run": (1, _FIRST, "duplicate"),
    "the same bytes in a later run": (2, _FIRST, "duplicate"),
    "the same content, written otherwise": (
        2,
        b'{"prices":{"q":2,"p":1},"seq":1,"id":"a","buyer":{"name":"Ada"},"tags":["x",null],"amount":null}',
        "duplicate",
    ),
    "null in another place of a list": (2, {**_FIRST, "tags": [None, "x"]}, "conflicting"),
    "one null less": (2, {**_FIRST, "tags": ["x"]}, "conflicting"),
    "another value in a map": (2, {**_FIRST, "prices": {"p": 2, "q": 1}}, "conflicting"),
    "an empty text is not nothing": (2, {**_FIRST, "buyer": {"name": ""}}, "conflicting"),
    "another event": (2, {"id": "a", "seq": 2}, "accepted"),
    "the same identity, told differently in the same run": (2, {"id": "a", "seq": 2, "amount": 1}, "conflicting"),
    "without a sequence there is no identity": (2, {"id": "n"}, "accepted"),
    "nor is this one a duplicate": (2, {"id": "n"}, "accepted"),
    "what is in quarantine is never accepted later by its twin": (2, {"id": "q", "seq": 0}, "quarantined"),
    "a record that keeps the contract after one that does not": (2, {"id": "q", "seq": 5}, "accepted"),
}


def test_identity_is_accepted_once(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    orders, declared = contract("orders", _FIELDS, **_ORDERED), source()
    identity = identity_columns(declared, orders)
    assert identity == ("id", "seq")
    arrivals = [
        Arrival(payload, run, f"{run}.jsonl", place) for place, (run, payload, _) in enumerate(_DELIVERED.values())
    ]
    first = raw(spark, tmp_path, [item for item in arrivals if item.run == 1])
    second = raw(spark, tmp_path, [item for item in arrivals if item.run == 2][::-1])
    mark_redeliveries(check_events(first, declared, orders), None, identity).write.parquet(str(tmp_path / "events"))
    before = spark.read.parquet(str(tmp_path / "events"))
    known = known_identities(before.where("_outcome = 'accepted'"), second, declared, orders)
    known.explain()
    history = re.search(r"parquet.*ReadSchema: (\S+)", capsys.readouterr().out)
    assert history
    assert history[1] == "struct<id:string,seq:int,_outcome:string,_digest:string>"
    now = mark_redeliveries(check_events(second, declared, orders), known, identity)
    rows = sorted([*before.collect(), *now.collect()], key=lambda row: row["_position"])
    for row, (what, (_, _, outcome)) in zip(rows, _DELIVERED.items(), strict=True):
        assert row["_outcome"] == outcome, what
        assert (row["id"] is not None) == (outcome in ("accepted", "duplicate")), what


@pytest.mark.parametrize(
    ("identity", "fields", "more", "expected"),
    [
        (["id"], _FIELDS, _ORDERED, ("id",)),
        ([], {**_FIELDS, "key": {"primaryKey": True}}, _ORDERED, ("key",)),
        ([], _FIELDS, _ORDERED, ("id", "seq")),
        ([], _FIELDS, {}, ("_digest",)),
    ],
)
def test_identity_comes_from_the_first_definition(
    identity: list[str], fields: dict[str, dict[str, Any]], more: dict[str, object], expected: tuple[str, ...]
) -> None:
    assert identity_columns(source(identity=identity), contract("orders", fields, **more)) == expected


def test_invalid_identity_is_refused() -> None:
    orders = contract("orders", _FIELDS)
    with pytest.raises(
        InvalidDocument, match=r"orders.yaml:1: identity names 'nope', which is not a field .*: id, seq"
    ):
        identity_columns(source(identity=["nope"]), orders)
    with pytest.raises(InvalidDocument, match="'prices', which has a map in it"):
        identity_columns(source(identity=["prices"]), orders)
    for taken in ("_Outcome", "_file"):
        with pytest.raises(InvalidDocument, match=f"field '{taken}', which is a column that the pipeline adds"):
            event_columns(contract("orders", {taken: {}}))


def test_without_an_identity_the_payload_is_the_identity(spark: SparkSession, tmp_path: Path) -> None:
    orders, declared = contract("orders", _FIELDS), source()
    payloads = [{"id": "a"}, {"id": "a"}, {"id": "a", "seq": 1}, b'{"id": "b"', b'{"id": "b"']
    arrivals = [Arrival(payload, position=place) for place, payload in enumerate(payloads)]
    rows = raw(spark, tmp_path, arrivals)
    events = mark_redeliveries(check_events(rows, declared, orders), None, identity_columns(declared, orders))
    outcomes = [row["_outcome"] for row in events.orderBy("_position").collect()]
    assert outcomes == ["accepted", "duplicate", "accepted", "quarantined", "quarantined"]


def test_every_injected_defect_has_the_expected_outcome(spark: SparkSession, tmp_path: Path) -> None:
    history = tmp_path / "history"
    summary = write(Options(orders=1_000, only=("order_placed", "payment_failed")), history)
    contracts = Path("examples/retail/contracts/events")
    ledger = [json.loads(line) for line in (history / "ledger.jsonl").read_text().splitlines()]
    for name, counts in summary["events"].items():
        event, declared = load((contracts / f"{name}.yaml").read_bytes(), name).contract, source(identity=["event_id"])
        files = sorted((history / name).iterdir())
        arrivals = [
            Arrival(line, 1, f"{name}/{file.name}", place)
            for file in files
            for place, line in enumerate(file.read_bytes().split(b"\n")[:-1], 1)
        ]
        held = check_events(raw(spark, tmp_path / "raw", arrivals), declared, event)
        events = mark_redeliveries(held, None, identity_columns(declared, event)).select(
            "_source_file", "_position", "_outcome", "_violations.rule"
        )
        rows = {(row["_source_file"], row["_position"]): row for row in events.collect()}
        outcomes = [row["_outcome"] for row in rows.values()]
        assert len(rows) == counts["lines"]
        assert outcomes.count("quarantined") == counts["quarantined"] > 0
        assert outcomes.count("duplicate") == counts["deduplicated"] > 0
        assert outcomes.count("accepted") == counts["distinct"]
        for entry in ledger:
            if entry["event"] == name and entry["outcome"] == "quarantined":
                assert rows[entry["file"], entry["line"]]["rule"] == [entry["rule"]], entry


def test_bytes_of_typed_records_are_preserved(spark: SparkSession, tmp_path: Path) -> None:
    pictures = contract("pictures", {"id": {}, "picture": {"logicalType": None, "physicalType": "binary"}})
    arrivals = [Arrival({"id": "a", "picture": "/wD+"}, headers={"encoding": "json"})]
    rows = raw(spark, tmp_path, arrivals)
    for form, expected in ((Format.PARQUET, b"\xff\x00\xfe"), (Format.JSONL, b"/wD+")):
        held = check_events(rows, source(form=form), pictures)
        assert [bytes(row["picture"]) for row in held.collect()] == [expected]
