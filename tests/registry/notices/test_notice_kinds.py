"""Every kind of notice reaches a real receiver: as a signed webhook, a Slack-shaped message and an e-mail."""

from __future__ import annotations

import email
import json
from collections.abc import Callable
from datetime import timedelta
from email import policy
from pathlib import Path
from typing import Any

import pytest

from tests.registry.backends import Clock
from tests.registry.notices.receivers import mail_receiver, web_receiver
from tests.registry.offers import ID, ORDERS, PLAN, PLAN_FIELD, orders
from treaty.errors import InvalidDocument
from treaty.observability.measures import Measure
from treaty.registry.notices.addresses import AddressRule
from treaty.registry.notices.mail import MailSettings
from treaty.registry.notices.senders import Outlet
from treaty.registry.rules import RegistryRules
from treaty.registry.service import Registry
from treaty.registry.service.channel_secrets import decrypting_sender
from treaty.registry.service.delivery_worker import DeliveryWorker

GUIDE = "https://wiki.example.org/move"
SECRET = "a secret that is long enough to sign with"  # noqa: S105
RULES = RegistryRules(addresses=AddressRule.ALLOW_PRIVATE, can_mail=True)
NARROW = orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)


def pass_to_sunset(registry: Registry, clock: Clock) -> None:
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)
    clock.pass_days(30)
    registry.tick()


def retire(registry: Registry, _clock: Clock) -> None:
    registry.retire(ORDERS, "1.0.0", override="the source was switched off")


def expire_waiver(registry: Registry, clock: Clock) -> None:
    registry.governance.waive("field_removed", owner="board", reason="for now", until=clock.now.date())
    clock.pass_days(1)
    registry.tick()


def remind(registry: Registry, clock: Clock) -> None:
    registry.register(NARROW)
    clock.now += timedelta(days=83)
    registry.tick()


def remove_with_waiver(registry: Registry, clock: Clock) -> None:
    registry.governance.waive("field_removed", owner="board", reason="for now", until=clock.now.date())
    registry.register(orders("1.1.0", [ID, PLAN_FIELD]))


def breach(kind: str) -> Callable[[Registry, Clock], Any]:
    return lambda registry, _: registry.notices.report_breach(ORDERS, kind=kind, message="the orders are late")


def fail(registry: Registry, clock: Clock) -> None:
    registry.measures.record([Measure(ORDERS, "run", clock.now, 0.0)])


def fail_for_a_day(registry: Registry, clock: Clock) -> None:
    fail(registry, clock)
    clock.pass_days(1)
    registry.tick()


def recover(registry: Registry, clock: Clock) -> None:
    fail(registry, clock)
    clock.pass_days(1)
    registry.measures.record([Measure(ORDERS, "run", clock.now, 1.0)])


KINDS: dict[str, Callable[[Registry, Clock], Any]] = {
    "contract.changed": remove_with_waiver,
    "line.opened": lambda registry, _: registry.register(NARROW),
    "contract.deprecated": lambda registry, _: registry.deprecate(ORDERS, "1.0.0", replacement="orders@2"),
    "contract.sunset": pass_to_sunset,
    "contract.retired": retire,
    "contract.transferred": lambda registry, _: registry.register(orders("1.0.1", owners=[{"team": "sales"}])),
    "contract.sla_breach": breach("sla_breach"),
    "contract.exception": breach("exception"),
    "incident.opened": fail,
    "incident.escalated": fail_for_a_day,
    "incident.closed": recover,
    "migration.reminder": remind,
    "waiver.ended": expire_waiver,
}
"""How each kind of notice to a consumer comes about."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_consumer_receives_every_kind_of_notice(tmp_path: Path, kind: str) -> None:
    clock = Clock()
    with (
        web_receiver() as hook,
        web_receiver() as slack,
        mail_receiver() as post,
        Registry.open(str(tmp_path / "registry.db"), rules=RULES, clock=clock) as registry,
    ):
        registry.register(orders())
        registry.consumers.subscribe("board", "orders@1", consumer_class="operational_reporting", fields=["ltv"])
        registry.notices.add_channel("board", kind="webhook", target=hook.url, secret=SECRET)
        registry.notices.add_channel("board", kind="slack", target=slack.url)
        registry.notices.add_channel("board", kind="email", target="board@example.org")
        KINDS[kind](registry, clock)
        mail = MailSettings("127.0.0.1", "treaty@example.org", post.port)
        send = decrypting_sender(Outlet(AddressRule.ALLOW_PRIVATE, mail).send, registry.context.secrets)
        worker = DeliveryWorker(registry.context.database, send, clock)
        while worker.run_once().delivered:
            pass

    sent = [json.loads(request.body) for request in hook.received]
    assert kind in [notice["kind"] for notice in sent]
    headline = next(notice["headline"] for notice in sent if notice["kind"] == kind)
    assert all("Treaty-Signature" in request.headers for request in hook.received)
    assert headline in [json.loads(request.body)["text"] for request in slack.received]
    subjects = [
        email.message_from_bytes(mail_bytes, policy=policy.default)["Subject"].strip() for mail_bytes in post.mails
    ]
    assert f"[Treaty] {headline}" in subjects
    assert set(post.recipients) == {"board@example.org"}


def test_an_email_channel_needs_a_mail_server(tmp_path: Path) -> None:
    with (
        Registry.open(str(tmp_path / "registry.db")) as registry,
        pytest.raises(InvalidDocument, match=r"set notices\.smtp\.host and notices\.smtp\.sender"),
    ):
        registry.notices.add_channel("board", kind="email", target="board@example.org")
