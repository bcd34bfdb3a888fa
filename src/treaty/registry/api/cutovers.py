"""The interface for legacy feeds and the cut-over of their consumers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from treaty.legacy.cutover import Gate
from treaty.registry.model import CutoverAnswer, DecisionAnswer, LegacyFeedAnswer, Page
from treaty.registry.model.page import PAGE


class CutoversApi(Protocol):
    """Legacy feeds, and how far each of their consumers is on its way to the publication."""

    def declare(
        self,
        feed: str,
        line: str,
        owner: str,
        *,
        names: Sequence[str] = (),
        consumers: Sequence[str] = (),
        gate: Gate | None = None,
        produced: str | None = None,
    ) -> LegacyFeedAnswer:
        """Store what a project declares of a legacy feed; steps that consumers took stay."""
        ...

    def list(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[LegacyFeedAnswer]:
        """List legacy feeds by name, with the state of their consumers."""
        ...

    def get(self, feed: str) -> LegacyFeedAnswer:
        """Return a legacy feed with the state of its consumers."""
        ...

    def acknowledge(self, feed: str, consumer: str, *, note: str | None = None) -> CutoverAnswer:
        """Acknowledge the cut-over on behalf of a consumer."""
        ...

    def approve(self, feed: str, consumer: str, *, note: str | None = None) -> CutoverAnswer:
        """Approve the cut-over as an owner of the consumer's team, which a critical consumer needs."""
        ...

    def cut_over(self, feed: str, consumer: str) -> CutoverAnswer:
        """Move a consumer from the feed to the publication; raise Refused with the reasons if the gate is closed."""
        ...

    def roll_back(self, feed: str, consumer: str, *, reason: str) -> CutoverAnswer:
        """Move a consumer back to the feed; earlier runs and acknowledgements no longer count."""
        ...

    def retire(self, feed: str) -> LegacyFeedAnswer:
        """Retire a feed that its last consumer has left; raise Refused with the reasons otherwise."""
        ...

    def can_i_cut_over(self, consumer: str, *, feed: str | None = None) -> DecisionAnswer:
        """Decide whether a consumer may leave a feed, or every feed that it reads, with every reason."""
        ...
