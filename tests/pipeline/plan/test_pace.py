"""The pace of steps: the fast path follows from what contracts promise, up to the sources."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.documents import contract
from treaty.contracts import Contract
from treaty.contracts.versions import Line
from treaty.pipeline.plan.pace import describe_pace, publication_pace, reached_from, step_paces
from treaty.pipeline.plan.steps import Mode, Step, StepDigest
from treaty.pipeline.project.declarations import Layer, Product


def _promising(within: str | None) -> Contract:
    latency: dict[str, Any] = {} if within is None else {"latency": {"profile": "real_time", "within": within}}
    return contract({"fields": [{"name": "id", "primaryKey": True}], **latency})


def _step(layer: Layer, name: str, reads: tuple[str, ...] = (), within: str | None = None) -> Step:
    declared = Product(name, Line("orders", 1), ())
    return Step(
        name,
        layer,
        f"{layer}.{name}",
        declared,
        _promising(within),
        reads,
        Mode.FULL,
        "",
        None,
        StepDigest("", "", ""),
    )


STEPS = (
    _step(Layer.RAW, "placed"),
    _step(Layer.RAW, "returned"),
    _step(Layer.EVENTS, "placed", ("raw.placed",)),
    _step(Layer.EVENTS, "returned", ("raw.returned",)),
    _step(Layer.PRODUCTS, "orders", ("events.placed",)),
    _step(Layer.PRODUCTS, "returns", ("events.returned",)),
    _step(Layer.PUBLICATIONS, "books", ("products.orders", "products.returns"), "24 h"),
    _step(Layer.PUBLICATIONS, "ready", ("products.orders",), "5 s"),
)


@pytest.mark.parametrize(
    ("within", "text"),
    [
        ("5 s", "when records arrive: ready promises 5 s"),
        ("2 min", "when records arrive: ready promises 2 min"),
        ("15 min", "every 7.5 min: ready promises 15 min"),
        ("24 h", "every 12 h: ready promises 24 h"),
        (None, "every 10 s: ready promises no latency"),
    ],
)
def test_a_contract_that_promises_seconds_is_on_the_fast_path(within: str | None, text: str) -> None:
    assert describe_pace(publication_pace("ready", _promising(within), 10)) == text


def test_steps_have_the_pace_of_the_fastest_publication_that_is_computed_from_them() -> None:
    paces = step_paces(STEPS, 10)
    assert {table: pace.every for table, pace in paces.items()} == {
        "raw.placed": 0,
        "events.placed": 0,
        "products.orders": 0,
        "publications.ready": 0,
        "raw.returned": 43_200,
        "events.returned": 43_200,
        "products.returns": 43_200,
        "publications.books": 43_200,
    }
    assert paces["raw.placed"].reason == "ready promises 5 s"


def test_records_reach_the_steps_downstream_of_their_source() -> None:
    assert reached_from(STEPS, frozenset({"returned"})) == {
        "raw.returned",
        "events.returned",
        "products.returns",
        "publications.books",
    }


def test_a_source_that_no_publication_reads_follows_the_pause() -> None:
    alone = (*STEPS, replace(STEPS[0], name="audited", table="raw.audited"))
    assert step_paces(alone, 30)["raw.audited"].every == 30
