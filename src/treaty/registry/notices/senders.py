"""Sends one notice over one channel, whatever its kind."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from treaty.errors import InvalidDocument
from treaty.registry.notices.addresses import AddressRule
from treaty.registry.notices.channels import Channel, ChannelKind
from treaty.registry.notices.failures import DeliveryFailed
from treaty.registry.notices.mailing import MailSettings, mail
from treaty.registry.notices.messages import Notice, email_message, log_line, one_line, webhook_body
from treaty.registry.notices.posting import post
from treaty.registry.notices.signing import SIGNATURE_HEADER, sign
from treaty.registry.notices.slack import slack_body
from treaty.registry.notices.targets import parse_web_target
from treaty.registry.notices.wire import SYSTEM_WIRE, Wire

LOGGER = "treaty.notices"
USER_AGENT = "Treaty-Notices/1"

Sender = Callable[[Notice, Channel, datetime], None]
"""Sends a notice, or raises DeliveryFailed."""


@dataclass(frozen=True)
class Outlet:
    """What sending needs besides the notice and the channel."""

    rule: AddressRule = AddressRule.PUBLIC_ONLY
    mail: MailSettings | None = None
    wire: Wire = SYSTEM_WIRE

    def send(self, notice: Notice, channel: Channel, now: datetime) -> None:
        """Send the notice; the courier takes this as its sender."""
        _SENDERS[channel.kind](notice, channel, self, now)


def send(
    notice: Notice,
    channel: Channel,
    rule: AddressRule,
    mail_settings: MailSettings | None,
    now: datetime,
    wire: Wire = SYSTEM_WIRE,
) -> None:
    """Send a notice over a channel, or raise DeliveryFailed."""
    Outlet(rule, mail_settings, wire).send(notice, channel, now)


def _send_webhook(notice: Notice, channel: Channel, outlet: Outlet, now: datetime) -> None:
    _post(webhook_body(notice), notice, channel, outlet, now)


def _send_slack(notice: Notice, channel: Channel, outlet: Outlet, now: datetime) -> None:
    _post(slack_body(notice), notice, channel, outlet, now)


def _send_email(notice: Notice, channel: Channel, outlet: Outlet, now: datetime) -> None:
    sender = outlet.mail.sender if outlet.mail else ""
    mail(email_message(notice, sender, channel.target), outlet.mail)


def _send_log(notice: Notice, channel: Channel, outlet: Outlet, now: datetime) -> None:
    name = f"{LOGGER}.{channel.target}" if channel.target else LOGGER
    logging.getLogger(name).info("%s", log_line(notice))


def _post(body: bytes, notice: Notice, channel: Channel, outlet: Outlet, now: datetime) -> None:
    try:
        target = parse_web_target(channel.target)
    except InvalidDocument as error:
        raise DeliveryFailed(str(error), permanent=True) from None
    headers = {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "Treaty-Notice-Id": _header(notice.id),
        "Treaty-Notice-Kind": _header(notice.kind),
    }
    if channel.secret:
        headers[SIGNATURE_HEADER] = sign(channel.secret, body, now)
    post(target, headers, body, outlet.rule, now, outlet.wire)


def _header(text: str) -> str:
    return one_line(text).encode("ascii", "replace").decode("ascii")


_SENDERS: dict[ChannelKind, Callable[[Notice, Channel, Outlet, datetime], None]] = {
    ChannelKind.WEBHOOK: _send_webhook,
    ChannelKind.SLACK: _send_slack,
    ChannelKind.EMAIL: _send_email,
    ChannelKind.LOG: _send_log,
}
