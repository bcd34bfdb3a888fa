"""Notices: where parties want them, what they were told, and breaches that somebody reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, Text, cast, insert, select, update

from treaty.contracts.text import Limits, check_plain
from treaty.errors import InvalidDocument, NotFound
from treaty.registry.access.actors import Actor
from treaty.registry.access.rules import Action, Resource, authorize
from treaty.registry.answers import ChannelAnswer, DeliveryAnswer, NoticeAnswer
from treaty.registry.ground_rules import GroundRules
from treaty.registry.names import check_name
from treaty.registry.notices import outbox
from treaty.registry.notices.channels import Channel, ChannelKind, check_channel, parse_channel_kind, shown_target
from treaty.registry.notices.secrets import check_secret
from treaty.registry.store import dependence, kept
from treaty.registry.store.tables import channels, deliveries, notices
from treaty.registry.store.transaction import CHANNELS, Transaction

EVERYBODY = "*"
BREACHES = ("sla_breach", "exception")
_LONGEST_TEXT = 2_000
_DEEPEST = 16
_LARGEST_DETAILS = 16_000


def check_target(rules: GroundRules, kind: str, target: str, secret: str | None) -> ChannelKind:
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
    owned = kept.highest(transaction.connection, contract)
    if owned is None:
        raise kept.missing(transaction.connection, contract, "")
    authorize(actor, Action.NOTIFY, Resource("contract", contract, owned.teams))
    parties = set(owned.teams)
    for line in {one.line for one in kept.of_contract(transaction.connection, contract)}:
        for one in dependence.subscribers(transaction.connection, line):
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
