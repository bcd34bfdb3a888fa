"""Quarantined rows of a pipeline: the row as it came, its line, and judging it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.run.kiosk import Kiosk, contracts, open_kiosk
from treaty.contracts import Contract, contract_from, document_of
from treaty.contracts.versions import Line
from treaty.errors import NotFound
from treaty.pipeline.quarantine import EventQuarantine
from treaty.pipeline.quarantine.event_quarantine import parse_cells
from treaty.pipeline.quarantine.quarantined_rows import count_reasons
from treaty.pipeline.run import RunOptions

LINES = """event;order_id;number;amount
o1;A;1;10
o2;B;1;-5
o3;C;1
o4;B;2;7
"""
UPSTREAM = RunOptions(("+orders",), max_parallel_steps=1)


def _with_any_amount() -> Contract:
    document: dict[str, Any] = document_of(contracts()[Line("kiosk.ordered", 1)])
    amount = next(field for field in document["schema"][0]["properties"] if field["name"] == "amount")
    del amount["logicalTypeOptions"]
    return contract_from(document)


def _deliver_csv(kiosk: Kiosk) -> None:
    source = "contract: kiosk.ordered@1\nfiles: landing/ordered/*.csv\nidentity: [event]\noptions: {separator: ';'}\n"
    (kiosk.folder / "sources" / "ordered.yaml").write_text(source)
    landing = kiosk.folder / "landing" / "ordered"
    landing.mkdir(parents=True)
    (landing / "day.csv").write_text(LINES)


def test_quarantined_rows_are_shown_as_they_came_and_pass_after_a_correction(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kiosk = open_kiosk(spark, tmp_path, "set_apart")
    _deliver_csv(kiosk)
    first = kiosk.run(UPSTREAM)
    quarantine = EventQuarantine.find(kiosk.tables.catalog, "ordered")

    negative, torn = quarantine.rows(10)

    assert negative.cells == {"event": "o2", "order_id": "B", "number": "1", "amount": "-5"}
    assert (negative.place, negative.run) == ("line 3 of landing/ordered/day.csv", first.run)
    assert [problem.message for problem in negative.problems_of("amount")] == ["must be ≥ 0"]
    assert (torn.cells, torn.original, torn.number) == ({}, "o3;C;1", 4)
    total, reasons = count_reasons(quarantine.violations())
    assert (total, [(reason.rule, reason.rows) for reason in reasons]) == (2, [("malformed", 1), ("range:amount", 1)])
    assert [row.original for row in quarantine.rows(10, rule="malformed")] == ["o3;C;1"]

    kiosk.contracts = contracts(ordered=_with_any_amount())
    before = quarantine.pointers()
    retried = kiosk.run(RunOptions(("events.ordered", "orders"), rejudge=True, from_raw=True))

    assert retried.succeeded
    assert len(before - quarantine.pointers()) == 1
    assert kiosk.rows("events.ordered", "event", "_outcome", "_run")[:2] == [
        ("None", "quarantined", str(retried.run)),
        ("o1", "accepted", str(retried.run)),
    ]
    assert kiosk.rows("products.orders", "order_id", "amount") == [("A", "10.00"), ("B", "7.00")]
    state = {table: kiosk.current_rows(table) for table in ("events.ordered", "products.orders")}
    kiosk.run(RunOptions(("ordered", "orders"), rebuild=True, from_raw=True))
    assert {table: kiosk.current_rows(table) for table in state} == state


def test_an_unknown_source_is_named_with_the_closest(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there are no events of a source 'orderd'"):
        EventQuarantine.find(open_kiosk(spark, tmp_path, "set_apart").tables.catalog, "orderd")


CELLS = [
    ("1,'x'", "a,b", {"a": "1", "b": "'x'"}),
    ('1|"x|y"', "a|b", {"a": "1", "b": "x|y"}),
    ("1,2,3", "a,b", {}),
    ('{"a": 1, "b": {"c": null}}', None, {"a": "1", "b": '{"c": null}'}),
    ("{torn", None, {}),
    ("[1]", None, {}),
]


@pytest.mark.parametrize(("text", "header", "cells"), CELLS)
def test_the_cells_of_a_raw_row(text: str, header: str | None, cells: dict[str, str]) -> None:
    assert parse_cells(text, header) == cells
