"""Lineage by field: declared in contracts or observed by runs, and whom a change reaches through it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Backend
from tests.registry.offers import ID, PLAN, PLAN_FIELD, orders
from treaty.consumers.dependencies import FieldMapping, MadeFrom
from treaty.consumers.subscriptions import parse_fields
from treaty.contracts.paths import parse_path
from treaty.contracts.versions import Line
from treaty.errors import Conflict, InvalidDocument, NotAllowed, NotFound

SCORE, TIER = {"name": "score", "logicalType": "number"}, {"name": "tier", "logicalType": "string"}
MAPPED = {"contract": "orders@1", "mappings": {"score": ["ltv"], "tier": ["plan"]}, "fields": ["id"]}
BREAKING = orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)


def scores(*lineage: dict[str, Any], version: str = "1.0.0") -> dict[str, Any]:
    document = {**orders(version, [ID, SCORE, TIER]), "id": "scores"}
    return {**document, "lineage": list(lineage)} if lineage else document


def reads(registry: AnyRegistry, consumer: str, line: str, *fields: str, critical: bool = False) -> None:
    kind = "external_regulatory" if critical else "operational_reporting"
    registry.consumers.subscribe(consumer, line, fields=fields, consumer_class=kind, contact=f"#{consumer}")


def observed(**mappings: str) -> list[MadeFrom]:
    columns = tuple(FieldMapping(parse_path(name), parse_fields(used.split())) for name, used in mappings.items())
    return [MadeFrom(Line("scores", 1), Line("orders", 1), (), columns)]


def paths(registry: AnyRegistry, document: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    affected = registry.consumers.impact(document).affected
    return [(" → ".join(one.path), one.effect, one.consumer_class) for one in affected]


def test_regulatory_consumer_two_hops_away_is_named_with_class_contact_and_path(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(scores(MAPPED))
    reads(registry, "regulator", "scores@1", "score", critical=True)
    reads(registry, "dashboard", "scores@1", "tier")

    hit = registry.consumers.impact(BREAKING).having("hit")

    assert [(one.name, one.fields, one.critical, one.contact, one.path) for one in hit] == [
        ("scores@1", ["ltv"], False, None, ["orders@1", "scores@1"]),
        ("regulator", ["ltv"], True, "#regulator", ["orders@1", "scores@1", "regulator"]),
    ]


def test_consumer_behind_a_line_without_mappings_is_exposed_with_its_class(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(scores({"contract": "orders@1", "fields": ["ltv"]}))
    reads(registry, "regulator", "scores@1", "score", critical=True)

    assert paths(registry, BREAKING) == [
        ("orders@1 → scores@1", "hit", None),
        ("orders@1 → scores@1 → regulator", "exposed", "external_regulatory"),
    ]


def test_observed_lineage_names_the_fields_that_the_contract_does_not(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(scores({"contract": "orders@1"}))
    reads(registry, "dashboard", "scores@1", "tier")
    assert paths(registry, BREAKING)[1] == ("orders@1 → scores@1 → dashboard", "exposed", "operational_reporting")

    answer = registry.consumers.record_lineage("scores@1", observed(score="ltv", tier="plan"))

    assert [one.model_dump() for one in answer.upstreams] == [
        {"line": "orders@1", "fields": [], "mappings": {"score": ["ltv"], "tier": ["plan"]}}
    ]
    assert registry.consumers.lineage("scores@1") == answer
    assert paths(registry, BREAKING) == [("orders@1 → scores@1", "hit", None)]


def test_observed_lineage_of_an_undeclared_upstream_is_a_dependency(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(scores())
    registry.consumers.record_lineage("scores@1", observed(score="ltv"))

    assert [node.name for node in registry.consumers.graph("orders").nodes] == ["scores@1"]

    registry.consumers.record_lineage("scores@1", [])

    assert registry.consumers.graph("orders").nodes == []


def test_a_run_records_the_layer_of_a_line_beside_its_lineage(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(scores())
    registry.consumers.record_lineage("scores@1", observed(score="ltv"), layer="product")

    kept = registry.consumers.record_lineage("scores@1", None, layer="publication")
    again = registry.consumers.record_lineage("scores@1", observed(score="ltv"))

    assert (kept.layer, [one.line for one in kept.upstreams]) == ("publication", ["orders@1"])
    assert again == kept
    assert backend.local.access.verify_audit().whole
    with pytest.raises(InvalidDocument, match="layer"):
        registry.consumers.record_lineage("scores@1", None, layer="gold")


def test_source_objects_of_properties_are_lineage_until_a_run_records_some(
    backend: Backend, registry: AnyRegistry
) -> None:
    registry.register(orders())
    derived = {"transformSourceObjects": ["orders@1"], "transformLogic": "round(o.ltv, 2) -- not plan"}
    registry.register({**orders("1.0.0", [ID, {**SCORE, **derived}, TIER]), "id": "scores"})
    reads(registry, "regulator", "scores@1", "score", critical=True)

    stated = registry.consumers.lineage("scores@1").upstreams
    hit = paths(registry, BREAKING)
    observed_now = registry.consumers.record_lineage("scores@1", observed(score="plan")).upstreams
    registry.consumers.record_lineage("scores@1", [])
    back = registry.consumers.lineage("scores@1").upstreams

    assert [one.model_dump() for one in stated] == [{"line": "orders@1", "fields": [], "mappings": {"score": ["ltv"]}}]
    assert ("orders@1 → scores@1 → regulator", "hit", "external_regulatory") in hit
    assert [one.mappings for one in observed_now] == [{"score": ["plan"]}]
    assert back == stated
    assert backend.local.access.verify_audit().whole


def test_same_lineage_again_writes_no_audit_entry(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(scores(MAPPED))
    registry.consumers.record_lineage("scores@1", observed(score="ltv"))
    entries = backend.local.access.audit().items

    registry.consumers.record_lineage("scores@1", observed(score="ltv"))

    assert backend.local.access.audit().items == entries
    assert entries[-1].action == "lineage.observe"
    assert backend.local.access.verify_audit().whole


def test_change_waits_for_the_acknowledgement_of_a_critical_consumer_two_hops_away(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(scores(MAPPED))
    reads(registry, "regulator", "scores@1", "score", critical=True)

    proposed = registry.register(BREAKING)

    assert (proposed.status, proposed.waits_for) == ("proposed", ["regulator"])
    (migration,) = registry.migrations.list().items
    board = registry.migrations.get(migration.id)
    assert [(row.consumer, row.state, row.via, row.fields) for row in board.consumers] == [
        ("regulator", "waiting", "scores@1", ["score"])
    ]
    with pytest.raises(Conflict, match="not registered yet"):
        registry.migrations.move(migration.id, "regulator")

    done = registry.migrations.acknowledge(migration.id, "regulator")

    assert (done.state, done.missing, [row.state for row in done.consumers]) == ("open", [], ["acknowledged"])
    with pytest.raises(Conflict, match="regulator reads scores@1, not orders@1; acknowledge the change instead"):
        registry.migrations.move(migration.id, "regulator")


def test_consumer_two_hops_away_and_the_owner_between_are_notified(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register({**scores(MAPPED), "owners": [{"team": "scoring"}]})
    reads(registry, "dashboard", "scores@1", "score")
    registry.register(BREAKING)

    notice = next(one for one in registry.notices.notices(contract="orders").items if one.kind == "line.opened")

    assert {"dashboard", "scoring"} <= set(notice.parties)
    assert notice.details["consumers"]["dashboard"]["path"] == ["orders@1", "scores@1", "dashboard"]


def test_lineage_of_an_unknown_line_is_not_found(registry: AnyRegistry) -> None:
    with pytest.raises(NotFound, match="scores@1"):
        registry.consumers.lineage("scores@1")
    with pytest.raises(NotFound, match="scores@1"):
        registry.consumers.record_lineage("scores@1", observed(score="ltv"))


def test_only_the_team_of_a_line_records_its_lineage(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(scores(MAPPED))

    with pytest.raises(NotAllowed):
        backend.acting_as("guest", "contributor", "elsewhere").consumers.record_lineage("scores@1", observed(id="id"))


@pytest.mark.parametrize("mappings", [{"score": []}, {"score": "ltv"}, {" ": ["ltv"]}, {}, []])
def test_document_with_wrong_mappings_is_refused(registry: AnyRegistry, mappings: Any) -> None:
    registry.register(orders())

    with pytest.raises(InvalidDocument, match="lineage"):
        registry.register(scores({"contract": "orders@1", "mappings": mappings}))
