"""The interface for channels and notices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from treaty.registry.model import ChannelAnswer, NoticeAnswer, Page
from treaty.registry.model.page import PAGE


class NoticesApi(Protocol):
    """Channels, and the notices that are delivered to them."""

    def channels(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ChannelAnswer]:
        """List the channels that the actor may manage."""
        ...

    def add_channel(self, party: str, *, kind: str, target: str, secret: str | None = None) -> ChannelAnswer:
        """Add a channel for the notices of a team or consumer: webhook, slack, email or log."""
        ...

    def remove_channel(self, identity: int) -> ChannelAnswer:
        """Remove a channel."""
        ...

    def rotate_secret(self, identity: int, *, secret: str, days: int = 7) -> ChannelAnswer:
        """Give a channel a new secret; for some days, requests are signed with the previous one too."""
        ...

    def finish_rotation(self, identity: int) -> ChannelAnswer:
        """End the previous secret of a channel now."""
        ...

    def notices(
        self, *, contract: str | None = None, party: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[NoticeAnswer]:
        """List notices with the state of their deliveries."""
        ...

    def report_breach(
        self, contract: str, *, kind: str, message: str, details: Mapping[str, Any] | None = None
    ) -> NoticeAnswer:
        """Notify owners and consumers of a broken promise: an sla_breach or an exception."""
        ...

    def retry(self, *, channel: int | None = None) -> int:
        """Retry deliveries that were given up, and return how many."""
        ...
