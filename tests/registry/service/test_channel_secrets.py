"""Channel secrets are encrypted at rest, replaced without an interruption, and never shown."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from tests.registry.backends import RULES, SECRET_KEY, START, AnyRegistry, Backend, Clock
from treaty.errors import Conflict, InvalidDocument, NotAllowed, NotFound, Refused
from treaty.registry.notices.channels import Channel
from treaty.registry.notices.delivery_failures import DeliveryFailed
from treaty.registry.notices.secret_box import SecretBox, new_key
from treaty.registry.service import Registry
from treaty.registry.service.channel_secrets import decrypting_sender, end_rotations, rotate_keys
from treaty.registry.store.backup import back_up
from treaty.registry.store.notice_records import all_channels

TARGET = "https://93.184.215.14/hooks/T0/very-private"
SECRET, NEWER = "whsec-0123456789", "whsec-9876543210"


def add(registry: AnyRegistry, **more: Any) -> int:
    values = {"kind": "webhook", "target": TARGET, "secret": SECRET, **more}
    return registry.notices.add_channel("checkout", **values).id


def row(backend: Backend) -> Any:
    [found] = backend.rows("SELECT target, secret, previous_secret FROM channels WHERE removed_at IS NULL")
    return found


def stored(backend: Backend) -> Channel:
    with backend.database.read() as connection:
        [channel] = all_channels(connection)
    return channel


def test_neither_the_url_nor_the_secret_is_in_the_database(backend: Backend, registry: AnyRegistry) -> None:
    add(registry)

    assert all(value.startswith("enc1:gAAAA") for value in row(backend)[:2])
    assert "very-private" not in str(backend.rows("SELECT * FROM channels") + backend.rows("SELECT * FROM audit"))
    assert registry.access.verify_audit().whole


@pytest.mark.parametrize(("kind", "target"), [("email", "team@example.org"), ("log", "treaty.checkout")])
def test_a_target_that_is_no_secret_stays_readable(
    open_backend: Callable[..., Backend], kind: str, target: str
) -> None:
    backend = open_backend(replace(RULES, can_mail=True))

    add(backend.local, kind=kind, target=target, secret=None)

    assert row(backend).target == target


def test_a_backup_contains_only_ciphertext(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        add(registry)
        back_up(registry.context.database, tmp_path / "backup.db")

    content = (tmp_path / "backup.db").read_bytes()
    assert b"enc1:" in content
    assert b"very-private" not in content
    assert SECRET.encode() not in content


def test_sqlite_without_a_key_creates_one_beside_the_database(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        assert not (tmp_path / "registry.db.key").exists()
        add(registry)
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        assert [one.target for one in registry.notices.channels().items] == ["https://93.184.215.14/…"]

    assert (tmp_path / "registry.db.key").exists()


def test_postgresql_without_a_key_takes_no_channel_with_a_secret(postgresql_database: str) -> None:
    with Registry.open(postgresql_database, rules=replace(RULES, can_mail=True)) as registry:
        for values in ({}, {"secret": None}, {"kind": "email", "target": "team@example.org"}):
            with pytest.raises(Refused, match=r"set TREATY_SECRET_KEY or notices\.secret_key_file"):
                add(registry, **values)
        add(registry, kind="log", target="", secret=None)


def test_secrets_of_an_earlier_version_are_encrypted_when_the_registry_opens(tmp_path: Path) -> None:
    path = str(tmp_path / "registry.db")
    with Registry.open(path) as registry:
        identity = add(registry)

        def as_before(connection: Any) -> None:
            values = {"id": identity, "target": TARGET, "secret": SECRET}
            connection.execute(text("UPDATE channels SET target = :target, secret = :secret WHERE id = :id"), values)

        registry.context.database.change(as_before)

    with Registry.open(path, rules=replace(RULES, secret_keys=(SECRET_KEY,))) as registry:
        with registry.context.database.read() as connection:
            [channel] = all_channels(connection)
        entry = registry.access.audit().items[-1]
        whole = registry.access.verify_audit().whole

    assert SecretBox((SECRET_KEY,)).decrypt(channel.target) == TARGET
    assert SecretBox((SECRET_KEY,)).decrypt(channel.secret or "") == SECRET
    assert (entry.actor, entry.action, entry.details, whole) == ("upgrade", "secrets.encrypt", {"channels": 1}, True)


def test_secrets_that_cannot_be_encrypted_are_reported(
    postgresql_database: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Registry.open(postgresql_database, rules=replace(RULES, secret_keys=(SECRET_KEY,))) as registry:
        add(registry)
        plain = text("UPDATE channels SET secret = 'x'")
        registry.context.database.change(lambda connection: connection.execute(plain))

    with caplog.at_level(logging.WARNING), Registry.open(postgresql_database):
        assert "1 channels have secrets that are not encrypted; set TREATY_SECRET_KEY" in caplog.text


def test_a_key_is_replaced_and_the_old_one_is_not_needed_any_more(open_backend: Callable[..., Backend]) -> None:
    new = new_key()
    backend = open_backend(replace(RULES, secret_keys=(SECRET_KEY,)))
    add(backend.local)
    context = backend.local.context

    assert rotate_keys(backend.database, SecretBox((new, SECRET_KEY)), context.actor) == 1

    assert SecretBox((new,)).decrypt(row(backend).target) == TARGET
    assert backend.local.access.audit().items[-1].action == "secrets.rotate"
    assert backend.local.access.verify_audit().whole
    assert [one.target for one in backend.local.notices.channels().items] == ["…"]


def test_the_key_file_of_sqlite_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "registry.db.key"
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        add(registry)
        before = file.read_text()
        context = registry.context
        rotate_keys(context.database, SecretBox(file=file), context.actor)
        listed = registry.notices.channels().items

    assert [one.target for one in listed] == ["https://93.184.215.14/…"]
    assert file.read_text() != before
    assert len(file.read_text().split()) == 1


def test_a_removed_channel_keeps_no_secret(backend: Backend, registry: AnyRegistry) -> None:
    registry.notices.remove_channel(add(registry))

    assert backend.rows("SELECT target, secret FROM channels") == [("https://93.184.215.14/…", None)]
    assert registry.access.verify_audit().whole


def test_a_new_secret_is_used_beside_the_previous_one_for_a_time(
    backend: Backend, registry: AnyRegistry, clock: Clock
) -> None:
    identity = add(registry)

    answer = registry.notices.rotate_secret(identity, secret=NEWER, days=3)

    assert answer.rotates_until == START + timedelta(days=3)
    plain = SecretBox((SECRET_KEY,))
    channel = stored(backend)
    signing = [plain.decrypt(secret) for secret in channel.signing_secrets(START)]
    assert signing == [NEWER, SECRET]
    assert len(channel.signing_secrets(START + timedelta(days=3))) == 1
    assert registry.access.audit().items[-1].action == "channel.rotate"
    assert registry.access.verify_audit().whole


def test_a_rotation_is_finished_by_request(backend: Backend, registry: AnyRegistry) -> None:
    identity = add(registry)
    registry.notices.rotate_secret(identity, secret=NEWER)

    with pytest.raises(Conflict, match="still has a previous secret until 2026-03-08"):
        registry.notices.rotate_secret(identity, secret="whsec-5555555555")  # noqa: S106
    answer = registry.notices.finish_rotation(identity)

    assert answer.rotates_until is None
    assert row(backend).previous_secret is None
    with pytest.raises(Conflict, match="has no previous secret"):
        registry.notices.finish_rotation(identity)


def test_a_rotation_ends_by_itself(backend: Backend, clock: Clock) -> None:
    backend.local.notices.rotate_secret(add(backend.local), secret=NEWER, days=3)

    assert backend.database.write(end_rotations) == 0
    clock.pass_days(3)
    assert backend.database.write(end_rotations) == 1

    assert row(backend).previous_secret is None
    assert backend.local.access.verify_audit().whole


def test_what_a_rotation_refuses(backend: Backend, registry: AnyRegistry) -> None:
    identity = add(registry)

    with pytest.raises(InvalidDocument):
        registry.notices.rotate_secret(identity, secret="short")  # noqa: S106
    with pytest.raises(InvalidDocument):
        registry.notices.rotate_secret(identity, secret=NEWER, days=91)
    with pytest.raises(Conflict, match="has this secret already"):
        registry.notices.rotate_secret(identity, secret=SECRET)
    with pytest.raises(NotFound):
        registry.notices.rotate_secret(identity + 1, secret=NEWER)
    for other in (backend.acting_as("mia", "owner", "growth"), backend.acting_as("vic", "viewer")):
        with pytest.raises(NotAllowed):
            other.notices.rotate_secret(identity, secret=NEWER)
        with pytest.raises(NotAllowed):
            other.notices.finish_rotation(identity)


def test_a_channel_without_a_secret_gets_one(backend: Backend, registry: AnyRegistry) -> None:
    answer = registry.notices.rotate_secret(add(registry, secret=None), secret=NEWER)

    assert (answer.signed, answer.rotates_until) == (True, None)


def test_a_delivery_without_the_key_fails_and_is_tried_again(backend: Backend) -> None:
    add(backend.local)
    sent: list[Channel] = []

    def send(_notice: Any, channel: Channel, _now: Any) -> None:
        sent.append(channel)

    with pytest.raises(DeliveryFailed, match="cannot be decrypted") as failure:
        decrypting_sender(send, SecretBox((new_key(),)))(None, stored(backend), START)  # type: ignore[arg-type]
    assert not failure.value.permanent

    decrypting_sender(send, SecretBox((SECRET_KEY,)))(None, stored(backend), START)  # type: ignore[arg-type]
    assert [(channel.target, channel.secret) for channel in sent] == [(TARGET, SECRET)]
