"""Notices: where they go, what was told, and promises that were not kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treaty.registry import telling
from treaty.registry.access.rules import Action, may
from treaty.registry.answers import ChannelAnswer, NoticeAnswer, Page
from treaty.registry.local.desk import Desk
from treaty.registry.pages import PAGE, after, check_limit, page_of


class Notices:
    """The notices of a registry."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def channels(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[ChannelAnswer]:
        """List where parties get their notices, as far as they are the actor's to know."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        found = self._desk.read(lambda it: telling.page_of_channels(it, int(start), limit + 1))
        page = page_of(found, limit, lambda one: (one.id,))
        mine = [one for one in page.items if may(self._desk.actor, Action.NOTIFY, telling.party_resource(one.party))]
        return Page(items=mine, next=page.next)

    def add_channel(self, party: str, *, kind: str, target: str, secret: str | None = None) -> ChannelAnswer:
        """Send a team or consumer its notices: by webhook, slack, email or log."""
        parsed = telling.check_target(self._desk.rules, kind, target, secret)
        return self._desk.write(lambda it: telling.add_channel(it, self._desk.actor, party, parsed, target, secret))

    def remove_channel(self, identity: int) -> ChannelAnswer:
        """Send nothing to a channel any more."""
        return self._desk.write(lambda it: telling.remove_channel(it, self._desk.actor, identity))

    def notices(
        self, *, contract: str | None = None, party: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[NoticeAnswer]:
        """List what was told, and how far it got."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        found = self._desk.read(lambda it: telling.page_of_notices(it, contract, party, int(start), limit + 1))
        numbered = page_of(found, limit, lambda one: (one[0],))
        return Page(items=[notice for _, notice in numbered.items], next=numbered.next)

    def report_breach(
        self, contract: str, *, kind: str, message: str, details: Mapping[str, Any] | None = None
    ) -> NoticeAnswer:
        """Tell owners and consumers that a promise was not kept: an sla_breach or an exception."""
        return self._desk.write(
            lambda it: telling.report_breach(it, self._desk.actor, contract, kind, message, details or {})
        )

    def retry(self, *, channel: int | None = None) -> int:
        """Try again to deliver what was given up; return how much that is."""
        return self._desk.write(lambda it: telling.retry(it, self._desk.actor, channel))
