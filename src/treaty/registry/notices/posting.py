"""Posts a body to a receiver: one request to one checked address, no redirect, no proxy, no answer read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpcore2

from treaty.registry.notices.addresses import AddressRefused, AddressRule, HostUnknown, checked_address
from treaty.registry.notices.backoff import LONGEST_DELAY
from treaty.registry.notices.failures import DeliveryFailed, NoAnswer
from treaty.registry.notices.messages import one_line
from treaty.registry.notices.targets import WebTarget
from treaty.registry.notices.wire import Deadline, PinnedNetwork, Wire

_GONE = 410
_SECONDS = re.compile(r"[0-9]{1,9}")
_LONGEST_REASON = 200


def post(
    target: WebTarget, headers: Mapping[str, str], body: bytes, rule: AddressRule, now: datetime, wire: Wire
) -> None:
    """Post the body; anything but a 2xx in time is a failure, told without the path of the URL."""
    deadline = Deadline(wire.seconds() + wire.answer_within, wire.seconds)
    try:
        address = checked_address(target.host, target.port, rule, wire.resolve)
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
        raise NoAnswer(f"cannot connect to {target.origin}: {one_line(str(error))[:_LONGEST_REASON]}") from None
    except (httpcore2.NetworkError, httpcore2.ProtocolError):
        raise NoAnswer(f"{target.origin} broke off or does not speak HTTP") from None
    _judge(target, *answer, now)


def _exchange(
    target: WebTarget, headers: Mapping[str, str], body: bytes, wire: Wire, network: PinnedNetwork
) -> tuple[int, str | None]:
    """Return the status and what it says about trying again."""
    # Below httpx2 on purpose: that logs whole URLs, and has no place for a network of ours.
    url = httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
    every = [("Host", target.authority), ("Connection", "close"), *headers.items()]
    within = {"connect": wire.connect_within, "read": wire.answer_within, "write": wire.answer_within}
    tls = wire.tls() if target.scheme == "https" else None
    with (
        httpcore2.ConnectionPool(ssl_context=tls, network_backend=network) as pool,
        pool.stream("POST", url, headers=every, content=body, extensions={"timeout": within}) as response,
    ):
        given = {name.lower(): value for name, value in response.headers}
        after = given.get(b"retry-after")
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
        return min(timedelta(seconds=int(text)), LONGEST_DELAY)
    try:
        moment = parsedate_to_datetime(text)
        delay = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now
    except (ValueError, OverflowError):
        return None
    return min(max(delay, timedelta()), LONGEST_DELAY)
