"""Subscriptions in the database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, or_, select, tuple_
from sqlalchemy import func as sql

from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.versions import Line
from treaty.registry.store.tables import in_batches, subscriptions
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import EVERYTHING_VISIBLE, Visibility

_S = subscriptions.c


@dataclass(frozen=True, slots=True)
class Subscribed:
    """A row of a subscription."""

    subscription: Subscription
    team: str | None
    since: datetime
    changed_by: str
    active: bool
    revision: int


def subscribers(connection: Connection, line: Line) -> list[Subscribed]:
    """Return the active subscriptions of a line, by consumer."""
    statement = _live().where(_S.contract == line.contract, _S.major == line.major)
    return _fetch_subscriptions(connection, statement.order_by(_S.consumer))


def subscriptions_of(
    connection: Connection, consumer: str, visibility: Visibility = EVERYTHING_VISIBLE
) -> list[Subscribed]:
    """Return the active subscriptions of a consumer."""
    statement = _live().where(_S.consumer == consumer, *visibility.subscription_conditions())
    return _fetch_subscriptions(connection, statement.order_by(_S.contract, _S.major))


def page_of_subscriptions(
    connection: Connection,
    visibility: Visibility,
    contract: str | None,
    consumer: str | None,
    team: str | None,
    after: tuple[str, str, int] | None,
    limit: int,
) -> list[Subscribed]:
    """Return a page of subscriptions, by consumer and line; a consumer without a team is its own team."""
    statement = _live().where(*visibility.subscription_conditions())
    if team is not None:
        statement = statement.where(sql.coalesce(_S.team, _S.consumer) == team)
    if contract is not None:
        statement = statement.where(_S.contract == contract)
    if consumer is not None:
        statement = statement.where(_S.consumer == consumer)
    if after is not None:
        name, of, major = after
        statement = statement.where(
            or_(
                _S.consumer > name,
                (_S.consumer == name) & (_S.contract > of),
                (_S.consumer == name) & (_S.contract == of) & (_S.major > major),
            )
        )
    return _fetch_subscriptions(connection, statement.order_by(_S.consumer, _S.contract, _S.major).limit(limit))


def count_readers(connection: Connection, lines: Iterable[Line]) -> dict[Line, int]:
    """Count the active subscriptions of lines; a line without any is left out."""
    counts: dict[Line, int] = {}
    for names in in_batches(sorted({line.contract for line in lines})):
        query = select(_S.contract, _S.major, sql.count()).where(_S.active, _S.contract.in_(names))
        rows = connection.execute(query.group_by(_S.contract, _S.major))
        counts |= {Line(row[0], row[1]): row[2] for row in rows}
    return counts


def teams_of(connection: Connection, visibility: Visibility, consumers: Iterable[str]) -> dict[str, str | None]:
    """Return the team of each consumer that names one."""
    teams: dict[str, str | None] = {}
    for names in in_batches(sorted(consumers)):
        query = select(_S.consumer, _S.team).where(_S.consumer.in_(names), _S.active)
        query = query.where(*visibility.subscription_conditions()).order_by(_S.since)
        teams |= {row.consumer: row.team for row in connection.execute(query) if row.team}
    return teams


def consumer_names(connection: Connection, visibility: Visibility) -> list[str]:
    """Return the names of all consumers with an active subscription."""
    query = select(_S.consumer).distinct().where(_S.active, *visibility.subscription_conditions())
    return list(connection.execute(query.order_by(_S.consumer)).scalars())


def known_consumers(connection: Connection, names: Sequence[str]) -> set[str]:
    """Return those of some names that consumers with an active subscription have."""
    known: set[str] = set()
    for some in in_batches(names):
        query = select(_S.consumer).distinct().where(_S.active, _S.consumer.in_(some))
        known.update(connection.execute(query).scalars())
    return known


def active_subscriptions(
    connection: Connection, keys: Iterable[tuple[str, Line]]
) -> dict[tuple[str, Line], Subscribed]:
    """Return the active subscriptions of some consumers to some lines."""
    found: dict[tuple[str, Line], Subscribed] = {}
    for some in in_batches(sorted((consumer, line.contract, line.major) for consumer, line in set(keys))):
        rows = _fetch_subscriptions(connection, _live().where(tuple_(_S.consumer, _S.contract, _S.major).in_(some)))
        found |= {(row.subscription.consumer, row.subscription.line): row for row in rows}
    return found


def find_subscription(connection: Connection, consumer: str, line: Line) -> Subscribed | None:
    """Return a subscription, ended or not."""
    statement = select(subscriptions).where(
        _S.consumer == consumer, _S.contract == line.contract, _S.major == line.major
    )
    row = connection.execute(statement).one_or_none()
    return None if row is None else _subscribed(row)


def put_subscription(
    transaction: Transaction, subscription: Subscription, team: str | None, actor: str, revision: int, since: datetime
) -> None:
    """Insert or update a subscription."""
    key = _key(subscription)
    values: dict[str, Any] = {
        "consumer_class": subscription.consumer_class.value,
        "fields": [str(path) for path in subscription.fields],
        "purpose": subscription.purpose,
        "latency": subscription.latency,
        "contact": subscription.contact,
        "team": team,
        "since": since,
        "changed_by": actor,
        "active": True,
        "revision": revision,
        "unconfirmed_since": None if subscription.is_confirmed else transaction.now,
        "confirm_by": subscription.confirm_by,
    }
    if not transaction.update(subscriptions, key, values):
        transaction.insert(subscriptions, {**key, **values})


def confirm_subscription(transaction: Transaction, subscription: Subscription, actor: str, revision: int) -> None:
    """Mark a subscription as confirmed."""
    values = {"unconfirmed_since": None, "confirm_by": None, "changed_by": actor, "revision": revision}
    transaction.update(subscriptions, _key(subscription), values)


def challenge_subscription(
    transaction: Transaction, subscription: Subscription, confirm_by: date, actor: str, revision: int
) -> None:
    """Set the last day to confirm a subscription."""
    values = {"confirm_by": confirm_by, "changed_by": actor, "revision": revision}
    transaction.update(subscriptions, _key(subscription), values)


def confirmed_team(connection: Connection, consumer: str) -> str | None:
    """Return the team that the name of a consumer belongs to: that of its first confirmed subscription."""
    query = select(_S.team).where(_S.consumer == consumer, _S.unconfirmed_since.is_(None))
    row = connection.execute(query.order_by(_S.active.desc(), _S.since).limit(1)).one_or_none()
    return None if row is None else row.team or consumer


def end_subscription(transaction: Transaction, subscription: Subscription, actor: str, revision: int) -> None:
    """Mark a subscription as ended."""
    values = {"active": False, "changed_by": actor, "revision": revision}
    transaction.update(subscriptions, _key(subscription), values)


def _key(subscription: Subscription) -> dict[str, Any]:
    line = subscription.line
    return {"consumer": subscription.consumer, "contract": line.contract, "major": line.major}


def rows_between(connection: Connection, revision: int, newest: int) -> list[Subscribed]:
    """Return the subscriptions that changed after a revision, up to another one."""
    return _fetch_subscriptions(connection, select(subscriptions).where(_S.revision > revision, _S.revision <= newest))


def _live() -> Select[Any]:
    return select(subscriptions).where(_S.active)


def _fetch_subscriptions(connection: Connection, statement: Select[Any]) -> list[Subscribed]:
    return [_subscribed(row) for row in connection.execute(statement)]


def _subscribed(row: Row[Any]) -> Subscribed:
    subscription = Subscription(
        row.consumer,
        Line(row.contract, row.major),
        ConsumerClass(row.consumer_class),
        parse_fields(row.fields),
        row.purpose,
        row.latency,
        row.contact,
        row.unconfirmed_since is None,
        row.confirm_by,
    )
    return Subscribed(subscription, row.team, row.since, row.changed_by, row.active, row.revision)
