"""Confirmation of consumers: by whom a subscription counts as declared, and who may confirm or challenge it."""

from __future__ import annotations

from datetime import timedelta

from treaty.contracts.versions import Line
from treaty.errors import Refused
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize, may
from treaty.registry.not_found import not_reading
from treaty.registry.rules import RegistryRules
from treaty.registry.store import subscriptions, versions
from treaty.registry.store.subscriptions import Subscribed
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Sight, public_sight

HIDDEN_CONSUMER = "a consumer you may not see"


def consumer_resource(consumer: str, team: str) -> Resource:
    """Return the resource to authorize for a subscription of a team's consumer."""
    return Resource("subscription", consumer, frozenset({team}))


def check_declaration(
    transaction: Transaction, actor: Actor, consumer: str, team: str | None, named: str | None, there: Subscribed | None
) -> bool:
    """Check that the actor may declare a subscription; return whether the declaration also confirms it.

    Members of the consumer's team and stewards confirm what they declare. Members of other teams may declare a consumer
    of a team that they name (`named`), which is then unconfirmed. They cannot change a confirmed subscription, and the
    name of a consumer belongs to the team that confirmed it first.
    """
    owner = subscriptions.confirmed_team(transaction.connection, consumer)
    speaks_for = team or consumer
    is_foreign_name = owner is not None and owner != speaks_for
    if is_foreign_name and owner is not None:
        authorize(actor, Action.SUBSCRIBE, consumer_resource(consumer, owner))
    if may(actor, Action.SUBSCRIBE, consumer_resource(consumer, speaks_for)):
        return True
    is_confirmed = there is not None and there.active and there.subscription.is_confirmed
    own_teams = frozenset(grant.team for grant in actor.grants if grant.team is not None)
    if named is None or is_confirmed or is_foreign_name or not own_teams:
        authorize(actor, Action.SUBSCRIBE, consumer_resource(consumer, speaks_for))
    authorize(actor, Action.SUBSCRIBE, Resource("subscription", consumer, own_teams))
    return False


def confirm(transaction: Transaction, actor: Actor, sight: Sight, consumer: str, line: Line) -> Subscribed:
    """Confirm a subscription that another team declared; it counts like any other from now on."""
    there = find_active(transaction, sight, consumer, line)
    speaks_for = there.team or consumer
    owner = subscriptions.confirmed_team(transaction.connection, consumer)
    authorize(actor, Action.SUBSCRIBE, consumer_resource(consumer, speaks_for))
    if there.subscription.is_confirmed:
        return there
    if owner is not None and owner != speaks_for:
        raise Refused(
            f"the consumer name {consumer!r} belongs to team {owner}, which confirmed it first; "
            f"subscribe under another name, or ask {owner}"
        )
    revision = transaction.record(
        actor.name, "subscription.confirm", f"{consumer} -> {line}", details={"team": there.team}
    )
    subscriptions.confirm_subscription(transaction, there.subscription, actor.name, revision)
    transaction.notify(
        "subscription.confirmed",
        line.contract,
        f"{shown_consumer(transaction, consumer)} reads {line}, as {speaks_for} confirms",
        parties=versions.owners_of(transaction.connection, line),
    )
    return find_active(transaction, sight, consumer, line)


def challenge(
    transaction: Transaction, actor: Actor, sight: Sight, rules: RegistryRules, consumer: str, line: Line
) -> Subscribed:
    """Ask the team of an unconfirmed consumer to confirm it in time; otherwise the subscription stops counting."""
    there = find_active(transaction, sight, consumer, line)
    owners = versions.owners_of(transaction.connection, line)
    authorize(actor, Action.CHALLENGE, Resource("subscription", consumer, frozenset(owners)))
    if there.subscription.is_confirmed:
        team = there.team or consumer
        raise Refused(f"{consumer} is confirmed by team {team}; only unconfirmed consumers can be challenged")
    if there.subscription.confirm_by is not None:
        return there
    confirm_by = transaction.now.date() + timedelta(days=rules.confirmation_days)
    revision = transaction.record(
        actor.name,
        "subscription.challenge",
        f"{consumer} -> {line}",
        details={"team": there.team, "confirm_by": str(confirm_by)},
    )
    subscriptions.challenge_subscription(transaction, there.subscription, confirm_by, actor.name, revision)
    transaction.notify(
        "subscription.challenged",
        line.contract,
        f"{shown_consumer(transaction, consumer)} is said to read {line}: confirm it by {confirm_by}, or it no longer "
        "counts: treaty consumer confirm",
        details={"confirm_by": str(confirm_by)},
        parties={consumer} | ({there.team} if there.team else set()),
    )
    return find_active(transaction, sight, consumer, line)


def find_active(transaction: Transaction, sight: Sight, consumer: str, line: Line) -> Subscribed:
    """Return an active subscription, or raise NotFound."""
    there = subscriptions.find_subscription(transaction.connection, consumer, line)
    if there is None or not there.active or not sight.sees(line.contract):
        raise not_reading(consumer, str(line))
    return there


def shown_consumer(transaction: Transaction, consumer: str) -> str:
    """Return the name of a consumer in a notice, which must not name a private contract."""
    return consumer if is_public(transaction, consumer) else HIDDEN_CONSUMER


def is_public(transaction: Transaction, name: str) -> bool:
    """Return whether everyone may see a contract or a consumer; one with the name of a private contract is the same."""
    return public_sight(transaction).sees(name)
