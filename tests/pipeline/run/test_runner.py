"""Runs of a small project: every event is published or accounted for, and nothing is published unaudited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.pipeline.run.kiosk import books, contracts, open_kiosk, ordered, paid
from treaty.pipeline.run import Outcome, RunOptions, RunSummary
from treaty.pipeline.run.step_context import Phase

FIRST: list[dict[str, Any] | str] = [
    ordered(1, "A", 1, 10),
    ordered(2, "B", 1, 20),
    ordered(2, "B", 1, 20),
    "{torn",
    ordered(3, "C", 1, -1),
]


def _outcomes(summary: RunSummary) -> dict[str, Outcome]:
    return {step.table: step.outcome for step in summary.steps}


def test_runs_process_new_rows_and_change_affected_keys(connect_spark: SparkSession, tmp_path: Path) -> None:
    kiosk = open_kiosk(connect_spark, tmp_path, "flow")  # the retail project runs on a classic session
    kiosk.deliver("ordered", FIRST)
    kiosk.deliver("paid", [paid(1, "A", 10), paid(2, "B", 25), paid(3, "X", 5)])

    first = kiosk.run()

    assert first.succeeded, [step.reasons for step in first.steps]
    events = next(step for step in first.steps if step.table == "events.ordered").counts
    assert (events.rows_in, events.accepted, events.duplicate, events.quarantined) == (5, 2, 1, 2)
    assert kiosk.rows("publications.books_v1") == [("A", "10.00", "True")]
    doubts = kiosk.rows("reconciliation.sales_exceptions", "order_id", "assertion", "reason_class", "owner", "state")
    assert ("B", "amount", "conflict", "Till", "open") in doubts
    assert ("X", "order_is_known", "missing", "Bookkeeping", "open") in doubts
    settled = next(step for step in first.steps if step.exceptions_open is not None)
    assert (settled.layer, settled.exceptions_open) == ("reconciliation", [one[4] for one in doubts].count("open"))
    assert all(step.contract and step.published_at for step in first.steps if step.layer != "raw")

    assert set(_outcomes(kiosk.run()).values()) == {Outcome.NOTHING_NEW}

    kiosk.deliver("ordered", [ordered(4, "B", 3, 25), ordered(5, "B", 2, 21), ordered(6, "A", 2, 10, withdrawn=True)])
    kiosk.deliver("ordered", [ordered(7, "D", 1, 40)])
    third = kiosk.run()

    # the highest number wins although it arrived first; a withdrawn order is deleted
    assert kiosk.rows("publications.books_v1") == [("B", "25.00", "True"), ("D", "40.00", "False")]
    assert next(step for step in third.steps if step.table == "products.orders").mode == "incremental"
    assert _outcomes(third)["products.payments"] is Outcome.NOTHING_NEW
    assert kiosk.rows("reconciliation.sales_exceptions", "order_id", "state") == [
        ("A", "open"),
        ("B", "resolved"),
        ("X", "open"),
    ]
    before = kiosk.everything()

    replayed = kiosk.run(RunOptions(rebuild=True, from_raw=True, max_parallel_steps=2))

    assert replayed.succeeded
    assert kiosk.everything() == before
    first_two = [(one.step, one.phase) for one in kiosk.progress[:2]]  # both sources at the same time
    assert sorted(first_two) == [("ordered", Phase.STARTED), ("paid", Phase.STARTED)]


def test_rows_that_violate_a_contract_stay_on_a_failed_branch(spark: SparkSession, tmp_path: Path) -> None:
    kiosk = open_kiosk(spark, tmp_path, "breach")
    kiosk.deliver("ordered", [ordered(1, "A", 1, 10)])
    kiosk.deliver("paid", [])
    kiosk.run()
    kiosk.deliver("ordered", [ordered(2, "B", 1, 700)])

    second = kiosk.run()

    last = second.steps[-1]
    assert (last.outcome, last.branch) == (Outcome.REFUSED, f"failed_{second.run}")
    assert "range:amount: 1 row breaks it" in last.reasons[0]
    assert kiosk.rows("publications.books_v1", "order_id") == [("A",)]
    assert _outcomes(second)["reconciliation.sales"] is Outcome.DONE

    kiosk.contracts = contracts(books=books(most=900, version="1.1.0"))
    mended = kiosk.run()

    assert mended.succeeded
    assert mended.steps[-1].why == "changed contract"
    assert kiosk.rows("publications.books_v1", "order_id") == [("A",), ("B",)]
    stamps = kiosk.tables.stamps("publications.books_v1")
    assert [stamp.contract for stamp in stamps] == ["kiosk.books 1.1.0", "kiosk.books 1.0.0"]
    assert kiosk.tables.read("publications.books_v1", stamps[1]).count() == 1


def test_nothing_is_published_under_a_contract_that_is_not_active(spark: SparkSession, tmp_path: Path) -> None:
    kiosk = open_kiosk(spark, tmp_path, "gate")
    kiosk.contracts = contracts(books=books(status="draft"))
    kiosk.deliver("ordered", [ordered(1, "A", 1, 10)])

    summary = kiosk.run()

    assert summary.steps[-1].outcome is Outcome.REFUSED
    assert "kiosk.books 1.0.0 is draft" in summary.steps[-1].reasons[0]
    assert not kiosk.tables.exists("publications.books_v1")


def test_failed_step_does_not_affect_others_and_the_next_run_completes(spark: SparkSession, tmp_path: Path) -> None:
    kiosk = open_kiosk(spark, tmp_path, "failing")
    kiosk.deliver("ordered", [ordered(1, "A", 1, 10)])
    kiosk.deliver("paid", [paid(1, "A", 10)])
    query = tmp_path / "payments.sql"
    sound = query.read_text()
    query.write_text(sound.replace("sum(amount)", "sum(amount) / 0"))

    broken = kiosk.run()

    assert _outcomes(broken)["products.payments"] is Outcome.FAILED
    assert _outcomes(broken)["products.orders"] is Outcome.DONE
    assert _outcomes(broken)["publications.books_v1"] is Outcome.SKIPPED

    query.write_text(sound)
    assert kiosk.run().succeeded
    assert kiosk.rows("publications.books_v1") == [("A", "10.00", "True")]
