"""Deprecation in the document: a deprecated version deprecates its line, now or on the day that it announces."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Backend, Clock
from tests.registry.offers import ID, LTV, ORDERS, PLAN, PLAN_FIELD, USERS, orders, users
from treaty.errors import Conflict, NotAllowed, Refused
from treaty.governance.lifecycle import Periods
from treaty.registry.report import VersionRefused
from treaty.registry.rules import RegistryRules

GUIDE = "https://wiki.example.org/migrate-customers-v4"
NOTICE = {
    "announced": "2026-03-01",
    "sunset_date": "2026-04-15",
    "replacement": "sales-customers-v4",
    "migration_guide": GUIDE,
    "reason": "Replacing with unified customer model",
}
LATER = {**NOTICE, "announced": "2026-04-01", "sunset_date": "2026-06-01"}
WARNING = (
    "orders@1 is deprecated; sunset on 2026-04-15, retirement from 2026-04-22. "
    f"Migrate to: sales-customers-v4. See {GUIDE}"
)


def deprecated(version: str = "1.1.0", notice: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return orders(version, status="deprecated", deprecation=NOTICE if notice is None else notice, **more)


def subscribe(registry: AnyRegistry, consumer: str = "dashboard") -> list[str]:
    kind = "operational_reporting"
    return registry.consumers.subscribe(consumer, "orders@1", consumer_class=kind, fields=["plan"]).warnings


def headlines(registry: AnyRegistry, party: str = "dashboard") -> list[str]:
    return [notice.headline for notice in registry.notices.notices(party=party).items]


def test_a_deprecated_version_deprecates_its_line(registry: AnyRegistry) -> None:
    registry.register(orders())
    subscribe(registry)

    registry.register(deprecated())

    (line,) = registry.lines(ORDERS)
    assert (line.status, line.current, line.latest_active) == ("deprecated", "1.1.0", "1.0.0")
    assert (line.sunset_on, line.replacement, line.deprecation_uri) == (
        date(2026, 4, 15),
        "sales-customers-v4",
        GUIDE,
    )
    assert subscribe(registry, "newcomer") == [WARNING]
    assert headlines(registry) == [f"{WARNING}. Reason: Replacing with unified customer model"]


def test_the_latest_stays_the_highest_active_version(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(deprecated())

    assert registry.latest(ORDERS).version == "1.0.0"


def test_the_readers_of_a_deprecated_line_are_not_safe(registry: AnyRegistry) -> None:
    registry.register(orders())
    subscribe(registry)

    affected = registry.consumers.impact(deprecated()).affected

    assert [(one.name, one.effect, one.reasons) for one in affected] == [
        (
            "dashboard",
            "warned",
            [f"orders@1 is deprecated; sunset on 2026-04-15. Migrate to: sales-customers-v4. See {GUIDE}"],
        )
    ]


def test_impact_names_the_day_of_a_later_announcement(registry: AnyRegistry) -> None:
    registry.register(orders())
    subscribe(registry)

    (reader,) = registry.consumers.impact(deprecated(notice=LATER)).affected

    assert reader.reasons == [
        f"orders@1 will be deprecated on 2026-04-01; sunset on 2026-06-01. Migrate to: sales-customers-v4. See {GUIDE}"
    ]


def test_a_later_announcement_is_told_now_and_holds_on_its_day(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    subscribe(registry)

    registry.register(deprecated(notice=LATER))

    end = "sunset on 2026-06-01, retirement from 2026-06-08"
    announced = f"orders@1 will be deprecated on 2026-04-01; {end}. Migrate to: sales-customers-v4. See {GUIDE}"
    assert headlines(registry) == [f"{announced}. Reason: Replacing with unified customer model"]
    assert registry.lines(ORDERS)[0].status == "active"
    assert subscribe(registry, "newcomer") == [announced]
    clock.pass_days(31)
    assert registry.lines(ORDERS)[0].status == "deprecated"
    assert registry.latest(ORDERS).version == "1.0.0"
    registry.tick()
    assert headlines(registry)[1:] == [f"orders@1 is deprecated; {end}. Migrate to: sales-customers-v4. See {GUIDE}"]


@pytest.mark.parametrize("form", ["odcs", "short"])
def test_the_current_version_again_with_another_status_is_a_step(registry: AnyRegistry, form: str) -> None:
    first = users() if form == "short" else orders()
    again = users(status="deprecated", deprecation_uri=GUIDE) if form == "short" else deprecated("1.0.0")
    contract = USERS if form == "short" else ORDERS
    registry.register(first)
    given = registry.given(contract, "1.0.0")

    result = registry.register(again)

    found = registry.get(contract, "1.0.0")
    assert (result.status, result.unchanged) == ("updated", False)
    assert str(result.lifecycle).startswith(f"{contract}@1 is deprecated; sunset on ")
    assert (found.status, found.deprecation_uri) == ("deprecated", GUIDE)
    assert registry.given(contract, "1.0.0") == given
    assert registry.register(again).unchanged
    assert registry.register(first).unchanged
    assert registry.get(contract, "1.0.0").status == "deprecated"


def test_the_document_shows_the_deprecation_of_its_version(registry: AnyRegistry) -> None:
    registry.register(orders())
    assert "deprecation" not in registry.get(ORDERS, "1.0.0").document

    registry.register(deprecated("1.0.0"))

    document = registry.get(ORDERS, "1.0.0").document
    assert (document["status"], document["deprecation"]) == ("deprecated", NOTICE)
    registry.activate(ORDERS, "1.0.0")
    assert "deprecation" not in registry.get(ORDERS, "1.0.0").document


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        (orders(status="draft"), "is active and cannot become draft"),
        (orders(status="sunset"), "write status: deprecated with a sunset_date"),
        (orders(status="retired"), "is active; deprecate it first"),
    ],
)
def test_a_step_that_the_life_cycle_does_not_have_is_refused(
    registry: AnyRegistry, again: dict[str, Any], expected: str
) -> None:
    registry.register(orders())

    with pytest.raises(Refused, match=expected):
        registry.register(again)

    assert registry.get(ORDERS, "1.0.0").status == "active"


@pytest.mark.parametrize(
    ("again", "answer", "kinds"),
    [
        (deprecated("1.0.0"), True, ["lifecycle_step"]),
        (deprecated("1.0.0", {**NOTICE, "sunset_date": "2026-03-30"}), False, ["lifecycle_step", "sunset_too_soon"]),
        (orders(status="sunset"), False, ["lifecycle_step", "status_invalid"]),
        (orders(status="draft"), False, ["lifecycle_step", "status_invalid"]),
    ],
)
def test_one_question_answers_whether_a_step_can_be_taken(
    registry: AnyRegistry, again: dict[str, Any], answer: bool, kinds: list[str]
) -> None:
    registry.register(orders())

    decision = registry.consumers.can_i_publish(again)

    assert (decision.answer, decision.required_version) == (answer, "1.0.0")
    assert [reason.kind for reason in decision.reasons] == kinds


def test_a_step_withdraws_archives_and_activates(registry: AnyRegistry) -> None:
    registry.register(orders(status="draft"))
    assert registry.register(orders()).lifecycle == "orders@1 is active"
    registry.register(deprecated("1.0.0"))

    assert registry.register(orders(deprecation={"reason": "kept after all"})).lifecycle == "orders@1 is active"
    assert registry.get(ORDERS, "1.0.0").status == "active"
    registry.register(orders(status="archived"))
    assert registry.get(ORDERS, "1.0.0").status == "archived"


def test_anything_else_than_the_status_needs_a_new_version(registry: AnyRegistry) -> None:
    registry.register(orders())

    with pytest.raises(Conflict, match="already registered; history does not change"):
        registry.register(deprecated("1.0.0", fields=[ID, LTV]))

    assert registry.get(ORDERS, "1.0.0").status == "active"


def test_an_older_version_is_not_changed_by_its_document(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(orders("1.0.1", description={"purpose": "said better"}))

    with pytest.raises(Conflict):
        registry.register(deprecated("1.0.0"))


def test_a_step_by_document_needs_the_permission_for_it(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(orders())

    with pytest.raises(NotAllowed):
        backend.acting_as("carl", "contributor", "checkout").register(deprecated("1.0.0"))

    assert registry.get(ORDERS, "1.0.0").status == "active"


def test_the_first_api_keeps_its_answer(backend: Backend, registry: AnyRegistry) -> None:
    backend.local.submit_new(orders()).result()

    with pytest.raises(Conflict):
        backend.local.submit_new(deprecated("1.0.0")).result()

    assert registry.get(ORDERS, "1.0.0").status == "active"


def test_a_version_in_a_deprecated_line_keeps_the_days_that_were_announced(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    registry.register(deprecated())
    clock.pass_days(40)

    registry.register(deprecated("1.1.1", description={"purpose": "said better"}))

    (line,) = registry.lines(ORDERS)
    assert (line.current, line.announced_on, line.sunset_on) == ("1.1.1", date(2026, 3, 1), date(2026, 4, 15))
    sooner = {**NOTICE, "sunset_date": "2026-04-12"}
    with pytest.raises(VersionRefused) as refused:
        registry.register(deprecated("1.2.0", sooner))
    assert [issue.kind for issue in refused.value.report.errors] == ["sunset_too_soon"]


def test_an_active_version_withdraws_the_deprecation_of_its_line(registry: AnyRegistry) -> None:
    registry.register(orders())
    subscribe(registry)
    registry.register(deprecated())

    registry.register(orders("1.2.0"))

    assert registry.lines(ORDERS)[0].status == "active"
    assert headlines(registry)[-1] == "orders@1 is active again: its deprecation was withdrawn"


def test_a_line_gets_one_notice_whatever_its_versions(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    registry.register(orders("1.0.1", description={"purpose": "said better"}))
    registry.register(orders("1.0.2", description={"purpose": "said well"}))
    subscribe(registry)

    registry.deprecate_line("orders@1", replacement="orders@2", reason="orders have lines now")
    clock.pass_days(30)
    registry.tick()
    registry.consumers.unsubscribe("dashboard", "orders@1")
    clock.pass_days(7)
    registry.retire_line("orders@1")

    assert [(one.kind, one.headline) for one in registry.notices.notices(party="checkout").items[3:]] == [
        ("subscription.started", "dashboard reads orders@1"),
        (
            "contract.deprecated",
            "orders@1 is deprecated; sunset on 2026-03-31, retirement from 2026-04-07. Migrate to: orders@2. "
            "Reason: orders have lines now",
        ),
        (
            "contract.sunset",
            "orders@1 is sunset since 2026-03-31; retirement from 2026-04-07. "
            "Immediate migration required to: orders@2",
        ),
        ("subscription.ended", "dashboard no longer reads orders@1"),
        ("contract.retired", "orders@1 is retired. Migrate to: orders@2"),
    ]


def test_a_sunset_is_an_error_for_new_use_and_urgent_for_others(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    subscribe(registry)
    registry.register(deprecated("1.0.0"))
    clock.pass_days(45)

    with pytest.raises(Refused, match="takes no new consumers; newcomer must use sales-customers-v4"):
        subscribe(registry, "newcomer")

    (reader,) = registry.consumers.subscriptions(contract=ORDERS).items
    assert reader.warnings == [
        "orders@1 is sunset since 2026-04-15; retirement from 2026-04-22. "
        f"Immediate migration required to: sales-customers-v4. See {GUIDE}"
    ]


def test_a_migration_window_below_the_minimum_is_refused(open_backend: Callable[..., Backend]) -> None:
    registry = open_backend(RegistryRules(periods=Periods(deprecation=timedelta(days=60)))).acting_as("ana", "admin")
    registry.register(orders())
    short = {**PLAN, "window": "59 d"}

    with pytest.raises(VersionRefused) as refused:
        registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration=short))

    message = "the migration window 59 d is less than 60 days; give consumers more time"
    assert ("migration_window_too_short", message) in [
        (issue.kind, issue.message) for issue in refused.value.report.errors
    ]
    registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration={**PLAN, "window": "60 d"}))


@pytest.mark.parametrize("stated", ["contract", "policy"])
def test_the_notice_of_a_contract_or_its_policy_binds_windows_and_deprecations(
    registry: AnyRegistry, stated: str
) -> None:
    notice: dict[str, Any] = {"change_policy": {"notice": "90 d"}}
    if stated == "policy":
        registry.register(orders(fields=[], id="base", tier="enterprise", **notice))
    terms = notice if stated == "contract" else {"parent": "base"}
    registry.register(orders(**terms))

    with pytest.raises(VersionRefused) as refused:
        registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration={**PLAN, "window": "89 d"}, **terms))
    with pytest.raises(Refused, match="less than 90 days after 2026-03-01"):
        registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE, sunset_on=date(2026, 5, 29))
    with pytest.raises(Refused, match="the sunset 2026-04-15 is less than 90 days after 2026-03-01"):
        registry.register(deprecated("1.0.0", **terms))

    message = (
        "the migration window 89 d is less than 90 days, the notice of its change policy; give consumers more time"
    )
    assert message in [issue.message for issue in refused.value.report.errors]
    registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration={**PLAN, "window": "90 d"}, **terms))


def test_the_notice_that_a_contract_promises_binds_its_deprecation(registry: AnyRegistry) -> None:
    registry.register(orders(change_policy={"notice": "90 d"}))

    with pytest.raises(Refused, match="less than 90 days after 2026-03-01; use 2026-05-30 or later"):
        registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE, sunset_on=date(2026, 5, 29))
    with pytest.raises(VersionRefused) as refused:  # nor by a version that no longer promises it
        registry.register(deprecated())

    assert "sunset_too_soon" in [issue.kind for issue in refused.value.report.errors]
    assert registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE).sunset_on == date(2026, 5, 30)
