"""Consumers are confirmed by their own team; unconfirmed ones are listed, and hold up nobody's change."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from tests.registry.backends import AnyRegistry, Backend
from tests.registry.offers import ID, PLAN, PLAN_FIELD, orders
from treaty.errors import NotAllowed, NotFound, Refused
from treaty.registry.model import SubscriptionAnswer
from treaty.registry.rules import RegistryRules

BREAKING = orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)
HIT = orders("1.1.0", [ID, PLAN_FIELD])
GUIDE = "https://wiki.example.org/move"


@pytest.fixture
def filled(backend: Backend, registry: AnyRegistry) -> Backend:
    """Orders, which checkout owns."""
    registry.register(orders())
    return backend


def declare(
    registry: AnyRegistry, consumer: str = "filing", team: str | None = "audit", kind: str = "external_regulatory"
) -> SubscriptionAnswer:
    return registry.consumers.subscribe(consumer, "orders@1", consumer_class=kind, fields=["ltv"], team=team)


def owner_of(backend: Backend) -> AnyRegistry:
    return backend.acting_as("olga", "owner", "checkout")


def member_of(backend: Backend, team: str = "audit") -> AnyRegistry:
    return backend.acting_as(f"member of {team}", "contributor", team)


def told(backend: Backend, kind: str) -> list[list[str]]:
    return [one.parties for one in backend.local.notices.notices(limit=500).items if one.kind == kind]


def test_a_consumer_declared_by_its_own_team_or_a_steward_is_confirmed(filled: Backend) -> None:
    assert declare(member_of(filled)).confirmed
    assert declare(filled.acting_as("stella", "steward"), "export").confirmed


def test_a_consumer_declared_by_another_team_waits_for_confirmation(filled: Backend) -> None:
    answer = declare(owner_of(filled))

    assert (answer.confirmed, answer.confirm_by, answer.team) == (False, None, "audit")
    assert answer.warnings == [
        "filing is unconfirmed; ask team audit to confirm it: treaty consumer confirm filing orders@1"
    ]
    assert told(filled, "subscription.declared") == [["audit", "filing"]]
    confirmed = member_of(filled).consumers.confirm("filing", "orders@1")
    assert (confirmed.confirmed, confirmed.warnings) == (True, [])
    assert told(filled, "subscription.confirmed") == [["checkout"]]
    assert [one.confirmed for one in filled.local.consumers.subscriptions().items] == [True]
    assert filled.local.access.verify_audit().whole


def test_only_the_consumers_own_team_confirms(filled: Backend) -> None:
    declare(owner_of(filled))

    for other in (owner_of(filled), member_of(filled, "risk")):
        with pytest.raises(NotAllowed, match="ask a steward, or a contributor of team audit"):
            other.consumers.confirm("filing", "orders@1")
    with pytest.raises(NotFound):
        member_of(filled).consumers.confirm("nobody", "orders@1")
    assert filled.acting_as("stella", "steward").consumers.confirm("filing", "orders@1").confirmed


def test_a_team_has_to_be_named_to_declare_for_it(filled: Backend) -> None:
    with pytest.raises(NotAllowed, match="filing"):
        declare(owner_of(filled), team=None)
    with pytest.raises(NotAllowed):
        declare(filled.acting_as("vic", "viewer"))


def test_a_name_belongs_to_the_team_that_confirmed_it(filled: Backend) -> None:
    declare(member_of(filled))

    with pytest.raises(NotAllowed, match="ask a steward, or a contributor of team audit"):
        declare(member_of(filled, "risk"), team="risk")
    with pytest.raises(NotAllowed):  # it would change what the team itself declared
        declare(owner_of(filled))
    filled.local.register(orders("2.0.0", [ID, PLAN_FIELD], id="stock"))
    stock = owner_of(filled).consumers.subscribe(
        "filing", "stock@2", consumer_class="external_regulatory", team="audit"
    )
    assert not stock.confirmed


def test_two_teams_cannot_confirm_one_name(filled: Backend) -> None:
    declare(owner_of(filled), team="risk")
    filled.local.register(orders(id="stock"))
    member_of(filled).consumers.subscribe("filing", "stock@1", consumer_class="external_regulatory", team="audit")

    with pytest.raises(Refused, match="the consumer name 'filing' belongs to team audit"):
        member_of(filled, "risk").consumers.confirm("filing", "orders@1")


def test_an_unconfirmed_critical_consumer_is_listed_and_not_waited_for(filled: Backend, registry: AnyRegistry) -> None:
    declare(owner_of(filled))

    decision = registry.consumers.can_i_publish(BREAKING)
    (affected,) = registry.consumers.impact(BREAKING).affected
    answer = owner_of(filled).register(BREAKING)

    assert (affected.name, affected.effect, affected.critical, affected.confirmed) == ("filing", "hit", True, False)
    assert decision.answer
    assert ("consumer_unconfirmed", "warning") in [(one.kind, one.severity) for one in decision.reasons]
    assert (answer.status, answer.waits_for, answer.unconfirmed) == ("registered", [], ["filing"])
    (board,) = registry.migrations.list().items
    assert (board.state, board.counts) == ("open", {"waiting": 1})
    assert [one.confirmed for one in registry.migrations.get(board.id).consumers] == [False]


def test_a_consumer_that_is_confirmed_is_waited_for(filled: Backend) -> None:
    declare(owner_of(filled))
    member_of(filled).consumers.confirm("filing", "orders@1")

    assert owner_of(filled).register(BREAKING).waits_for == ["filing"]


def test_ghosts_do_not_hold_up_the_change_of_another_team(filled: Backend) -> None:
    rival = filled.acting_as("rita", "contributor", "rivals")
    count = 300 if filled.kind == "sqlite" else 30  # the others take a round trip for each
    for number in range(count):
        declare(rival, f"ghost-{number}", team="regulator")

    answer = owner_of(filled).register(BREAKING)

    assert (answer.status, answer.waits_for, len(answer.unconfirmed)) == ("registered", [], count)


def test_a_challenge_gives_the_team_two_weeks(filled: Backend) -> None:
    declare(owner_of(filled))

    answer = owner_of(filled).consumers.challenge("filing", "orders@1")
    filled.clock.pass_days(3)
    again = owner_of(filled).consumers.challenge("filing", "orders@1")

    assert (answer.confirmed, answer.confirm_by, again.confirm_by) == (False, date(2026, 3, 15), date(2026, 3, 15))
    assert told(filled, "subscription.challenged") == [["audit", "filing"]]
    declare(filled.acting_as("rita", "contributor", "rivals"))  # declaring it again does not take the challenge back
    (listed,) = filled.local.consumers.subscriptions().items
    assert listed.confirm_by == date(2026, 3, 15)
    confirmed = member_of(filled).consumers.confirm("filing", "orders@1")
    assert (confirmed.confirmed, confirmed.confirm_by) == (True, None)


def test_only_owners_challenge_and_only_what_is_unconfirmed(filled: Backend) -> None:
    declare(owner_of(filled))

    with pytest.raises(NotAllowed, match="may not challenge"):
        member_of(filled, "risk").consumers.challenge("filing", "orders@1")
    member_of(filled).consumers.confirm("filing", "orders@1")
    with pytest.raises(Refused, match="filing is confirmed by team audit"):
        owner_of(filled).consumers.challenge("filing", "orders@1")


def test_the_period_is_a_rule(open_backend: Callable[[RegistryRules], Backend]) -> None:
    backend = open_backend(RegistryRules(confirmation_days=3))
    backend.local.register(orders())
    declare(owner_of(backend))

    assert owner_of(backend).consumers.challenge("filing", "orders@1").confirm_by == date(2026, 3, 4)


def test_a_challenged_consumer_counts_until_its_day(filled: Backend, registry: AnyRegistry) -> None:
    declare(owner_of(filled))
    owner_of(filled).consumers.challenge("filing", "orders@1")

    def hits() -> list[tuple[str, str]]:
        decision = registry.consumers.can_i_publish(HIT)
        return [(one.severity, one.message) for one in decision.reasons if one.kind == "consumer_hit"]

    filled.clock.pass_days(14)
    assert hits() == [("error", "filing is hit (ltv)")]
    filled.clock.pass_days(1)
    assert hits() == [("warning", "filing is hit (ltv) (challenged, unconfirmed)")]


def test_a_line_is_retired_without_consumers_that_no_longer_count(filled: Backend, registry: AnyRegistry) -> None:
    declare(owner_of(filled))
    registry.deprecate_line("orders@1", deprecation_uri=GUIDE)
    filled.clock.pass_days(30)
    registry.tick()
    filled.clock.pass_days(7)
    registry.tick()
    with pytest.raises(Refused, match="filing still reads orders@1"):
        registry.retire_line("orders@1")
    owner_of(filled).consumers.challenge("filing", "orders@1")
    assert not registry.consumers.can_i_retire("orders@1").answer

    filled.clock.pass_days(15)

    decision = registry.consumers.can_i_retire("orders@1")
    assert (decision.answer, [one.name for one in decision.affected]) == (True, ["filing"])
    assert [(one.kind, one.message) for one in decision.reasons] == [
        ("consumer_unconfirmed", "filing is said to read orders@1, and does not count: challenged, unconfirmed")
    ]
    assert [one.status for one in registry.retire_line("orders@1")] == ["retired"]


def test_consumers_of_private_contracts_are_declared_by_their_own_team(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(orders(visibility="private"))

    with pytest.raises(NotAllowed, match="orders is private: only team audit itself or a steward can subscribe filing"):
        declare(owner_of(backend))
    with pytest.raises(NotFound):
        member_of(backend).latest("orders")


def test_an_unconfirmed_subscription_opens_no_private_contract(filled: Backend, registry: AnyRegistry) -> None:
    declare(owner_of(filled))
    registry.register(orders("1.1.0", visibility="private"))

    with pytest.raises(NotFound):
        member_of(filled).latest("orders")
    declare(filled.acting_as("stella", "steward"))
    assert member_of(filled).latest("orders").version == "1.1.0"


def test_the_activity_tells_of_confirmations(filled: Backend, registry: AnyRegistry) -> None:
    declare(owner_of(filled))
    owner_of(filled).consumers.challenge("filing", "orders@1")
    member_of(filled).consumers.confirm("filing", "orders@1")

    assert [one.headline for one in registry.activity(kind="subscription").items] == [
        "member of audit confirmed that filing reads line 1",
        "olga asked for confirmation by 15 Mar 2026 that filing reads line 1",
        "olga subscribed filing to line 1: 1 field; its team has not confirmed it",
    ]
