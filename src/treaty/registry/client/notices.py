"""Notices, over HTTP: where they go, what was told, and promises that were not kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treaty.registry.answers import ChannelAnswer, NoticeAnswer, Page
from treaty.registry.client.addresses import API, contract_path
from treaty.registry.client.wire import Wire
from treaty.registry.pages import PAGE, check_limit


class Notices:
    """The notices of a registry."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def channels(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ChannelAnswer]:
        """List where parties get their notices, as far as they are the actor's to know."""
        check_limit(limit)
        return self._wire.get(f"{API}/channels", Page[ChannelAnswer], {"cursor": cursor, "limit": limit})

    def add_channel(self, party: str, *, kind: str, target: str, secret: str | None = None) -> ChannelAnswer:
        """Send a team or consumer its notices: by webhook, slack, email or log."""
        values = {"party": party, "kind": kind, "target": target, "secret": secret}
        return self._wire.change("POST", f"{API}/channels", ChannelAnswer, values)

    def remove_channel(self, identity: int) -> ChannelAnswer:
        """Send nothing to a channel any more."""
        return self._wire.change("DELETE", f"{API}/channels/{identity:d}", ChannelAnswer)

    def notices(
        self, *, contract: str | None = None, party: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[NoticeAnswer]:
        """List what was told, and how far it got."""
        check_limit(limit)
        asked = {"contract": contract, "party": party, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{API}/notices", Page[NoticeAnswer], asked)

    def report_breach(
        self, contract: str, *, kind: str, message: str, details: Mapping[str, Any] | None = None
    ) -> NoticeAnswer:
        """Tell owners and consumers that a promise was not kept: an sla_breach or an exception."""
        values = {"kind": kind, "message": message, "details": dict(details or {})}
        return self._wire.change("POST", contract_path(contract, "breaches"), NoticeAnswer, values)

    def retry(self, *, channel: int | None = None) -> int:
        """Try again to deliver what was given up; return how much that is."""
        return self._wire.change("POST", f"{API}/notices/retry", dict[str, int], {"channel": channel})["deliveries"]
