"""How far a change reaches: consumers by field, and those downstream of every affected line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tests.strategies  # noqa: F401 - the same examples in every run
from tests.consumers.graph_strategies import (
    FIELDS,
    LINES,
    Edit,
    distances,
    edited,
    graph,
    made,
    mapped,
    reads,
    rests_on,
    turned,
    worlds,
)
from tests.documents import contract
from treaty.compatibility import Judged, Verdict, diff, judge
from treaty.consumers.dependencies import Consumer, Node
from treaty.consumers.graph import DependencyGraph
from treaty.consumers.impact import Effect, Exposure, breaking_changes, compute_exposure, compute_impact
from treaty.contracts.paths import parse_path
from treaty.contracts.versions import Line
from treaty.errors import NotFound

ORDERS, SCORES, STOCK = Line("orders", 1), Line("scores", 1), Line("stock", 1)
ORDER_ID = {"name": "order_id", "logicalType": "string", "required": True}
LTV = {"name": "ltv", "logicalType": "number"}
CITY, ZIP = {"name": "city", "logicalType": "string"}, {"name": "zip", "logicalType": "string"}
ADDRESS = {"name": "address", "logicalType": "object", "properties": [CITY, ZIP]}
BEFORE: dict[str, Any] = {
    "fields": [ORDER_ID, LTV, ADDRESS],
    "slaProperties": [{"property": "freshness", "value": 1, "unit": "h"}],
}
AFTER: dict[str, dict[str, Any]] = {
    "ltv gone": {"fields": [ORDER_ID, ADDRESS]},
    "city gone": {"fields": [ORDER_ID, LTV, {**ADDRESS, "properties": [ZIP]}]},
    "address gone": {"fields": [ORDER_ID, LTV]},
    "ltv and city gone": {"fields": [ORDER_ID, {**ADDRESS, "properties": [ZIP]}]},
    "slower": {"slaProperties": [{"property": "freshness", "value": 9, "unit": "h"}]},
    "more": {"fields": [ORDER_ID, LTV, ADDRESS, {"name": "note", "logicalType": "string"}]},
}
VERDICTS = {
    name: judge(diff(contract(BEFORE), contract({**BEFORE, "version": "2.0.0", **after})))
    for name, after in AFTER.items()
}


def _of(world: DependencyGraph, change: str = "ltv gone") -> Exposure:
    return compute_exposure(VERDICTS[change], world, ORDERS)


def _lines(found: Exposure) -> dict[str, str]:
    return {str(one.made_from.line): one.effect.value for one in found.lines}


def test_line_derived_from_a_broken_field_exposes_its_consumers() -> None:
    found = _of(graph(made(SCORES, ORDERS, "ltv"), made(STOCK, SCORES, "score"), reads("ml", STOCK, "level")))

    assert _lines(found) == {"scores@1": "hit"}
    assert [(str(node), found.reach.distance_to(node)) for node in found.exposed] == [("stock@1", 2), ("ml", 3)]
    assert found.path_to(Consumer("ml")) == (ORDERS, SCORES, STOCK, Consumer("ml"))


def test_consumers_of_a_safe_line_are_not_exposed() -> None:
    found = _of(graph(made(SCORES, ORDERS, "order_id"), reads("ml", SCORES)))

    assert (_lines(found), found.exposed, found.safe) == ({"scores@1": "safe"}, (), (SCORES,))


def test_line_without_source_fields_is_unknown_and_exposes_its_consumers() -> None:
    found = _of(graph(made(SCORES, ORDERS), reads("ml", SCORES)))

    assert _lines(found) == {"scores@1": "unknown"}
    assert found.exposed == (Consumer("ml"),)


def test_node_is_exposed_if_any_path_reaches_it() -> None:
    found = _of(graph(made(SCORES, ORDERS, "order_id"), made(SCORES, STOCK), made(STOCK, ORDERS, "ltv")))

    assert _lines(found) == {"stock@1": "hit", "scores@1": "safe"}
    assert found.path_to(SCORES) == (ORDERS, STOCK, SCORES)
    assert found.safe == ()


def test_line_with_two_sources_is_affected_by_either() -> None:
    found = _of(graph(made(SCORES, ORDERS, "order_id"), made(SCORES, ORDERS, "ltv"), reads("ml", SCORES)))

    assert [(one.effect.value, [str(field) for field in one.made_from.fields]) for one in found.lines] == [
        ("hit", ["ltv"]),
        ("safe", ["order_id"]),
    ]
    assert found.exposed == (Consumer("ml"),)


def test_direct_consumers_are_judged_by_field() -> None:
    found = _of(graph(reads("dashboard", ORDERS, "ltv"), reads("ml", ORDERS), reads("zoo", ORDERS, "order_id")))

    effects = {one.subscription.consumer: one.effect.value for one in found.consumers}
    assert effects == {"dashboard": "hit", "ml": "unknown", "zoo": "safe"}
    assert found.reach.nodes == (Consumer("dashboard"), Consumer("ml"))
    assert found.safe == (Consumer("zoo"),)


def _fields(changes: Iterable[Judged]) -> list[str]:
    return [change.change.field or "" for change in changes]


def _hits(found: Exposure) -> list[tuple[str, list[str], list[str]]]:
    return [
        (
            " → ".join(map(str, hit.path)),
            list(map(str, hit.fields)),
            [change.change.field or "" for change in hit.changes],
        )
        for hit in found.hits
    ]


def test_consumer_of_a_field_computed_from_a_broken_one_is_hit_two_hops_away() -> None:
    found = _of(
        graph(
            mapped(SCORES, ORDERS, score="ltv", id="order_id"),
            reads("regulator", SCORES, "score"),
            reads("dashboard", SCORES, "id"),
            reads("ml", SCORES),
        )
    )

    assert _hits(found) == [("orders@1 → scores@1 → regulator", ["score"], ["ltv"])]
    assert found.reach.nodes == (SCORES, Consumer("ml"), Consumer("regulator"))


def test_change_is_followed_over_three_lines_by_field() -> None:
    found = _of(
        graph(
            mapped(SCORES, ORDERS, score="ltv", town="address.city"),
            mapped(STOCK, SCORES, level="score", place="town"),
            reads("regulator", STOCK, "level"),
            reads("dashboard", STOCK, "place"),
        )
    )

    assert _hits(found) == [
        ("orders@1 → scores@1 → stock@1", ["score"], ["ltv"]),
        ("orders@1 → scores@1 → stock@1 → regulator", ["level"], ["ltv"]),
    ]
    assert Consumer("dashboard") not in found.reach


def test_field_computed_from_two_broken_fields_names_both_changes() -> None:
    found = _of(
        graph(mapped(SCORES, ORDERS, score="ltv address.city"), reads("regulator", SCORES, "score")),
        "ltv and city gone",
    )

    assert _hits(found) == [("orders@1 → scores@1 → regulator", ["score"], ["address.city", "ltv"])]


def test_field_of_a_filter_exposes_every_consumer_but_hits_none_by_field() -> None:
    found = _of(
        graph(mapped(SCORES, ORDERS, "ltv", id="order_id"), reads("dashboard", SCORES, "id"), reads("ml", SCORES))
    )

    assert (found.hits, found.exposed) == ((), (Consumer("dashboard"), Consumer("ml")))


def test_field_of_a_mapping_and_a_join_hits_one_consumer_and_exposes_the_others() -> None:
    found = _of(
        graph(
            mapped(SCORES, ORDERS, "ltv", score="ltv", id="order_id"),
            reads("regulator", SCORES, "score"),
            reads("dashboard", SCORES, "id"),
        )
    )

    assert _hits(found) == [("orders@1 → scores@1 → regulator", ["score"], ["ltv"])]
    assert found.exposed == (Consumer("dashboard"), Consumer("regulator"))


def test_change_without_a_field_exposes_consumers_behind_mapped_lines() -> None:
    found = _of(graph(mapped(SCORES, ORDERS, score="ltv"), reads("regulator", SCORES, "score")), "slower")

    assert (found.hits, found.exposed) == ((), (Consumer("regulator"),))


def test_cycle_of_mapped_lines_ends() -> None:
    found = _of(
        graph(
            mapped(SCORES, ORDERS, score="ltv"),
            mapped(STOCK, SCORES, level="score"),
            mapped(SCORES, STOCK, score="level"),
            mapped(ORDERS, STOCK, ltv="level"),
        )
    )

    assert _hits(found) == [("orders@1 → scores@1 → stock@1", ["score"], ["ltv"])]


@pytest.mark.parametrize(("field", "exposed"), [("ltv", ["scores@1", "ml"]), ("order_id", [])])
def test_a_consumer_that_is_a_contract_passes_on_what_hits_it(field: str, exposed: list[str]) -> None:
    found = _of(graph(reads("scores", ORDERS, field), reads("ml", SCORES)))

    assert [str(node) for node in found.exposed] == exposed


@pytest.mark.parametrize(
    ("change", "field", "effect"),
    [
        ("city gone", "address", "hit"),
        ("city gone", "address.city", "hit"),
        ("city gone", "address.zip", "safe"),
        ("address gone", "address.zip", "hit"),
        ("slower", "order_id", "hit"),
        ("more", "ltv", "safe"),
    ],
)
def test_a_line_is_hit_by_what_a_consumer_would_be_hit_by(change: str, field: str, effect: str) -> None:
    found = _of(graph(made(SCORES, ORDERS, field), reads("ml", ORDERS, field)), change)

    assert [one.effect for one in found.lines] == [effect]
    assert [one.effect for one in found.consumers] == [effect]


def test_additive_change_exposes_no_consumer() -> None:
    found = _of(graph(made(SCORES, ORDERS), reads("ml", SCORES), reads("zoo", ORDERS)), "more")

    assert (found.reach.nodes, found.safe) == ((), (Consumer("zoo"), SCORES))


def test_line_derived_from_itself_does_not_affect_itself() -> None:
    found = _of(graph(made(ORDERS, ORDERS, "ltv"), made(SCORES, ORDERS, "ltv"), made(ORDERS, SCORES)))

    assert _lines(found) == {"scores@1": "hit"}
    assert found.reach.nodes == (SCORES,)


def test_a_line_the_graph_does_not_know_is_not_found() -> None:
    with pytest.raises(NotFound, match="orders@1"):
        _of(graph(reads("ml", STOCK)))


_changes = st.sampled_from(sorted(AFTER))


def _struck(verdict: Verdict, fields: tuple[str, ...]) -> bool:
    """Say plainly whether who reads these fields is struck, on the printed paths."""
    broken = [item.change.field for item in breaking_changes(verdict)]
    if not fields:
        return bool(broken)
    return any(
        one is None or f"{one}.".startswith(f"{read}.") or f"{read}.".startswith(f"{one}.")
        for one in broken
        for read in fields
    )


@given(worlds(), _changes, st.sampled_from(LINES))
def test_consumers_of_broken_or_unknown_fields_are_never_safe(edits: list[Edit], change: str, line: Line) -> None:
    world, verdict = edited(edits), VERDICTS[change]
    if line not in world:
        return

    found = compute_exposure(verdict, world, line)

    for one in found.consumers:
        struck = _struck(verdict, tuple(map(str, one.subscription.fields)))
        assert (one.effect is Effect.SAFE) is not struck
        assert not (struck and Consumer(one.subscription.consumer) in found.safe)
    for other in found.lines:
        struck = _struck(verdict, tuple(map(str, other.made_from.fields)))
        assert (other.effect is Effect.SAFE) is not struck
        assert not (struck and other.made_from.line in found.safe)


@given(worlds(), _changes, st.sampled_from(LINES))
def test_exposed_nodes_match_a_simple_search(edits: list[Edit], change: str, line: Line) -> None:
    world, verdict, arrows = edited(edits), VERDICTS[change], turned(rests_on(edits))
    if line not in world:
        return
    direct = [(Consumer(one.consumer), one.fields) for one in world.readers_of(line)]
    direct += [(one.line, one.fields) for one in world.made_from(line)]  # type: ignore[misc]
    arrows[line] = {node for node, fields in direct if _struck(verdict, tuple(map(str, fields)))}

    found = compute_exposure(verdict, world, line)

    expected: dict[Node, int] = distances(arrows, line)
    assert {one.node: one.distance for one in found.reach} == expected
    assert set(found.exposed) == {node for node, distance in expected.items() if distance > 1}


_paths = st.sampled_from([*FIELDS, "orders:ltv", "stock:ltv", "orders:address", "stock:address.zip", "address.zip[]"])


@given(st.sets(_paths, min_size=1, max_size=4), st.lists(st.none() | _paths, max_size=5))
def test_impact_names_every_change_whose_field_touches_one_that_is_read(
    read: set[str], broken: list[str | None]
) -> None:
    (removal,) = VERDICTS["ltv gone"].judged
    judged = tuple(replace(removal, change=replace(removal.change, field=field)) for field in broken)
    subscription = reads("ml", ORDERS, *read)

    (found,) = compute_impact(replace(VERDICTS["ltv gone"], judged=judged), [subscription])

    touching = []
    for field in broken:
        path = field and parse_path(field)
        if not path or any(path.covers(one) or one.covers(path) for one in subscription.fields):
            touching.append(field)
    assert [item.change.field for item in found.changes] == touching
    assert found.effect is (Effect.HIT if touching else Effect.SAFE)
