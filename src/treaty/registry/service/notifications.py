"""Notices: where they go, what was told, and promises that were not kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, Text, cast, insert, select, update

from treaty.contracts.text import Limits, check_plain
from treaty.errors import InvalidDocument, NotFound
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize, may
from treaty.registry.model import ChannelAnswer, DeliveryAnswer, NoticeAnswer, Page
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.notices.channels import (
    Channel,
    ChannelKind,
    check_channel,
    check_secret,
    parse_channel_kind,
    shown_target,
)
from treaty.registry.rules import RegistryRules
from treaty.registry.service.context import Context
from treaty.registry.store import outbox, subscriptions, versions
from treaty.registry.store.tables import channels, deliveries, notices
from treaty.registry.store.transaction import CHANNELS, Transaction
from treaty.registry.validation import check_name


class Notices:
    """The notices of a registry."""

    def __init__(self, desk: Context) -> None:
        self._desk = desk

    def channels(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ChannelAnswer]:
        """List where parties get their notices, as far as they are the actor's to know."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        found = self._desk.read(lambda it: page_of_channels(it, int(start), limit + 1))
        page = page_of(found, limit, lambda one: (one.id,))
        mine = [one for one in page.items if may(self._desk.actor, Action.NOTIFY, party_resource(one.party))]
        return Page(items=mine, next=page.next)

    def add_channel(self, party: str, *, kind: str, target: str, secret: str | None = None) -> ChannelAnswer:
        """Send a team or consumer its notices: by webhook, slack, email or log."""
        parsed = check_target(self._desk.rules, kind, target, secret)
        return self._desk.write(lambda it: add_channel(it, self._desk.actor, party, parsed, target, secret))

    def remove_channel(self, identity: int) -> ChannelAnswer:
        """Send nothing to a channel any more."""
        return self._desk.write(lambda it: remove_channel(it, self._desk.actor, identity))

    def notices(
        self, *, contract: str | None = None, party: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[NoticeAnswer]:
        """List what was told, and how far it got."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        found = self._desk.read(lambda it: page_of_notices(it, contract, party, int(start), limit + 1))
        numbered = page_of(found, limit, lambda one: (one[0],))
        return Page(items=[notice for _, notice in numbered.items], next=numbered.next)

    def report_breach(
        self, contract: str, *, kind: str, message: str, details: Mapping[str, Any] | None = None
    ) -> NoticeAnswer:
        """Tell owners and consumers that a promise was not kept: an sla_breach or an exception."""
        return self._desk.write(lambda it: report_breach(it, self._desk.actor, contract, kind, message, details or {}))

    def retry(self, *, channel: int | None = None) -> int:
        """Try again to deliver what was given up; return how much that is."""
        return self._desk.write(lambda it: retry(it, self._desk.actor, channel))


EVERYBODY = "*"
BREACHES = ("sla_breach", "exception")
_LONGEST_TEXT = 2_000
_DEEPEST = 16
_LARGEST_DETAILS = 16_000


def check_target(rules: RegistryRules, kind: str, target: str, secret: str | None) -> ChannelKind:
    """Refuse a channel that leads nowhere, or to where it may not; it looks up host names."""
    parsed = parse_channel_kind(kind)
    check_channel(parsed, target, rules.addresses)
    check_secret(secret)
    return parsed


def add_channel(
    transaction: Transaction, actor: Actor, party: str, kind: ChannelKind, target: str, secret: str | None
) -> ChannelAnswer:
    """Send a party its notices from now on; `*` stands for every party, and is for stewards."""
    check_name(party, "party")
    authorize(actor, Action.NOTIFY, party_resource(party))
    shown = {"target": shown_target(Channel(0, party, kind, target)), "signed": secret is not None}
    identity = transaction.record(actor.name, "channel.add", f"{party} by {kind}", after=shown, details=shown)
    transaction.write(
        insert(channels).values(
            id=identity,
            party=party,
            kind=kind.value,
            target=target,
            secret=secret,
            added_at=transaction.now,
            added_by=actor.name,
        )
    )
    transaction.forget(CHANNELS)
    return channel_answer(_channel(transaction.connection, identity))


def remove_channel(transaction: Transaction, actor: Actor, identity: int) -> ChannelAnswer:
    """Send nothing to a channel any more; what waits for it is given up."""
    row = _channel(transaction.connection, identity)
    authorize(actor, Action.NOTIFY, party_resource(row.party))
    shown = channel_answer(row)
    transaction.record(
        actor.name,
        "channel.remove",
        f"{row.party} by {row.kind}",
        before={"target": shown.target, "signed": shown.signed},
        details={"channel": identity},
    )
    transaction.write(update(channels).where(channels.c.id == identity).values(removed_at=transaction.now))
    transaction.change(lambda connection: outbox.abandon(connection, identity, "the channel was removed"))
    return shown


def page_of_channels(connection: Connection, after: int, limit: int) -> list[ChannelAnswer]:
    """Return some channels, in the order they were added."""
    asked = select(channels).where(channels.c.id > after, channels.c.removed_at.is_(None))
    return [channel_answer(row) for row in connection.execute(asked.order_by(channels.c.id).limit(limit))]


def report_breach(
    transaction: Transaction, actor: Actor, contract: str, kind: str, message: str, details: Mapping[str, Any]
) -> NoticeAnswer:
    """Tell the owners and everybody who reads a contract that a promise was not kept."""
    if kind not in BREACHES:
        raise InvalidDocument(f"unknown kind of breach {kind[:40]!r}; use one of: {', '.join(BREACHES)}")
    if not message.strip() or len(message) > _LONGEST_TEXT:
        raise InvalidDocument(f"say in 1 to {_LONGEST_TEXT:,} characters what was breached")
    check_plain(dict(details), "details", Limits(depth=_DEEPEST))
    if len(json.dumps(dict(details))) > _LARGEST_DETAILS:
        raise InvalidDocument(f"the details have more than {_LARGEST_DETAILS:,} characters; link the rest")
    owned = versions.highest(transaction.connection, contract)
    if owned is None:
        raise versions.missing(transaction.connection, contract, "")
    authorize(actor, Action.NOTIFY, Resource("contract", contract, owned.teams))
    parties = set(owned.teams)
    for line in {one.line for one in versions.of_contract(transaction.connection, contract)}:
        for one in subscriptions.subscribers(transaction.connection, line):
            parties |= {one.subscription.consumer} | ({one.team} if one.team else set())
    told = {"message": message}
    transaction.record(actor.name, f"contract.{kind}", contract, after={**told, "details": details}, details=told)
    identity = transaction.notify(
        f"contract.{kind}", contract, message, version=owned.version, details=details, parties=parties
    )
    return NoticeAnswer(
        id=identity,
        at=transaction.now,
        kind=f"contract.{kind}",
        contract=contract,
        version=owned.version,
        headline=message,
        details=dict(details),
        parties=sorted(parties),
    )


def page_of_notices(
    connection: Connection, contract: str | None, party: str | None, after: int, limit: int
) -> list[tuple[int, NoticeAnswer]]:
    """Return some notices with how far they got, in the order they were made; each with its number."""
    asked = select(notices).where(notices.c.seq > after).order_by(notices.c.seq)
    if contract is not None:
        asked = asked.where(notices.c.contract == contract)
    if party is not None:  # in the list as it is written; quotes keep one name from being found in another
        asked = asked.where(cast(notices.c.parties, Text).contains(json.dumps(party), autoescape=True))
    found = list(connection.execute(asked.limit(limit)))
    sent = _deliveries(connection, [row.seq for row in found])
    return [(row.seq, _notice_answer(row, sent.get(row.seq, []))) for row in found]


def retry(transaction: Transaction, actor: Actor, channel: int | None) -> int:
    """Try again to deliver what was given up."""
    party = _channel(transaction.connection, channel).party if channel is not None else EVERYBODY
    authorize(actor, Action.NOTIFY, party_resource(party))
    again = transaction.change(lambda connection: outbox.retry(connection, transaction.now, channel))
    transaction.record(actor.name, "notice.retry", party, details={"channel": channel, "deliveries": again})
    return again


def channel_answer(row: Row[Any]) -> ChannelAnswer:
    """Return a channel without what is secret about it."""
    channel = Channel(row.id, row.party, ChannelKind(row.kind), row.target, row.secret)
    return ChannelAnswer(
        id=row.id,
        party=row.party,
        kind=row.kind,
        target=shown_target(channel),
        signed=row.secret is not None,
        added_by=row.added_by,
        added_at=row.added_at,
    )


def party_resource(name: str) -> Resource:
    """Return what is acted on where a party's channels are."""
    return Resource("channel of", name, frozenset() if name == EVERYBODY else frozenset({name}))


def _channel(connection: Connection, identity: int) -> Row[Any]:
    asked = select(channels).where(channels.c.id == identity, channels.c.removed_at.is_(None))
    row = connection.execute(asked).one_or_none()
    if row is None:
        raise NotFound(f"no channel {identity}; see: treaty channel list")
    return row


def _deliveries(connection: Connection, seqs: list[int]) -> dict[int, list[DeliveryAnswer]]:
    found: dict[int, list[DeliveryAnswer]] = {}
    asked = select(deliveries).where(deliveries.c.notice.in_(seqs)).order_by(deliveries.c.notice, deliveries.c.channel)
    for row in connection.execute(asked):
        answer = DeliveryAnswer(**{name: row._mapping[name] for name in DeliveryAnswer.model_fields})
        found.setdefault(row.notice, []).append(answer)
    return found


def _notice_answer(row: Row[Any], sent: list[DeliveryAnswer]) -> NoticeAnswer:
    names = set(NoticeAnswer.model_fields) - {"deliveries"}
    return NoticeAnswer(**{name: row._mapping[name] for name in names}, deliveries=sent)
