"""Reasons for a step to run and how it would be computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.pipeline.plan.shop import ORDERS_SQL, SHOP, _field, contracts, sql, with_product
from treaty.pipeline.plan import Cause, Mode, PlannedStep, plan
from treaty.pipeline.project.declarations import Project
from treaty.pipeline.tables import Stamp

FIRST, SECOND = 1_000, 2_000
QUIET: Mapping[str, str | None] = dict.fromkeys(("placed", "paid", "customer_changed"))


def stamps(run: int = FIRST, **changed: Any) -> dict[str, Stamp | None]:
    """Return the state of the shop after a run; `changed` are tables with a later run, or with other stamps."""
    found: dict[str, Stamp | None] = {}
    for step in plan(SHOP, contracts()).steps:
        reflects = dict.fromkeys(step.reads, run)
        contract = f"{step.contract.id} {step.contract.version}"
        found[step.table] = Stamp(run, reflects, contract, step.digest, {}, 1, datetime(2026, 1, 1, tzinfo=UTC))
    found["reconciliation.balance_acceptances"] = None
    return {**found, **changed}


def later(states: dict[str, Stamp | None], table: str, **more: Any) -> dict[str, Stamp | None]:
    """Return the states with a table that a later run wrote."""
    stamp = states[table] or states["reconciliation.balance"]
    assert stamp is not None
    return {**states, table: replace(stamp, run=SECOND, **more)}


def found(
    states: dict[str, Stamp | None],
    project: Project = SHOP,
    arriving: Mapping[str, str | None] | None = QUIET,
    **changed: Any,
) -> dict[str, PlannedStep]:
    return {one.step.table: one for one in plan(project, contracts(**changed), states, arriving).planned}


def causes(planned: dict[str, PlannedStep]) -> dict[str, list[Cause]]:
    return {table: [why.cause for why in one.reasons] for table, one in planned.items() if one.would_run}


def test_after_a_run_only_delayed_publications_have_a_reason_to_run() -> None:
    assert causes(found(stamps())) == {"publications.late_sales_v1": [Cause.TIME]}


def test_missing_table_is_built_in_full() -> None:
    planned = found({})

    assert all(one.reasons[0].cause is Cause.NEVER_BUILT for one in planned.values())
    assert {one.mode for table, one in planned.items() if not table.startswith("raw.")} == {Mode.FULL}
    assert {one.mode for table, one in planned.items() if table.startswith("raw.")} == {Mode.APPEND}


def test_new_files_run_all_downstream_steps_by_key() -> None:
    planned = found(stamps(), arriving={**QUIET, "paid": "2 new files"})

    assert planned["raw.paid"].reasons[0].text == "2 new files"
    assert causes(planned) == {
        "raw.paid": [Cause.NEW_DATA],
        "events.paid": [Cause.UPSTREAM],
        "products.payments": [Cause.UPSTREAM],
        "reconciliation.balance": [Cause.UPSTREAM],
        "publications.partner_v1": [Cause.UPSTREAM],
        "publications.sales_v1": [Cause.UPSTREAM, Cause.UPSTREAM],
        "publications.late_sales_v1": [Cause.TIME],
        "publications.sales_now_v1": [Cause.UPSTREAM],
    }
    assert planned["events.paid"].mode is Mode.APPEND
    assert planned["reconciliation.balance"].mode is Mode.KEYED


def test_rows_of_an_interrupted_run_are_processed() -> None:
    planned = found(later(stamps(), "products.payments"))

    assert planned["reconciliation.balance"].reasons[0].text == "products.payments has new rows"
    assert causes(planned)["reconciliation.balance"] == [Cause.NEW_DATA]
    assert "events.paid" not in causes(planned)


def test_acceptance_is_a_reason_to_reconcile() -> None:
    planned = found(later(stamps(), "reconciliation.balance_acceptances"))

    assert causes(planned)["reconciliation.balance"] == [Cause.NEW_DATA]
    assert planned["reconciliation.balance"].mode is Mode.KEYED


def test_changed_enrichment_affects_all_keys() -> None:
    planned = found(later(stamps(), "products.customers"))

    assert planned["products.orders"].mode is Mode.FULL
    assert planned["publications.sales_v1"].mode is Mode.KEYED


def test_rebuilt_input_is_read_in_full() -> None:
    planned = found(later(stamps(), "products.payments", extra={"rebuilt": str(SECOND)}))

    assert planned["reconciliation.balance"].mode is Mode.FULL


CHANGES: list[tuple[Project, dict[str, Any], str, Cause, str]] = [
    (
        with_product("orders", sql=sql("orders", f"{ORDERS_SQL} -- x")),
        {},
        "products.orders",
        Cause.SQL,
        "its SQL changed",
    ),
    (
        with_product("payments", deleted_when="NOT is_gone"),
        {},
        "products.payments",
        Cause.DECLARATION,
        "its declaration changed",
    ),
    (
        SHOP,
        {"sales": {"version": "1.1.0"}},
        "publications.sales_v1",
        Cause.CONTRACT,
        "contract sales 1.0.0 became sales 1.1.0",
    ),
    (
        SHOP,
        {"sales": [_field("order_id", required=True, primaryKey=True)]},
        "publications.sales_v1",
        Cause.CONTRACT,
        "contract sales 1.0.0 changed",
    ),
]


@pytest.mark.parametrize(("project", "changed", "table", "cause", "words"), CHANGES)
def test_changed_definition_is_named_and_rebuilds_the_table(
    project: Project, changed: dict[str, Any], table: str, cause: Cause, words: str
) -> None:
    planned = found(stamps(), project, **changed)
    rebuilding = {
        name: one
        for name, one in planned.items()
        if one.reasons and one.reasons[0].cause not in (Cause.TIME, Cause.UPSTREAM)
    }

    assert list(rebuilding) == [table]
    assert [(why.cause, why.text) for why in rebuilding[table].reasons] == [(cause, words)]
    assert rebuilding[table].mode is Mode.FULL


def test_table_of_another_version_is_rebuilt() -> None:
    states = stamps()
    stamp = states["products.payments"]
    assert stamp is not None
    before = replace(stamp, digest=stamp.digest.replace("edition:", "edition:0."))

    planned = found({**states, "products.payments": before})

    assert causes(planned)["products.payments"] == [Cause.EDITION]


def test_table_with_an_unreadable_digest_is_rebuilt() -> None:
    states = stamps()
    stamp = states["products.payments"]
    assert stamp is not None

    planned = found({**states, "products.payments": replace(stamp, digest="abc")})

    assert planned["products.payments"].mode is Mode.FULL


def test_view_is_replaced_for_new_rows_because_it_reads_pinned_snapshots() -> None:
    planned = found(later(stamps(), "reconciliation.balance"))

    assert causes(planned)["publications.sales_now_v1"] == [Cause.NEW_DATA]


@pytest.mark.parametrize(
    ("visible_at", "would_run"),
    [("1767312000000000", True), ("1767312000000001", False), ("", False), (None, True)],
)
def test_delayed_publication_runs_once_a_row_becomes_visible(visible_at: str | None, would_run: bool) -> None:
    states = stamps()
    stamp = states["publications.late_sales_v1"]
    assert stamp is not None
    extra = {} if visible_at is None else {"visible_at": visible_at}
    states["publications.late_sales_v1"] = replace(stamp, extra=extra)

    planned = plan(SHOP, contracts(), states, QUIET, datetime(2026, 1, 2, tzinfo=UTC)).planned

    assert [one.step.name for one in planned if one.would_run] == ["late_sales"] * would_run


def test_reasons_are_unknown_without_table_states() -> None:
    assert not any(one.is_known for one in plan(SHOP, contracts()).planned)
    assert causes(found(stamps(), arriving=None))["raw.paid"] == [Cause.NOT_CHECKED]
