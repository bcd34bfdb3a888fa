"""Who depends on what, both ways, and whom a change hits, by field."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.backends import AnyRegistry
from tests.registry.offers import ID, LTV, PLAN, PLAN_FIELD, made_from, orders, users, without
from tests.registry.service.test_consumers import NESTED
from treaty.errors import InvalidDocument, NotFound

REMOVED = "field 'ltv' was removed; old data will fail validation"
BREAKING = orders("2.0.0", [ID, PLAN_FIELD])


def reads(registry: AnyRegistry, consumer: str, *fields: str, line: str = "orders@1", **more: Any) -> None:
    said = {"consumer_class": "operational_reporting", **more}
    registry.consumers.subscribe(consumer, line, fields=fields, **said)


def effects(registry: AnyRegistry, document: dict[str, Any]) -> dict[str, str]:
    return {one.name: one.effect for one in registry.consumers.impact(document).affected}


def reached(registry: AnyRegistry, node: str, **asked: Any) -> dict[str, int]:
    return {one.name: one.distance for one in registry.consumers.graph(node, **asked).nodes}


def test_removing_a_field_names_exactly_those_who_read_it(registry: AnyRegistry) -> None:
    registry.register(orders())
    reads(registry, "ltv-dashboard", "ltv", contact="#bi")
    reads(registry, "both", "id", "ltv", consumer_class="decision_automation")
    reads(registry, "planner", "plan")
    reads(registry, "somebody")

    found = registry.consumers.impact(BREAKING)

    assert (found.contract, found.line, found.before, found.after) == ("orders", "orders@1", "1.0.0", "2.0.0")
    assert (found.compatible, found.required_version) == (False, "2.0.0")
    assert [(one.name, one.effect, one.critical, one.fields) for one in found.affected] == [
        ("both", "hit", True, ["ltv"]),
        ("ltv-dashboard", "hit", False, ["ltv"]),
        ("somebody", "unknown", False, ["ltv"]),
        ("planner", "safe", False, []),
    ]
    hit = found.having("hit")[1]
    assert (hit.reasons, hit.contact, hit.path) == ([REMOVED], "#bi", ["orders@1", "ltv-dashboard"])


def test_the_short_form_is_judged_alike(registry: AnyRegistry) -> None:
    registry.register(users())
    reads(registry, "ltv-dashboard", "ltv", line="users.daily_active@1")
    reads(registry, "planner", "plan", line="users.daily_active@1")

    assert effects(registry, without("ltv", "2.0.0")) == {"ltv-dashboard": "hit", "planner": "safe"}


@pytest.mark.parametrize(
    ("fields", "hit"),
    [
        (["customer.email"], True),
        (["customer"], True),
        (["customer.name"], False),
        (["id"], False),
        (["items[].sku"], False),
        (["customer.name", "customer.email"], True),
    ],
)
def test_changes_to_nested_fields_affect_readers_of_the_field_and_its_parents(
    registry: AnyRegistry, fields: list[str], hit: bool
) -> None:
    registry.register(orders(fields=NESTED))
    reads(registry, "one", *fields)
    customer = {**NESTED[1], "properties": [{"name": "name", "logicalType": "string"}]}

    found = effects(registry, orders("2.0.0", [ID, customer, *NESTED[2:]]))

    assert found == {"one": "hit" if hit else "safe"}


def test_a_compatible_change_is_safe_for_consumers_without_declared_fields(registry: AnyRegistry) -> None:
    registry.register(orders(fields=[ID]))
    reads(registry, "somebody")

    assert effects(registry, orders("1.1.0", [ID, LTV])) == {"somebody": "safe"}


def test_a_first_version_affects_no_consumers(registry: AnyRegistry) -> None:
    found = registry.consumers.impact(orders())

    assert (found.before, found.affected, found.compatible) == (None, [], True)


def test_derived_lines_are_affected_through_the_fields_they_use(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(made_from("marts/value", "orders:ltv"))
    registry.register(made_from("marts/plans", "orders:plan"))
    registry.register(made_from("marts/all", "orders"))
    registry.register(made_from("reports", "marts/value:ltv"))
    reads(registry, "board", "ltv", line="reports@1")
    reads(registry, "planner", "plan", line="marts/plans@1")

    found = registry.consumers.impact(BREAKING)

    assert {one.name: one.effect for one in found.affected} == {
        "marts/value@1": "hit",
        "marts/all@1": "unknown",
        "marts/plans@1": "safe",
        "reports@1": "exposed",
        "board": "exposed",
    }
    paths = {one.name: one.path for one in found.having("exposed")}
    assert paths == {
        "reports@1": ["orders@1", "marts/value@1", "reports@1"],
        "board": ["orders@1", "marts/value@1", "reports@1", "board"],
    }


def test_a_change_of_an_older_line_hits_those_who_stayed_on_it(registry: AnyRegistry) -> None:
    registry.register(orders())
    reads(registry, "stayed", "ltv")
    registry.register(orders("2.0.0", [ID, PLAN_FIELD, LTV], migration=PLAN))
    reads(registry, "moved", "ltv", line="orders@2")

    assert effects(registry, orders("1.0.1", [ID, PLAN_FIELD])) == {"stayed": "hit"}
    assert effects(registry, orders("2.1.0", [ID, PLAN_FIELD])) == {"moved": "hit"}


def test_an_ended_subscription_is_hit_by_nothing(registry: AnyRegistry) -> None:
    registry.register(orders())
    reads(registry, "gone", "ltv")
    assert effects(registry, BREAKING) == {"gone": "hit"}

    registry.consumers.unsubscribe("gone", "orders@1")

    assert effects(registry, BREAKING) == {}


def test_an_updated_subscription_replaces_the_previous_one(registry: AnyRegistry) -> None:
    registry.register(orders())
    reads(registry, "one", "ltv")
    assert effects(registry, BREAKING) == {"one": "hit"}

    reads(registry, "one", "plan")

    assert effects(registry, BREAKING) == {"one": "safe"}


def test_the_graph_is_queried_in_both_directions(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(made_from("marts", "orders"))
    reads(registry, "board", line="marts@1")
    reads(registry, "planner")

    assert reached(registry, "orders@1") == {"marts@1": 1, "planner": 1, "board": 2}
    assert reached(registry, "orders") == {"marts@1": 1, "planner": 1, "board": 2}
    assert reached(registry, "board", direction="upstream") == {"marts@1": 1, "orders@1": 2}
    assert reached(registry, "orders@1", depth=1) == {"marts@1": 1, "planner": 1}
    assert reached(registry, "board") == {}
    found = registry.consumers.graph("board", direction="upstream")
    assert (found.node, found.direction, found.more) == ("board", "upstream", 0)
    assert [(one.kind, one.path) for one in found.nodes] == [
        ("line", ["board", "marts@1"]),
        ("line", ["board", "marts@1", "orders@1"]),
    ]


def test_cycles_come_to_an_end(registry: AnyRegistry) -> None:
    registry.register(made_from("a", "c:ltv"))
    registry.register(made_from("b", "a:ltv"))
    registry.register(made_from("c", "b:ltv"))
    registry.register(made_from("self", "self"))

    assert reached(registry, "a@1") == {"b@1": 1, "c@1": 2}
    assert reached(registry, "a@1", direction="upstream") == {"c@1": 1, "b@1": 2}
    assert reached(registry, "self@1") == {}
    found = registry.consumers.impact(made_from("a", "c:ltv", version="2.0.0", fields=[ID, PLAN_FIELD]))
    assert {one.name: one.effect for one in found.affected} == {"b@1": "hit", "c@1": "exposed"}


def test_an_upstream_may_be_named_before_it_is_registered(registry: AnyRegistry) -> None:
    registry.register(made_from("marts", "orders:ltv"))

    registry.register(orders())

    assert reached(registry, "orders@1") == {"marts@1": 1}
    assert effects(registry, BREAKING) == {"marts@1": "hit"}


def test_a_contract_named_without_a_line_means_the_line_it_had_then(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(made_from("marts", "orders:ltv"))

    registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN))

    assert reached(registry, "marts@1", direction="upstream") == {"orders@1": 1}


def test_a_new_version_replaces_the_lineage_of_its_line(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(orders(id="refunds"))
    registry.register(made_from("marts", "orders"))
    assert reached(registry, "marts@1", direction="upstream") == {"orders@1": 1}

    registry.register(made_from("marts", "refunds", version="1.0.1"))

    assert reached(registry, "marts@1", direction="upstream") == {"refunds@1": 1}
    assert reached(registry, "orders@1") == {}


def test_an_unknown_name_has_no_graph(registry: AnyRegistry) -> None:
    with pytest.raises(NotFound, match="neither a line nor a consumer is called 'nobody'"):
        registry.consumers.graph("nobody")


@pytest.mark.parametrize("asked", [{"direction": "sideways"}, {"depth": 0}])
def test_the_depth_of_a_graph_is_at_least_one(registry: AnyRegistry, asked: dict[str, Any]) -> None:
    registry.register(orders())

    with pytest.raises(InvalidDocument):
        registry.consumers.graph("orders@1", **asked)
