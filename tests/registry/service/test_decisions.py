"""Can I publish, can I retire: one answer, with every reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Backend, Clock
from tests.registry.offers import ID, LTV, ORDERS, PLAN, PLAN_FIELD, made_from, orders
from treaty.errors import NotFound
from treaty.registry.rules import Approval, RegistryRules

GUIDE = "https://wiki.example.org/move"
REMOVED = "field 'ltv' was removed; old data will fail validation"
NO_PLAN = "orders@2 has no migration plan; add a migration: block with guide, window and owner"


def reads(registry: AnyRegistry, consumer: str, *fields: str, line: str = "orders@1") -> None:
    registry.consumers.subscribe(consumer, line, consumer_class="operational_reporting", fields=fields)


def publish(registry: AnyRegistry, document: dict[str, Any]) -> tuple[bool, list[tuple[str, str, str]]]:
    found = registry.consumers.can_i_publish(document)
    return found.answer, [(one.severity, one.kind, one.message) for one in found.reasons]


def test_a_change_without_affected_consumers_may_be_published(registry: AnyRegistry) -> None:
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
            ("error", "migration_missing", NO_PLAN),
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


def test_a_plan_allows_a_new_line_and_lists_the_affected_consumers(registry: AnyRegistry) -> None:
    registry.register(orders())
    reads(registry, "dashboard", "ltv")

    assert publish(registry, orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)) == (
        True,
        [("warning", "field_removed", REMOVED), ("warning", "consumer_hit", "dashboard is hit (ltv)")],
    )


def critical(registry: AnyRegistry, consumer: str, *fields: str) -> None:
    registry.consumers.subscribe(consumer, "orders@1", consumer_class="external_regulatory", fields=fields)


WITHOUT_LTV = orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)
AWAITED = (
    "it waits for acknowledgement by ledger; register it: it is proposed, and registered once they acknowledge it: "
    "treaty migrate acknowledge"
)
UNAPPROVED = (
    "it breaks consumers and waits for approval; register it: it is proposed, and registered once "
    "someone else approves it: treaty proposal approve"
)


def test_what_would_wait_for_critical_consumers_may_not_be_published_yet(registry: AnyRegistry) -> None:
    registry.register(orders())
    critical(registry, "ledger", "ltv")
    critical(registry, "planner", "plan")

    answer, reasons = publish(registry, WITHOUT_LTV)

    assert not answer
    assert [one for one in reasons if one[0] == "error"] == [("error", "waits_for_consumers", AWAITED)]
    assert registry.register(WITHOUT_LTV).waits_for == ["ledger"]


def test_what_would_wait_for_an_approval_may_not_be_published_yet(open_backend: Callable[..., Backend]) -> None:
    registry = open_backend(RegistryRules(approval=Approval.REQUIRED)).local
    registry.register(orders())

    breaking, reasons = publish(registry, WITHOUT_LTV)
    fine, nothing = publish(registry, orders("1.1.0", [ID, PLAN_FIELD, LTV, {**LTV, "name": "tax"}]))

    assert (breaking, reasons[-1]) == (False, ("error", "waits_for_approval", UNAPPROVED))
    assert (fine, nothing) == (True, [])
    assert registry.register(WITHOUT_LTV).status == "proposed"


def test_a_refused_version_reports_no_acknowledgements_to_wait_for(registry: AnyRegistry) -> None:
    registry.register(orders())
    critical(registry, "ledger", "ltv")

    _, reasons = publish(registry, orders("2.0.0", [ID, PLAN_FIELD]))

    assert "waits_for_consumers" not in {kind for _, kind, _ in reasons}


def test_repeating_the_previous_migration_plan_is_reported(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(WITHOUT_LTV)

    answer, reasons = publish(registry, orders("3.0.0", [ID], migration=PLAN))

    assert not answer
    assert ("error", "migration_missing") in {(severity, kind) for severity, kind, _ in reasons}
    assert any("orders@3 repeats the migration plan of orders@2" in message for _, _, message in reasons)


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


def test_a_step_by_date_needs_no_tick(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    registry.register(orders(id="samples", tier="edge", expires="2026-03-05"))
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)
    clock.pass_days(60)

    def reasons(line: str) -> list[str]:
        return [one.message for one in registry.consumers.can_i_retire(line).reasons]

    assert reasons("orders@1") == []
    assert reasons("samples@1") == []
    clock.pass_days(-40)
    assert reasons("orders@1") == ["orders 1.0.0 is deprecated until its sunset on 2026-03-31"]
    assert reasons("samples@1") == ["samples 1.0.0 is deprecated until its sunset on 2026-04-04"]


def test_who_would_be_left_with_nothing_is_named(registry: AnyRegistry) -> None:
    registry.register(orders())
    reads(registry, "dashboard")

    found = registry.consumers.can_i_retire("orders@1")

    assert [(one.name, one.kind, one.effect, one.path) for one in found.affected] == [
        ("dashboard", "consumer", "hit", ["orders@1", "dashboard"])
    ]


def test_retirement_can_be_checked_for_one_version(registry: AnyRegistry, clock: Clock) -> None:
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


def test_a_retired_version_needs_no_check(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.retire(ORDERS, "1.0.0", override="gone")

    found = registry.consumers.can_i_retire("orders@1")

    assert found.answer
    assert [(one.kind, one.severity, one.message) for one in found.reasons] == [
        ("gone", "warning", "orders@1 is retired already")
    ]
