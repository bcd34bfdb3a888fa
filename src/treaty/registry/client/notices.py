"""Channels and notices over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treaty.registry.api import NoticesApi
from treaty.registry.client.requests import API, contract_path
from treaty.registry.client.transport import Transport
from treaty.registry.model import ChannelAnswer, NoticeAnswer, Page
from treaty.registry.model.page import PAGE, check_limit


class Notices(NoticesApi):
    """The notices of a registry."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    def channels(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ChannelAnswer]:
        """List the channels that the actor may manage."""
        check_limit(limit)
        return self._wire.get(f"{API}/channels", Page[ChannelAnswer], {"cursor": cursor, "limit": limit})

    def add_channel(self, party: str, *, kind: str, target: str, secret: str | None = None) -> ChannelAnswer:
        """Add a channel for the notices of a team or consumer: webhook, slack, email or log."""
        values = {"party": party, "kind": kind, "target": target, "secret": secret}
        return self._wire.change("POST", f"{API}/channels", ChannelAnswer, values)

    def remove_channel(self, identity: int) -> ChannelAnswer:
        """Remove a channel."""
        return self._wire.change("DELETE", f"{API}/channels/{identity:d}", ChannelAnswer)

    def rotate_secret(self, identity: int, *, secret: str, days: int = 7) -> ChannelAnswer:
        """Give a channel a new secret; for some days, requests are signed with the previous one too."""
        values = {"secret": secret, "days": days}
        return self._wire.change("POST", f"{API}/channels/{identity:d}/secret", ChannelAnswer, values)

    def finish_rotation(self, identity: int) -> ChannelAnswer:
        """End the previous secret of a channel now."""
        return self._wire.change("DELETE", f"{API}/channels/{identity:d}/previous-secret", ChannelAnswer)

    def notices(
        self, *, contract: str | None = None, party: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[NoticeAnswer]:
        """List notices with the state of their deliveries."""
        check_limit(limit)
        parameters = {"contract": contract, "party": party, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{API}/notices", Page[NoticeAnswer], parameters)

    def report_breach(
        self, contract: str, *, kind: str, message: str, details: Mapping[str, Any] | None = None
    ) -> NoticeAnswer:
        """Notify owners and consumers of a broken promise: an sla_breach or an exception."""
        values = {"kind": kind, "message": message, "details": dict(details or {})}
        return self._wire.change("POST", contract_path(contract, "breaches"), NoticeAnswer, values)

    def retry(self, *, channel: int | None = None) -> int:
        """Retry deliveries that were given up, and return how many."""
        return self._wire.change("POST", f"{API}/notices/retry", dict[str, int], {"channel": channel})["deliveries"]
