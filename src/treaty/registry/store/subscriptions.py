"""Subscriptions and declared lineage in the database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, Select, bindparam, or_, select, text
from sqlalchemy import func as sql

from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.blocks import Upstream
from treaty.contracts.paths import FieldPath
from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument
from treaty.registry.store import versions
from treaty.registry.store.tables import audit, in_batches, subscriptions, upstreams
from treaty.registry.store.transaction import WAITING_UPSTREAMS, Transaction

_S = subscriptions.c
_U = upstreams.c
UpstreamRow: TypeAlias = Row[Any]
NO_LINE = -1
"""The MAJOR of an upstream that is not registered yet; it is resolved on registration."""

_WAITING = select(upstreams).where(_U.upstream == bindparam("upstream"), text("upstream_major = -1 AND active"))
"""Lines that name an unregistered upstream. Written like the partial index: SQLite does not use it otherwise."""


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
    return _all(connection, statement.order_by(_S.consumer))


def subscriptions_of(connection: Connection, consumer: str) -> list[Subscribed]:
    """Return the active subscriptions of a consumer."""
    return _all(connection, _live().where(_S.consumer == consumer).order_by(_S.contract, _S.major))


def page_of_subscriptions(
    connection: Connection,
    contract: str | None,
    consumer: str | None,
    team: str | None,
    after: tuple[str, str, int] | None,
    limit: int,
) -> list[Subscribed]:
    """Return a page of subscriptions, by consumer and line; a consumer without a team is its own team."""
    statement = _live()
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
    return _all(connection, statement.order_by(_S.consumer, _S.contract, _S.major).limit(limit))


def count_readers(connection: Connection, lines: Iterable[Line]) -> dict[Line, int]:
    """Count the active subscriptions of lines; a line without any is left out."""
    counts: dict[Line, int] = {}
    for names in in_batches(sorted({line.contract for line in lines})):
        query = select(_S.contract, _S.major, sql.count()).where(_S.active, _S.contract.in_(names))
        rows = connection.execute(query.group_by(_S.contract, _S.major))
        counts |= {Line(row[0], row[1]): row[2] for row in rows}
    return counts


def teams_of(connection: Connection, consumers: Iterable[str]) -> dict[str, str | None]:
    """Return the team of each consumer that names one."""
    teams: dict[str, str | None] = {}
    for names in in_batches(sorted(consumers)):
        query = select(_S.consumer, _S.team).where(_S.consumer.in_(names), _S.active).order_by(_S.since)
        teams |= {row.consumer: row.team for row in connection.execute(query) if row.team}
    return teams


def consumer_names(connection: Connection) -> list[str]:
    """Return the names of all consumers with an active subscription."""
    return list(connection.execute(select(_S.consumer).distinct().where(_S.active).order_by(_S.consumer)).scalars())


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
    }
    if not transaction.update(subscriptions, key, values):
        transaction.insert(subscriptions, {**key, **values})


def end_subscription(transaction: Transaction, subscription: Subscription, actor: str, revision: int) -> None:
    """Mark a subscription as ended."""
    values = {"active": False, "changed_by": actor, "revision": revision}
    transaction.update(subscriptions, _key(subscription), values)


def _key(subscription: Subscription) -> dict[str, Any]:
    line = subscription.line
    return {"consumer": subscription.consumer, "contract": line.contract, "major": line.major}


def replace_upstreams(transaction: Transaction, line: Line, declared: Iterable[Upstream], revision: int) -> None:
    """Store the upstreams of a line as its newest version declares them."""
    known = select(upstreams).where(_U.contract == line.contract, _U.major == line.major)
    before = {(row.upstream, row.upstream_major): row for row in transaction.read(known)}
    after = _resolved(transaction, declared)
    if any(major == NO_LINE for _, major in after):
        transaction.forget(WAITING_UPSTREAMS)
    for key in before.keys() | after.keys():
        fields = sorted(after.get(key, ()))
        there = before.get(key)
        if there is not None and there.active == (key in after) and there.fields == fields:
            continue
        values = {"fields": fields, "active": key in after, "revision": revision}
        place = {"contract": line.contract, "major": line.major, "upstream": key[0], "upstream_major": key[1]}
        if there is None:
            transaction.insert(upstreams, {**place, **values})
        else:
            transaction.update(upstreams, place, values)


def find_upstreams_of_newcomer(transaction: Transaction, line: Line, revision: int) -> None:
    """Resolve upstreams that were named before the contract was registered."""
    if not transaction.has_waiting_upstreams:
        return
    for row in transaction.read(_WAITING, {"upstream": line.contract}).all():
        declared = [Upstream(contract=f"{line}", fields=tuple(row.fields))]
        others = select(upstreams).where(_U.contract == row.contract, _U.major == row.major, _U.active)
        declared += [
            Upstream(_named(other), None, tuple(other.fields))
            for other in transaction.read(others)
            if (other.upstream, other.upstream_major) != (line.contract, NO_LINE)
        ]
        replace_upstreams(transaction, Line(row.contract, row.major), declared, revision)


def changed_since(connection: Connection, revision: int) -> tuple[list[Subscribed], list[UpstreamRow], int]:
    """Return what changed after a revision: subscriptions, upstreams of lines, and the revision that this goes up to.

    Writes come one after the other, so everything up to the newest audit entry that is seen can be seen; what comes in
    between the queries is left for the next time.
    """
    newest = connection.execute(select(sql.max(audit.c.seq))).scalar_one() or 0
    if newest == revision:
        return [], [], revision
    changed = _all(connection, select(subscriptions).where(_S.revision > revision, _S.revision <= newest))
    rows = connection.execute(select(upstreams).where(_U.revision > revision, _U.revision <= newest)).all()
    return changed, list(rows), newest


def upstreams_of(connection: Connection, line: Line) -> list[UpstreamRow]:
    """Return the upstreams of a line."""
    statement = select(upstreams).where(_U.contract == line.contract, _U.major == line.major, _U.active)
    return list(connection.execute(statement.order_by(_U.upstream, _U.upstream_major)))


def made_from(connection: Connection, line: Line) -> list[tuple[Line, tuple[FieldPath, ...]]]:
    """Return the lines derived from a line, with the fields they use; no fields if unknown."""
    statement = select(upstreams).where(_U.upstream == line.contract, _U.upstream_major == line.major, _U.active)
    rows = connection.execute(statement.order_by(_U.contract, _U.major))
    return [(Line(row.contract, row.major), fields_named(row.fields)) for row in rows]


def fields_named(texts: list[str]) -> tuple[FieldPath, ...]:
    """Parse the fields of a lineage entry; if one is not a path, the fields are unknown."""
    try:
        return parse_fields(texts)
    except InvalidDocument:
        return ()


def _resolved(transaction: Transaction, declared: Iterable[Upstream]) -> dict[tuple[str, int], set[str]]:
    """Resolve each upstream to a line: the one it names, else the highest of the contract."""
    result: dict[tuple[str, int], set[str]] = {}
    for upstream in declared:
        if upstream.contract is None:
            continue
        line = _line_named(transaction, upstream.contract)
        known = line not in result or bool(result[line])
        result.setdefault(line, set()).update(upstream.fields)
        if not upstream.fields or not known:  # from which fields is unknown, whatever else is said of the same line
            result[line].clear()
    return result


def _line_named(transaction: Transaction, text: str) -> tuple[str, int]:
    highest = versions.highest(transaction.connection, text)
    if highest is not None:
        return text, highest.major
    try:
        line = parse_line(text)
    except InvalidDocument:
        return text, NO_LINE
    return line.contract, line.major


def _named(row: Row[Any]) -> str:
    return str(row.upstream) if row.upstream_major == NO_LINE else str(Line(row.upstream, row.upstream_major))


def _live() -> Select[Any]:
    return select(subscriptions).where(_S.active)


def _all(connection: Connection, statement: Select[Any]) -> list[Subscribed]:
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
    )
    return Subscribed(subscription, row.team, row.since, row.changed_by, row.active, row.revision)
