"""Channels, notices, and reports of broken promises."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from treaty.contracts.text import Limits, check_plain
from treaty.errors import InvalidDocument
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize, may
from treaty.registry.api import NoticesApi
from treaty.registry.documents import check_name
from treaty.registry.model import ChannelAnswer, NoticeAnswer, Page
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.notices.channels import (
    Channel,
    ChannelKind,
    check_channel,
    check_secret,
    parse_channel_kind,
    shown_target,
)
from treaty.registry.notices.secret_box import SecretBox
from treaty.registry.rules import RegistryRules
from treaty.registry.service.channel_secrets import (
    DEFAULT_ROTATION_DAYS,
    EVERYBODY,
    MAX_ROTATION_DAYS,
    channel_answer,
    check_key,
    encrypt_channel,
    finish_rotation,
    party_resource,
    rotate_secret,
)
from treaty.registry.service.context import Context
from treaty.registry.store import notice_records, outbox, subscriptions, versions
from treaty.registry.store.notice_records import ChannelRecord
from treaty.registry.store.transaction import Transaction


class Notices(NoticesApi):
    """The notices of a registry."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def channels(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ChannelAnswer]:
        """List the channels that the actor may manage."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        rows = self._context.read(lambda connection, _: notice_records.list_channels(connection, int(start), limit + 1))
        page = page_of(rows, limit, lambda row: (row.channel.id,))
        mine = [
            channel_answer(record, self._context.secrets)
            for record in page.items
            if may(self._context.actor, Action.NOTIFY, party_resource(record.channel.party))
        ]
        return Page(items=mine, next=page.next)

    def add_channel(self, party: str, *, kind: str, target: str, secret: str | None = None) -> ChannelAnswer:
        """Add a channel for the notices of a team or consumer: webhook, slack, email or log."""
        parsed = check_target(self._context.rules, kind, target, secret)
        box = self._context.secrets
        check_key(box, parsed, secret)
        return self._context.write(
            lambda transaction: add_channel(transaction, self._context.actor, box, party, parsed, target, secret)
        )

    def remove_channel(self, identity: int) -> ChannelAnswer:
        """Remove a channel."""
        box = self._context.secrets
        return self._context.write(lambda transaction: remove_channel(transaction, self._context.actor, box, identity))

    def rotate_secret(self, identity: int, *, secret: str, days: int = DEFAULT_ROTATION_DAYS) -> ChannelAnswer:
        """Give a channel a new secret; for some days, requests are signed with the previous one too."""
        if not 1 <= days <= MAX_ROTATION_DAYS:
            raise InvalidDocument(f"a previous secret stays valid for 1 to {MAX_ROTATION_DAYS} days, not {days}")
        context = self._context
        return context.write(
            lambda transaction: rotate_secret(transaction, context.actor, context.secrets, identity, secret, days)
        )

    def finish_rotation(self, identity: int) -> ChannelAnswer:
        """End the previous secret of a channel now."""
        context = self._context
        return context.write(lambda transaction: finish_rotation(transaction, context.actor, context.secrets, identity))

    def notices(
        self, *, contract: str | None = None, party: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[NoticeAnswer]:
        """List notices with the state of their deliveries."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        rows = self._context.read(
            lambda connection, visibility: notice_records.list_notices(
                connection, visibility, contract, party, int(start), limit + 1
            )
        )
        numbered = page_of(rows, limit, lambda row: (row[0],))
        return Page(items=[notice for _, notice in numbered.items], next=numbered.next)

    def report_breach(
        self, contract: str, *, kind: str, message: str, details: Mapping[str, Any] | None = None
    ) -> NoticeAnswer:
        """Notify owners and consumers of a broken promise: an sla_breach or an exception."""
        actor = self._context.actor
        return self._context.write_to(
            contract,
            lambda transaction, _: report_breach(transaction, actor, contract, kind, message, details or {}),
        )

    def retry(self, *, channel: int | None = None) -> int:
        """Retry deliveries that were given up, and return how many."""
        return self._context.write(lambda transaction: retry(transaction, self._context.actor, channel))


BREACHES = ("sla_breach", "exception")
_MAX_TEXT_LENGTH = 2_000
_DEEPEST = 16
_MAX_DETAILS_LENGTH = 16_000


def check_target(rules: RegistryRules, kind: str, target: str, secret: str | None) -> ChannelKind:
    """Validate the kind, target and secret of a channel; resolves host names."""
    parsed = parse_channel_kind(kind)
    check_channel(parsed, target, rules.addresses, policy=rules.web_policy)
    if parsed is ChannelKind.EMAIL and not rules.can_mail:
        raise InvalidDocument(
            "this registry cannot send e-mail; set notices.smtp.host and notices.smtp.sender, or use another channel"
        )
    check_secret(secret)
    return parsed


def add_channel(
    transaction: Transaction,
    actor: Actor,
    box: SecretBox,
    party: str,
    kind: ChannelKind,
    target: str,
    secret: str | None,
) -> ChannelAnswer:
    """Add a channel for the notices of a party; `*` means every party and needs a steward."""
    check_name(party, "party")
    authorize(actor, Action.NOTIFY, party_resource(party))
    channel = Channel(0, party, kind, target, secret)
    details = {"target": shown_target(channel), "signed": secret is not None}
    identity = transaction.record(actor.name, "channel.add", f"{party} by {kind}", after=details, details=details)
    stored = encrypt_channel(replace(channel, id=identity), box)
    record = ChannelRecord(stored, transaction.now, actor.name)
    notice_records.add_channel(transaction, record)
    return channel_answer(record, box)


def remove_channel(transaction: Transaction, actor: Actor, box: SecretBox, identity: int) -> ChannelAnswer:
    """Remove a channel; notices that wait for it are given up, and its secrets are deleted."""
    removed = channel_answer(notice_records.find_channel(transaction.connection, identity), box)
    authorize(actor, Action.NOTIFY, party_resource(removed.party))
    transaction.record(
        actor.name,
        "channel.remove",
        f"{removed.party} by {removed.kind}",
        before={"target": removed.target, "signed": removed.signed},
        details={"channel": identity},
    )
    notice_records.remove_channel(transaction, identity, removed.target)
    transaction.change(lambda connection: outbox.abandon(connection, identity, "the channel was removed"))
    return removed


def report_breach(
    transaction: Transaction, actor: Actor, contract: str, kind: str, message: str, details: Mapping[str, Any]
) -> NoticeAnswer:
    """Notify owners and consumers of a contract of a broken promise."""
    if kind not in BREACHES:
        raise InvalidDocument(f"unknown kind of breach {kind[:40]!r}; use one of: {', '.join(BREACHES)}")
    if not message.strip() or len(message) > _MAX_TEXT_LENGTH:
        raise InvalidDocument(f"say in 1 to {_MAX_TEXT_LENGTH:,} characters what was breached")
    check_plain(dict(details), "details", Limits(depth=_DEEPEST))
    if len(json.dumps(dict(details))) > _MAX_DETAILS_LENGTH:
        raise InvalidDocument(f"the details have more than {_MAX_DETAILS_LENGTH:,} characters; link the rest")
    owned = versions.highest(transaction.connection, contract)
    if owned is None:
        raise versions.not_found_error(transaction.connection, contract, "")
    authorize(actor, Action.NOTIFY, Resource("contract", contract, owned.teams))
    parties = set(owned.teams)
    for line in {version.line for version in versions.list_versions(transaction.connection, contract)}:
        for subscriber in subscriptions.subscribers(transaction.connection, line):
            parties |= {subscriber.subscription.consumer} | ({subscriber.team} if subscriber.team else set())
    recorded = {"message": message}
    transaction.record(
        actor.name, f"contract.{kind}", contract, after={**recorded, "details": details}, details=recorded
    )
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


def retry(transaction: Transaction, actor: Actor, channel: int | None) -> int:
    """Retry deliveries that were given up."""
    party = EVERYBODY
    if channel is not None:
        party = notice_records.find_channel(transaction.connection, channel).channel.party
    authorize(actor, Action.NOTIFY, party_resource(party))
    again = transaction.change(lambda connection: outbox.retry(connection, transaction.now, channel))
    transaction.record(actor.name, "notice.retry", party, details={"channel": channel, "deliveries": again})
    return again
