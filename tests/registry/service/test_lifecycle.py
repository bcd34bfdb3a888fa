"""The life of a version: by hand and by the calendar, with days that consumers can rely on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Backend, Clock
from tests.registry.offers import ID, ORDERS, PLAN, PLAN_FIELD, USERS, orders, users, with_field
from treaty.errors import InvalidDocument, NotAllowed, NotFound, Refused
from treaty.governance.lifecycle import Periods
from treaty.registry.report import VersionRefused
from treaty.registry.rules import RegistryRules

GUIDE = "https://wiki.example.org/move"
TODAY = date(2026, 3, 1)
SUNSET = date(2026, 3, 31)
RETIREMENT = date(2026, 4, 7)


def deprecated(registry: AnyRegistry, contract: str = ORDERS, **more: Any) -> None:
    registry.register(orders(id=contract))
    registry.deprecate(contract, "1.0.0", deprecation_uri=GUIDE, **more)


def status_of(registry: AnyRegistry, contract: str = ORDERS, version: str = "1.0.0") -> str:
    return registry.get(contract, version).status


def reads(registry: AnyRegistry, consumer: str, line: str = "orders@1", **more: Any) -> None:
    registry.consumers.subscribe(consumer, line, consumer_class="operational_reporting", **more)


def test_a_draft_is_not_the_latest_until_it_is_activated(registry: AnyRegistry) -> None:
    registry.register(users(status="draft"))
    with pytest.raises(NotFound, match="no active version"):
        registry.latest(USERS)

    assert registry.activate(USERS, "1.0.0").status == "active"
    assert registry.latest(USERS).version == "1.0.0"


def test_a_document_without_a_status_is_a_draft(registry: AnyRegistry) -> None:
    registry.register(users(status=None))

    assert status_of(registry, USERS) == "draft"


def test_the_latest_is_the_highest_that_is_active(registry: AnyRegistry) -> None:
    registry.register(users())
    registry.register(with_field("a", "1.1.0"))
    registry.register(with_field("a", "1.2.0", status="draft"))
    assert registry.latest(USERS).version == "1.1.0"

    registry.deprecate(USERS, "1.1.0", deprecation_uri=GUIDE)

    assert registry.latest(USERS).version == "1.0.0"


def test_a_deprecation_has_thirty_days_to_sunset_and_seven_to_retirement(registry: AnyRegistry) -> None:
    registry.register(orders())

    found = registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)

    assert (found.status, found.deprecation_uri) == ("deprecated", GUIDE)
    assert (found.announced_on, found.sunset_on, found.retire_on) == (TODAY, SUNSET, RETIREMENT)


def test_the_periods_are_settings(open_backend: Callable[..., Backend]) -> None:
    periods = Periods(deprecation=timedelta(days=90), sunset=timedelta(days=14))
    backend = open_backend(RegistryRules(periods=periods))
    registry = backend.acting_as("ana", "admin")
    deprecated(registry)

    found = registry.get(ORDERS, "1.0.0")

    assert (found.sunset_on, found.retire_on) == (date(2026, 5, 30), date(2026, 6, 13))


def test_a_later_sunset_can_be_requested(registry: AnyRegistry) -> None:
    deprecated(registry, sunset_on=date(2026, 12, 24))

    found = registry.get(ORDERS, "1.0.0")

    assert (found.sunset_on, found.retire_on) == (date(2026, 12, 24), date(2026, 12, 31))


def test_a_sunset_that_is_too_early_is_refused_with_the_earliest_day(registry: AnyRegistry) -> None:
    registry.register(orders())

    with pytest.raises(Refused, match="less than 30 days after 2026-03-01; use 2026-03-31 or later"):
        registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE, sunset_on=date(2026, 3, 30))

    assert status_of(registry) == "active"


@pytest.mark.parametrize("uri", ["", "  ", "x" * 2049])
def test_a_deprecation_needs_the_address_of_a_plan(registry: AnyRegistry, uri: str) -> None:
    registry.register(orders())

    with pytest.raises(InvalidDocument):
        registry.deprecate(ORDERS, "1.0.0", deprecation_uri=uri)

    assert status_of(registry) == "active"


def test_the_sunset_starts_on_its_date(registry: AnyRegistry, clock: Clock) -> None:
    deprecated(registry)
    clock.pass_days(29)
    assert registry.tick() == []
    assert status_of(registry) == "deprecated"

    clock.pass_days(1)

    assert [(one.contract, one.version, one.before, one.after) for one in registry.tick()] == [
        (ORDERS, "1.0.0", "deprecated", "sunset")
    ]
    assert status_of(registry) == "sunset"
    assert registry.tick() == []


def test_a_late_tick_catches_up(registry: AnyRegistry, clock: Clock) -> None:
    notice = {"announced": "2026-03-10", "sunset_date": "2026-05-01", "migration_guide": GUIDE}
    registry.register(orders(deprecation=notice))

    clock.pass_days(365)

    assert [(one.before, one.after) for one in registry.tick()] == [
        ("active", "deprecated"),
        ("deprecated", "sunset"),
    ]


def test_the_calendar_never_retires_by_itself(registry: AnyRegistry, clock: Clock) -> None:
    deprecated(registry)
    clock.pass_days(400)
    registry.tick()

    assert registry.tick() == []
    assert status_of(registry) == "sunset"


def test_a_deprecation_that_a_document_announces_is_honoured_on_its_day(registry: AnyRegistry, clock: Clock) -> None:
    notice = {"announced": "2026-04-01", "sunset_date": "2026-06-01", "migration_guide": GUIDE}
    registry.register(orders(deprecation=notice))
    found = registry.get(ORDERS, "1.0.0")
    assert (found.status, found.announced_on, found.sunset_on) == ("active", date(2026, 4, 1), date(2026, 6, 1))
    clock.pass_days(30)
    assert registry.tick() == []

    clock.pass_days(1)

    assert [one.after for one in registry.tick()] == ["deprecated"]
    assert registry.get(ORDERS, "1.0.0").deprecation_uri == GUIDE


def test_a_draft_keeps_the_days_that_it_announces_when_it_is_activated(registry: AnyRegistry, clock: Clock) -> None:
    notice = {"announced": "2026-04-01", "sunset_date": "2026-06-01", "migration_guide": GUIDE}
    registry.register(orders(status="draft", deprecation=notice))

    found = registry.activate(ORDERS, "1.0.0")

    assert (found.announced_on, found.sunset_on, found.deprecation_uri) == (date(2026, 4, 1), date(2026, 6, 1), GUIDE)
    clock.pass_days(31)
    assert [(one.before, one.after) for one in registry.tick()] == [("active", "deprecated")]


def test_a_draft_is_not_advanced_by_the_calendar(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders(status="draft", tier="edge", expires="2026-03-10"))
    clock.pass_days(365)

    assert registry.tick() == []


def test_a_past_announcement_counts_from_the_registration(registry: AnyRegistry) -> None:
    """Consumers of this registry cannot have seen an earlier date."""
    notice = {"announced": "2025-01-01", "sunset_date": "2026-04-15"}
    registry.register(orders(status="deprecated", deprecation=notice))

    found = registry.get(ORDERS, "1.0.0")

    assert (found.announced_on, found.sunset_on, found.retire_on) == (TODAY, date(2026, 4, 15), date(2026, 4, 22))


def test_a_document_cannot_backdate_its_notice(registry: AnyRegistry) -> None:
    notice = {"announced": "2025-01-01", "sunset_date": "2026-03-05"}

    with pytest.raises(VersionRefused) as refused:
        registry.register(orders(deprecation=notice))

    assert [(one.kind, one.message) for one in refused.value.report.errors] == [
        (
            "sunset_too_soon",
            "the sunset 2026-03-05 is less than 30 days after 2026-03-01; use 2026-03-31 or later",
        )
    ]


def test_a_document_that_is_deprecated_from_the_start_has_its_days(registry: AnyRegistry) -> None:
    registry.register(orders(status="deprecated"))

    found = registry.get(ORDERS, "1.0.0")

    assert (found.status, found.sunset_on, found.retire_on) == ("deprecated", SUNSET, RETIREMENT)


def test_an_edge_contract_expires(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders(tier="edge", expires="2026-03-10"))
    clock.pass_days(8)
    assert registry.tick() == []

    clock.pass_days(1)

    assert [(one.after, one.reason) for one in registry.tick()] == [("deprecated", "expired on 2026-03-10")]
    assert registry.get(ORDERS, "1.0.0").sunset_on == date(2026, 4, 9)


def test_a_deprecation_can_be_taken_back(registry: AnyRegistry, clock: Clock) -> None:
    deprecated(registry)

    found = registry.activate(ORDERS, "1.0.0")

    assert (found.status, found.deprecation_uri, found.announced_on) == ("active", None, None)
    assert (found.sunset_on, found.retire_on) == (None, None)
    clock.pass_days(100)
    assert registry.tick() == []


def test_an_active_version_stays_as_it_is_when_it_is_activated(registry: AnyRegistry) -> None:
    registry.register(orders())

    assert registry.activate(ORDERS, "1.0.0").status == "active"
    assert [one.action for one in registry.access.audit().items] == ["contract.register"]


def test_repeating_a_deprecation_keeps_its_first_date(registry: AnyRegistry, clock: Clock) -> None:
    deprecated(registry)
    clock.pass_days(10)

    found = registry.deprecate(ORDERS, "1.0.0", deprecation_uri="https://wiki.example.org/better")

    assert found.deprecation_uri == "https://wiki.example.org/better"
    assert (found.announced_on, found.sunset_on) == (TODAY, SUNSET)


def test_a_version_is_not_retired_before_its_day(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    for days, said in (
        (0, "is active; deprecate it first"),
        (None, "is deprecated until its sunset on 2026-03-31"),
        (30, "is in sunset and may be retired on 2026-04-07, not on 2026-03-31"),
        (6, "is in sunset and may be retired on 2026-04-07, not on 2026-04-06"),
    ):
        if days is None:
            registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)
        else:
            clock.pass_days(days)
            registry.tick()
        with pytest.raises(Refused, match="orders 1.0.0 cannot be retired: orders 1.0.0 " + said):
            registry.retire(ORDERS, "1.0.0")

    clock.pass_days(1)

    assert registry.retire(ORDERS, "1.0.0").status == "retired"


def in_sunset(registry: AnyRegistry, clock: Clock) -> None:
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)
    clock.pass_days(30)
    registry.tick()
    clock.pass_days(7)


def test_a_version_is_not_retired_while_consumers_remain_and_each_is_named(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    reads(registry, "dashboard")
    reads(registry, "scoring")
    in_sunset(registry, clock)

    with pytest.raises(Refused) as refused:
        registry.retire(ORDERS, "1.0.0")
    assert "dashboard still reads orders@1; scoring still reads orders@1" in str(refused.value)

    registry.consumers.unsubscribe("dashboard", "orders@1")
    with pytest.raises(Refused, match="scoring still reads orders@1"):
        registry.retire(ORDERS, "1.0.0")

    registry.consumers.unsubscribe("scoring", "orders@1")
    assert registry.retire(ORDERS, "1.0.0").status == "retired"


def test_a_version_can_be_retired_while_another_serves_the_consumers(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    registry.register(orders("1.0.1", description={"purpose": "said better"}))
    reads(registry, "dashboard")
    in_sunset(registry, clock)

    assert registry.retire(ORDERS, "1.0.0").status == "retired"
    with pytest.raises(Refused, match="dashboard still needs"):
        registry.archive(ORDERS, "1.0.1")


@pytest.mark.parametrize("role", ["steward", "admin"])
def test_an_override_of_a_retirement_records_its_reason(backend: Backend, registry: AnyRegistry, role: str) -> None:
    registry.register(orders())
    reads(registry, "dashboard")
    steward = backend.acting_as("vera", role)

    found = steward.retire(ORDERS, "1.0.0", override="the source was switched off")

    assert found.status == "retired"
    entry = registry.access.audit(actor="vera").items[-1]
    assert (entry.action, entry.subject) == ("contract.retired", "orders 1.0.0")
    assert entry.details["reason"] == "the source was switched off"


def test_an_owner_does_not_override(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(orders())
    owner = backend.acting_as("olga", "owner", "checkout")

    for step in (owner.retire, owner.archive):
        reads(registry, "dashboard")
        with pytest.raises(NotAllowed, match="olga may not override"):
            step(ORDERS, "1.0.0", override="I know better")

    assert status_of(registry) == "active"


def test_an_override_needs_a_reason(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(orders())

    with pytest.raises((NotAllowed, InvalidDocument)):
        registry.retire(ORDERS, "1.0.0", override="  ")

    assert status_of(registry) == "active"


def test_archiving_is_refused_where_it_leaves_consumers_with_nothing(registry: AnyRegistry) -> None:
    registry.register(orders())
    reads(registry, "dashboard")
    reads(registry, "scoring")

    with pytest.raises(Refused, match="dashboard, scoring still need orders@1; move them first"):
        registry.archive(ORDERS, "1.0.0")

    assert registry.archive(ORDERS, "1.0.0", override="moved by hand").status == "archived"


def test_archiving_an_unread_version_needs_no_reason(registry: AnyRegistry) -> None:
    registry.register(orders())

    assert registry.archive(ORDERS, "1.0.0").status == "archived"
    assert registry.archive(ORDERS, "1.0.0").status == "archived"
    assert [one.version for one in registry.history(ORDERS).items] == ["1.0.0"]


@pytest.mark.parametrize("final", ["archived", "retired"])
def test_a_final_status_is_final(registry: AnyRegistry, final: str) -> None:
    registry.register(orders())
    if final == "archived":
        registry.archive(ORDERS, "1.0.0")
    else:
        registry.retire(ORDERS, "1.0.0", override="gone")

    steps: list[Callable[[], object]] = [
        lambda: registry.activate(ORDERS, "1.0.0"),
        lambda: registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE),
        lambda: (
            registry.retire(ORDERS, "1.0.0", override="really")
            if final == "archived"
            else registry.archive(ORDERS, "1.0.0")
        ),
    ]
    for step in steps:
        with pytest.raises(Refused, match=f"is {final} and cannot become"):
            step()
    assert status_of(registry) == final


def test_a_sunset_is_not_taken_back(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    in_sunset(registry, clock)

    with pytest.raises(Refused, match="is sunset and cannot become active"):
        registry.activate(ORDERS, "1.0.0")


def test_deprecating_a_line_deprecates_all_its_versions(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(orders("1.0.1", description={"purpose": "said better"}))
    registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN))

    found = registry.deprecate_line("orders@1", deprecation_uri=GUIDE, sunset_on=date(2026, 6, 1))

    assert [(one.version, one.status, one.sunset_on) for one in found] == [
        ("1.0.0", "deprecated", date(2026, 6, 1)),
        ("1.0.1", "deprecated", date(2026, 6, 1)),
    ]
    assert [(one.line, one.status, one.latest_active) for one in registry.lines(ORDERS)] == [
        ("orders@2", "active", "2.0.0"),
        ("orders@1", "deprecated", None),
    ]


def test_a_line_is_retired_completely_or_not_at_all(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    registry.register(orders("1.0.1", description={"purpose": "said better"}))
    registry.deprecate_line("orders@1", deprecation_uri=GUIDE)
    clock.pass_days(30)
    registry.tick()
    with pytest.raises(Refused, match="may be retired on 2026-04-07"):
        registry.retire_line("orders@1")
    assert [one.status for one in registry.history(ORDERS).items] == ["sunset", "sunset"]

    clock.pass_days(7)

    assert [one.status for one in registry.retire_line("orders@1")] == ["retired", "retired"]
    with pytest.raises(Refused, match="orders@1 is retired; no version of it is"):
        registry.retire_line("orders@1")


def test_a_line_that_consumers_read_is_not_retired(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    registry.register(orders("1.0.1", description={"purpose": "said better"}))
    reads(registry, "dashboard")
    registry.deprecate_line("orders@1", deprecation_uri=GUIDE)
    clock.pass_days(30)
    registry.tick()
    clock.pass_days(7)

    with pytest.raises(Refused, match="dashboard still reads orders@1"):
        registry.retire_line("orders@1")

    assert [one.status for one in registry.history(ORDERS).items] == ["sunset", "sunset"]


@pytest.mark.parametrize("line", ["orders@9", "nobody@1"])
def test_a_line_that_is_not_there_is_not_found(registry: AnyRegistry, line: str) -> None:
    registry.register(orders())

    for ask in (
        lambda: registry.deprecate_line(line, deprecation_uri=GUIDE),
        lambda: registry.retire_line(line),
        lambda: registry.consumers.can_i_retire(line),
    ):
        with pytest.raises(NotFound):
            ask()


def test_what_is_no_line_is_refused(registry: AnyRegistry) -> None:
    for ask in (
        lambda: registry.deprecate_line("orders", deprecation_uri=GUIDE),
        lambda: registry.retire_line("orders@one"),
        lambda: registry.consumers.can_i_retire("orders"),
    ):
        with pytest.raises(InvalidDocument, match="is not a line; write it like orders@1"):
            ask()


def test_only_stewards_may_run_a_tick(backend: Backend, registry: AnyRegistry) -> None:
    with pytest.raises(NotAllowed):
        backend.acting_as("olga", "owner", "checkout").tick()

    assert backend.acting_as("stella", "steward").tick() == []


def test_a_team_leads_only_its_own_contracts_through_life(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(orders())
    for name, role, team in (("olga", "owner", "growth"), ("carl", "contributor", "checkout"), ("vic", "viewer", None)):
        other = backend.acting_as(name, role, team)
        with pytest.raises(NotAllowed):
            other.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)

    owner = backend.acting_as("olga", "owner", "checkout")
    assert owner.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE).status == "deprecated"


def test_nothing_follows_in_a_line_that_was_retired(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.retire(ORDERS, "1.0.0", override="nobody reads it any more")

    with pytest.raises(Refused, match="the line orders@1 is retired; open a new one"):
        registry.register(orders("1.0.1"))
    registry.register(orders("2.0.0", migration=PLAN))

    assert [one.status for one in registry.lines(ORDERS)] == ["active", "retired"]


def test_a_day_that_no_calendar_has_is_refused(registry: AnyRegistry) -> None:
    with pytest.raises(InvalidDocument, match="'2026-02-30' is not a date at expires; write it like 2026-12-31"):
        registry.register(orders(expires="2026-02-30"))
