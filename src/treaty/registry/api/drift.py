"""The interface for drift of meaning."""

from __future__ import annotations

from datetime import date
from typing import Protocol

from treaty.events.drift import Profile
from treaty.registry.model import DriftFindingAnswer, DriftReportAnswer, Page
from treaty.registry.model.page import PAGE


class DriftApi(Protocol):
    """What the events of runs looked like, and where their meaning changed under an unchanged contract."""

    def record(self, line: str, profile: Profile) -> DriftReportAnswer:
        """Store the profile of a run and compare it with those before; runs of the same hour count as one."""
        ...

    def findings(
        self, *, contract: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[DriftFindingAnswer]:
        """List findings, by contract and line."""
        ...

    def get(self, line: str, fingerprint: str) -> DriftFindingAnswer:
        """Return a finding with its evidence."""
        ...

    def explain(self, line: str, fingerprint: str, *, owner: str, reason: str, until: date) -> DriftFindingAnswer:
        """Answer that the contract means what it meant; the finding opens again if it lasts beyond the day."""
        ...

    def open_version(
        self, line: str, fingerprint: str, *, owner: str, meaning: str, guide: str | None = None
    ) -> DriftFindingAnswer:
        """Answer that the meaning changed; this registers a draft of the next MAJOR version, which declares it.

        The draft has a migration plan of 90 days if there is a `guide`, the address of a page for consumers.
        """
        ...
