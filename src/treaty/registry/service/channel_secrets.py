"""The secrets of channels: encrypted in the database, decrypted to send, and replaced without an interruption."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from treaty.errors import Conflict, Refused, Unavailable
from treaty.registry.access.actors import CALENDAR, Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.model import ChannelAnswer
from treaty.registry.notices.channels import HIDDEN, WEB_KINDS, Channel, ChannelKind, check_secret, shown_target
from treaty.registry.notices.delivery_failures import DeliveryFailed
from treaty.registry.notices.messages import Notice
from treaty.registry.notices.secret_box import SecretBox
from treaty.registry.notices.senders import Sender
from treaty.registry.rules import RegistryRules
from treaty.registry.store import Connection, notice_records
from treaty.registry.store.database import Database
from treaty.registry.store.notice_records import ChannelRecord
from treaty.registry.store.transaction import Transaction

EVERYBODY = "*"
MAX_ROTATION_DAYS = 90
DEFAULT_ROTATION_DAYS = 7
SYSTEM = "upgrade"
_LOG = logging.getLogger("treaty.registry")


def open_box(database: Database, rules: RegistryRules) -> SecretBox:
    """Return the keys of a registry: those of its rules, or for SQLite a key file beside the database."""
    file = Path(f"{database.url.database}.key") if database.on_sqlite else None
    return SecretBox(rules.secret_keys, file)


def check_key(box: SecretBox, kind: ChannelKind, secret: str | None) -> None:
    """Refuse a channel with a secret or a secret URL if there is no key to encrypt it with."""
    if not box.is_available and (kind in WEB_KINDS or secret is not None):
        raise Refused(
            "a channel with a URL or a secret needs a key that encrypts it; set TREATY_SECRET_KEY or "
            "notices.secret_key_file, and create a key with: treaty admin secrets key"
        )


def encrypt_channel(channel: Channel, box: SecretBox) -> Channel:
    """Return a channel as it is stored."""
    return replace(
        channel,
        target=box.encrypt(channel.target) if channel.kind in WEB_KINDS else channel.target,
        secret=box.encrypt(channel.secret) if channel.secret is not None else None,
        previous_secret=box.encrypt(channel.previous_secret) if channel.previous_secret is not None else None,
    )


def decrypt_channel(channel: Channel, box: SecretBox) -> Channel:
    """Return a stored channel with its secrets in plain text; raise Unavailable without the key."""
    return replace(
        channel,
        target=box.decrypt(channel.target) if channel.kind in WEB_KINDS else channel.target,
        secret=box.decrypt(channel.secret) if channel.secret is not None else None,
        previous_secret=box.decrypt(channel.previous_secret) if channel.previous_secret is not None else None,
    )


def decrypting_sender(send: Sender, box: SecretBox) -> Sender:
    """Return a sender of stored channels; a delivery without the key fails and is tried again."""

    def send_decrypted(notice: Notice, channel: Channel, now: datetime) -> None:
        try:
            plain = decrypt_channel(channel, box)
        except Unavailable as error:
            raise DeliveryFailed(str(error)) from None
        send(notice, plain, now)

    return send_decrypted


def channel_answer(record: ChannelRecord, box: SecretBox) -> ChannelAnswer:
    """Return a channel without its secrets and without the path of its URL."""
    channel = record.channel
    return ChannelAnswer(
        id=channel.id,
        party=channel.party,
        kind=channel.kind.value,
        target=_shown_target(channel, box),
        signed=channel.secret is not None,
        rotates_until=channel.previous_until,
        added_by=record.added_by,
        added_at=record.added_at,
    )


def _shown_target(channel: Channel, box: SecretBox) -> str:
    try:
        return shown_target(replace(channel, target=box.decrypt(channel.target)))
    except Unavailable:
        return HIDDEN


def encrypt_plain_channels(database: Database, box: SecretBox) -> int:
    """Encrypt the secrets of earlier versions, and return of how many channels; without a key, log a warning."""
    with database.read() as connection:
        count = len(notice_records.plain_channels(connection))
    if not count:
        return 0
    if not box.is_available:
        _LOG.warning("%d channels have secrets that are not encrypted; set TREATY_SECRET_KEY", count)
        return 0

    def unit(transaction: Transaction) -> int:
        plain = notice_records.plain_channels(transaction.connection)
        if plain:
            transaction.record(SYSTEM, "secrets.encrypt", "channels", details={"channels": len(plain)})
        for channel in plain:
            notice_records.update_secrets(transaction, encrypt_channel(channel, box))
        return len(plain)

    return database.write(unit)


def rotate_keys(database: Database, box: SecretBox, actor: Actor) -> int:
    """Encrypt all secrets again with the first key, and return of how many channels.

    If the key is in a file of the registry, a new key is created first, and the old one is removed at the end.
    """
    if not box.is_available:
        raise Refused("there is no key; set TREATY_SECRET_KEY or notices.secret_key_file")
    authorize(actor, Action.NOTIFY, Resource("channel of", EVERYBODY))
    box.add_key()

    def unit(transaction: Transaction) -> int:
        stored = notice_records.all_channels(transaction.connection)
        secret = [channel for channel in stored if channel.kind in WEB_KINDS or channel.secret is not None]
        transaction.record(actor.name, "secrets.rotate", "channels", details={"channels": len(secret)})
        for channel in secret:
            notice_records.update_secrets(transaction, encrypt_channel(decrypt_channel(channel, box), box))
        return len(secret)

    count = database.write(unit)
    box.drop_old_keys()
    return count


def rotate_secret(
    transaction: Transaction, actor: Actor, box: SecretBox, identity: int, secret: str, days: int
) -> ChannelAnswer:
    """Give a channel a new secret; requests are signed with both until the previous one ends."""
    check_secret(secret)
    record = _managed_channel(transaction, actor, identity)
    channel = record.channel
    check_key(box, channel.kind, secret)
    if channel.previous_secret is not None and channel.previous_until and transaction.now < channel.previous_until:
        raise Conflict(
            f"channel {identity} still has a previous secret until {channel.previous_until:%Y-%m-%d}; "
            f"end it first: treaty admin channel rotate {identity} --finish"
        )
    if channel.secret is not None and box.decrypt(channel.secret) == secret:
        raise Conflict(f"channel {identity} has this secret already; use a new random one")
    until = transaction.now + timedelta(days=days) if channel.secret is not None else None
    changed = replace(channel, secret=box.encrypt(secret), previous_secret=channel.secret, previous_until=until)
    details = {"channel": identity, "until": until.isoformat() if until else None}
    return _change_secrets(transaction, actor, box, record, changed, "channel.rotate", details)


def finish_rotation(transaction: Transaction, actor: Actor, box: SecretBox, identity: int) -> ChannelAnswer:
    """End the previous secret of a channel now."""
    record = _managed_channel(transaction, actor, identity)
    if record.channel.previous_secret is None:
        raise Conflict(f"channel {identity} has no previous secret; nothing is to be ended")
    changed = replace(record.channel, previous_secret=None, previous_until=None)
    return _change_secrets(transaction, actor, box, record, changed, "channel.rotated", {"channel": identity})


def count_ended_rotations(connection: Connection, now: datetime) -> int:
    """Count the previous secrets whose time is over."""
    return len(_ended_rotations(connection, now))


def _ended_rotations(connection: Connection, now: datetime) -> list[Channel]:
    stored = notice_records.all_channels(connection)
    return [channel for channel in stored if channel.previous_until and channel.previous_until <= now]


def end_rotations(transaction: Transaction) -> int:
    """Delete previous secrets whose time is over, and return how many."""
    over = _ended_rotations(transaction.connection, transaction.now)
    for channel in over:
        transaction.record(CALENDAR, "channel.rotated", _subject(channel), details={"channel": channel.id})
        notice_records.update_secrets(transaction, replace(channel, previous_secret=None, previous_until=None))
    return len(over)


def _managed_channel(transaction: Transaction, actor: Actor, identity: int) -> ChannelRecord:
    record = notice_records.find_channel(transaction.connection, identity)
    authorize(actor, Action.NOTIFY, party_resource(record.channel.party))
    return record


def _change_secrets(
    transaction: Transaction,
    actor: Actor,
    box: SecretBox,
    record: ChannelRecord,
    changed: Channel,
    action: str,
    details: Mapping[str, object],
) -> ChannelAnswer:
    transaction.record(actor.name, action, _subject(changed), details=details)
    notice_records.update_secrets(transaction, changed)
    return channel_answer(replace(record, channel=changed), box)


def _subject(channel: Channel) -> str:
    return f"{channel.party} by {channel.kind}"


def party_resource(name: str) -> Resource:
    """Return the resource to authorize for the channels of a party."""
    return Resource("channel of", name, frozenset() if name == EVERYBODY else frozenset({name}))
