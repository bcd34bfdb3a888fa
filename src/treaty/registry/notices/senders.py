"""Sends one notice over one channel, whatever its kind."""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpcore2

from treaty.errors import InvalidDocument
from treaty.registry.notices.addresses import AddressRefused, AddressRule, HostUnknown, checked_address
from treaty.registry.notices.channels import Channel, ChannelKind, WebPolicy, WebTarget, parse_web_target
from treaty.registry.notices.delivery_failures import MAX_DELAY, DeliveryFailed, NoAnswer
from treaty.registry.notices.mail import MailSettings, mail
from treaty.registry.notices.messages import Notice, email_message, log_line, one_line, slack_body, webhook_body
from treaty.registry.notices.pinned_connection import SYSTEM_WIRE, Deadline, PinnedNetwork, Wire

LOGGER = "treaty.notices"
USER_AGENT = "Treaty-Notices/1"

Sender = Callable[[Notice, Channel, datetime], None]
"""Sends a notice, or raises DeliveryFailed."""


@dataclass(frozen=True)
class Outlet:
    """The settings for sending."""

    rule: AddressRule = AddressRule.PUBLIC_ONLY
    mail: MailSettings | None = None
    wire: Wire = SYSTEM_WIRE
    policy: WebPolicy = field(default_factory=WebPolicy)

    def send(self, notice: Notice, channel: Channel, now: datetime) -> None:
        """Send the notice; the delivery worker uses this as its sender."""
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
    if secrets := channel.signing_secrets(now):
        headers[SIGNATURE_HEADER] = sign(secrets[0], body, now, *secrets[1:])
    post(target, headers, body, outlet.rule, now, outlet.wire, outlet.policy)


def _header(text: str) -> str:
    return one_line(text).encode("ascii", "replace").decode("ascii")


_SENDERS: dict[ChannelKind, Callable[[Notice, Channel, Outlet, datetime], None]] = {
    ChannelKind.WEBHOOK: _send_webhook,
    ChannelKind.SLACK: _send_slack,
    ChannelKind.EMAIL: _send_email,
    ChannelKind.LOG: _send_log,
}


SIGNATURE_HEADER = "Treaty-Signature"
TOLERANCE = timedelta(minutes=5)

_PART = re.compile(r"(t=[0-9]{1,12}|v1=[0-9a-f]{64})")


def sign(secret: str, body: bytes, now: datetime, *previous: str) -> str:
    """Return the value of the signature header for a body sent now, with a signature by each secret."""
    seconds = int(now.timestamp())
    return ",".join((f"t={seconds}", *(f"v1={_digest(one, seconds, body)}" for one in (secret, *previous))))


def verify(secret: str, header: str, body: bytes, now: datetime, tolerance: timedelta = TOLERANCE) -> bool:
    """Verify that the header signs this body at about this time; several v1 values allow secret rotation."""
    parts = header.split(",")
    if not all(_PART.fullmatch(part) for part in parts):
        return False
    times = [int(part[2:]) for part in parts if part.startswith("t=")]
    if len(times) != 1 or abs(int(now.timestamp()) - times[0]) > tolerance.total_seconds():
        return False
    expected = _digest(secret, times[0], body)
    matches = [hmac.compare_digest(part[3:], expected) for part in parts if part.startswith("v1=")]
    return any(matches)


def _digest(secret: str, seconds: int, body: bytes) -> str:
    return hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()


_GONE = 410
_SECONDS = re.compile(r"[0-9]{1,9}")
_MAX_REASON_LENGTH = 200


def post(
    target: WebTarget,
    headers: Mapping[str, str],
    body: bytes,
    rule: AddressRule,
    now: datetime,
    wire: Wire,
    policy: WebPolicy,
) -> None:
    """Post the body; anything but a 2xx in time raises DeliveryFailed, without the path of the URL."""
    deadline = Deadline(wire.seconds() + wire.answer_within, wire.seconds)
    try:
        address = checked_address(target.host, target.port, rule, wire.resolve)
        policy.check(target, address)
    except HostUnknown as error:
        raise NoAnswer(str(error)) from None
    except AddressRefused as error:
        raise DeliveryFailed(str(error)) from None
    try:
        answer = _exchange(target, headers, body, wire, PinnedNetwork(address, wire.network, deadline))
    except httpcore2.ConnectTimeout:
        raise NoAnswer(f"{target.origin} took no connection in time") from None
    except httpcore2.TimeoutException:
        raise NoAnswer(f"{target.origin} did not answer within {wire.answer_within:g} s") from None
    except httpcore2.ConnectError as error:
        raise NoAnswer(f"cannot connect to {target.origin}: {one_line(str(error))[:_MAX_REASON_LENGTH]}") from None
    except (httpcore2.NetworkError, httpcore2.ProtocolError):
        raise NoAnswer(f"{target.origin} broke off or does not speak HTTP") from None
    _judge(target, *answer, now)


def _exchange(
    target: WebTarget, headers: Mapping[str, str], body: bytes, wire: Wire, network: PinnedNetwork
) -> tuple[int, str | None]:
    """Return the status, and the Retry-After header if there is one."""
    # Below httpx2 on purpose: that logs whole URLs, and has no place for a network of ours.
    url = httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
    every = [("Host", target.authority), ("Connection", "close"), *headers.items()]
    within = {"connect": wire.connect_within, "read": wire.answer_within, "write": wire.answer_within}
    tls = wire.tls() if target.scheme == "https" else None
    with (
        httpcore2.ConnectionPool(ssl_context=tls, network_backend=network) as pool,
        pool.stream("POST", url, headers=every, content=body, extensions={"timeout": within}) as response,
    ):
        answered = {name.lower(): value for name, value in response.headers}
        after = answered.get(b"retry-after")
        return response.status, after.decode("ascii", "replace") if after else None


def _judge(target: WebTarget, status: int, retry_after: str | None, now: datetime) -> None:
    if 200 <= status < 300:
        return
    if status == _GONE:
        raise DeliveryFailed(f"{target.origin} answered 410: the receiver is gone for good", permanent=True)
    if 300 <= status < 400:
        raise DeliveryFailed(f"{target.origin} answered {status}; redirects are not followed, save the final URL")
    raise DeliveryFailed(f"{target.origin} answered {status}", retry_after=_delay(retry_after, now))


def _delay(text: str | None, now: datetime) -> timedelta | None:
    """Read a Retry-After, in seconds or as a date; an hour at most."""
    if text is None:
        return None
    if _SECONDS.fullmatch(text.strip()):
        return min(timedelta(seconds=int(text)), MAX_DELAY)
    try:
        moment = parsedate_to_datetime(text)
        delay = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now
    except (ValueError, OverflowError):
        return None
    return min(max(delay, timedelta()), MAX_DELAY)
