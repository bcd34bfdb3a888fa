"""The interface for parallel runs of legacy feeds."""

from __future__ import annotations

from datetime import date
from typing import Protocol

from treaty.legacy.differences import ComparisonResult
from treaty.registry.model import FindingAnswer, Page, ParallelRunAnswer
from treaty.registry.model.page import PAGE


class ParallelRunsApi(Protocol):
    """What parallel runs found, and what was decided about it."""

    def record(self, line: str, owner: str, result: ComparisonResult) -> ParallelRunAnswer:
        """Store what a run found, in place of an earlier run of the same feed and day."""
        ...

    def list(self, *, feed: str | None = None, cursor: str | None = None, limit: int = PAGE) -> Page[ParallelRunAnswer]:
        """List runs without their findings, by feed, the newest day first."""
        ...

    def get(self, feed: str, *, as_of: date | None = None) -> ParallelRunAnswer:
        """Return the run of a feed up to a day, or the newest."""
        ...

    def dispose(
        self, feed: str, fingerprint: str, *, disposition: str, owner: str, reason: str, term: str | None = None
    ) -> FindingAnswer:
        """Decide about a finding of the newest run; the decision holds as long as later runs find the same pattern."""
        ...
