"""The tables of a project for the pages of a server, on tables that a run wrote."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.run.kiosk import FILES, NOW, open_kiosk
from treaty.catalog.project_data import Cell, Dataset, ExceptionQuery
from treaty.cli.project_data import ProjectTables, open_project_data
from treaty.errors import NotFound
from treaty.pipeline.project import read_project


def test_exceptions_and_quarantined_rows_of_a_run_are_shown_and_accepted(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kiosk = open_kiosk(spark, tmp_path, "shown_data")
    kiosk.deliver("ordered", [{"event": "o1", "order_id": "A", "number": 1, "amount": -5}])
    kiosk.deliver("paid", [{"event": "p1", "order_id": "B", "amount": 7}])
    run = kiosk.run()
    data = ProjectTables(read_project(tmp_path), lambda: kiosk.tables.catalog, lambda: nullcontext(kiosk.tables))
    now = NOW + timedelta(days=30)

    assert data.reconciliations() == (Dataset("sales", "kiosk.sales"),)
    assert data.sources() == (Dataset("ordered", "kiosk.ordered"), Dataset("paid", "kiosk.paid"))

    quarantine = data.quarantine("ordered")
    assert (quarantine.total, [(one.rule, one.rows) for one in quarantine.reasons]) == (1, [("range:amount", 1)])
    (row,) = quarantine.rows
    assert Cell("amount", "-5", ("must be ≥ 0",)) in row.cells
    assert Cell("order_id", "A") in row.cells
    assert (row.place, row.run) == ("line 1 of landing/ordered/0001.jsonl", run.run)
    assert data.quarantine("ordered", rule="malformed").rows == ()

    page = data.exceptions(ExceptionQuery("sales", state="open"), now)
    assert [(one.key, one.assertion, one.owner, one.state) for one in page.rows] == [
        ("B", "order_is_known", "Bookkeeping", "open")
    ]
    found = data.find_exception("sales", "B", "order_is_known", now)
    assert found == page.rows[0]
    with pytest.raises(NotFound, match="has no exception 'other'"):
        data.find_exception("sales", "B", "other", now)

    data.accept_exception(found, reason="paid in advance", actor="ana", now=now)
    rows = kiosk.tables.read("reconciliation.sales_acceptances").collect()
    assert [(one["order_id"], one["assertion"], one["reason"], one["actor"]) for one in rows] == [
        ("B", "order_is_known", "paid in advance", "ana")
    ]


def test_a_project_that_never_ran_has_no_data_and_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no folder"):
        open_project_data(tmp_path / "missing")
    (tmp_path / "treaty.yaml").write_text("name: shop\n")
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "ordered.yaml").write_text(FILES["sources/ordered.yaml"])

    data = open_project_data(tmp_path)

    assert (data.reconciliations(), data.sources()) == ((), ())
