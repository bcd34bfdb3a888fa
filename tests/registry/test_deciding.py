"""Can I publish, can I retire: one answer, with every reason."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Clock
from tests.registry.offers import ID, LTV, ORDERS, PLAN, PLAN_FIELD, made_from, orders
from treaty.errors import NotFound

GUIDE = "https://wiki.example.org/move"
REMOVED = "field 'ltv' was removed; old data will fail validation"
NO_PLAN = "orders@2 opens without a migration plan; add a migration: block with guide, window and owner"


def reads(registry: AnyRegistry, consumer: str, *fields: str, line: str = "orders@1") -> None:
    registry.consumers.subscribe(consumer, line, consumer_class="operational_reporting", fields=fields)


def publish(registry: AnyRegistry, document: dict[str, Any]) -> tuple[bool, list[tuple[str, str, str]]]:
    found = registry.consumers.can_i_publish(document)
    return found.answer, [(one.severity, one.kind, one.message) for one in found.reasons]


def test_what_hits_nobody_may_be_published(registry: AnyRegistry) -> None:
    registry.register(orders(fields=[ID]))
    reads(registry, "somebody")

    found = registry.consumers.can_i_publish(orders("1.1.0", [ID, LTV]))

    assert (found.question, found.answer, found.reasons) == ("can orders 1.1.0 be published?", True, [])
    assert found.required_version == "1.1.0"
    assert [(one.name, one.effect) for one in found.affected] == [("somebody", "safe")]


def test_a_breaking_change_without_a_plan_may_not_and_names_whom_it_hits(registry: AnyRegistry) -> None:
    registry.register(orders())
    reads(registry, "dashboard", "ltv")
    reads(registry, "planner", "plan")
    reads(registry, "somebody")
    registry.register(made_from("marts", "orders:ltv"))

    assert publish(registry, orders("2.0.0", [ID, PLAN_FIELD])) == (
        False,
        [
            ("error", "field_removed", REMOVED),
            ("warning", "migration_missing", NO_PLAN),
            ("warning", "consumer_hit", "dashboard is hit (ltv)"),
            ("warning", "consumer_unknown", "somebody may be hit: it never said which fields it reads"),
            ("warning", "line_hit", "marts@1 is hit (ltv)"),
        ],
    )


def test_a_breaking_change_on_the_same_line_is_against_those_it_hits(registry: AnyRegistry) -> None:
    registry.register(orders())
    reads(registry, "dashboard", "ltv")

    answer, reasons = publish(registry, orders("1.1.0", [ID, PLAN_FIELD]))

    assert not answer
    assert ("error", "consumer_hit", "dashboard is hit (ltv)") in reasons


def test_a_plan_lets_a_new_line_open_and_those_who_are_hit_be_known(registry: AnyRegistry) -> None:
    registry.register(orders())
    reads(registry, "dashboard", "ltv")

    assert publish(registry, orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)) == (
        True,
        [("warning", "field_removed", REMOVED), ("warning", "consumer_hit", "dashboard is hit (ltv)")],
    )


def test_a_version_that_is_taken_may_not_be_published_again(registry: AnyRegistry) -> None:
    registry.register(orders(fields=[ID]))

    same, reasons = publish(registry, orders(fields=[ID]))
    other, more = publish(registry, orders(fields=[ID, LTV]))

    assert (same, other) == (False, False)
    assert reasons[0] == (
        "error",
        "version_taken",
        "version 1.0.0 is registered already, and nothing differs from 1.0.0",
    )
    assert more[0] == ("error", "version_taken", "version 1.0.0 is registered already; the next is 1.1.0")


def test_a_line_that_ended_takes_no_new_version(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.retire(ORDERS, "1.0.0", override="nobody reads it")

    answer, reasons = publish(registry, orders("1.0.1", description={"purpose": "said better"}))

    assert not answer
    assert reasons == [("error", "line_ended", "the line orders@1 is retired; open a new one")]


def test_the_answer_agrees_with_what_registering_does(registry: AnyRegistry) -> None:
    registry.register(orders())
    for document in (
        orders("1.0.1", [ID, PLAN_FIELD]),
        orders("2.0.0", [ID, PLAN_FIELD]),
        orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN),
    ):
        assert registry.consumers.can_i_publish(document).answer == registry.check(document).admissible


def test_a_line_may_not_be_retired_while_it_is_read_or_before_its_day(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    reads(registry, "dashboard")

    def reasons() -> list[str]:
        return [one.message for one in registry.consumers.can_i_retire("orders@1").reasons]

    assert reasons() == ["orders 1.0.0 is active; deprecate it first", "dashboard still reads orders@1"]
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)
    assert reasons() == ["orders 1.0.0 is deprecated until its sunset on 2026-03-31", "dashboard still reads orders@1"]
    clock.pass_days(30)
    registry.tick()
    registry.consumers.unsubscribe("dashboard", "orders@1")
    assert reasons() == ["orders 1.0.0 is in sunset and may be retired on 2026-04-07, not on 2026-03-31"]
    clock.pass_days(7)

    found = registry.consumers.can_i_retire("orders@1")

    assert (found.question, found.answer, found.reasons) == ("can orders@1 be retired?", True, [])


def test_who_would_be_left_with_nothing_is_named(registry: AnyRegistry) -> None:
    registry.register(orders())
    reads(registry, "dashboard")

    found = registry.consumers.can_i_retire("orders@1")

    assert [(one.name, one.kind, one.effect, one.path) for one in found.affected] == [
        ("dashboard", "consumer", "hit", ["orders@1", "dashboard"])
    ]


def test_one_version_may_be_asked_about(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    registry.register(orders("1.0.1", description={"purpose": "said better"}))
    reads(registry, "dashboard")
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)
    clock.pass_days(30)
    registry.tick()
    clock.pass_days(7)

    assert registry.consumers.can_i_retire("orders@1", version="1.0.0").answer
    assert not registry.consumers.can_i_retire("orders@1", version="1.0.1").answer
    assert not registry.consumers.can_i_retire("orders@1").answer
    with pytest.raises(NotFound, match=r"no version 9\.9\.9 of orders@1"):
        registry.consumers.can_i_retire("orders@1", version="9.9.9")


def test_what_is_gone_already_needs_no_answer(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.retire(ORDERS, "1.0.0", override="gone")

    found = registry.consumers.can_i_retire("orders@1")

    assert found.answer
    assert [(one.kind, one.severity, one.message) for one in found.reasons] == [
        ("gone", "warning", "orders@1 is retired already")
    ]
