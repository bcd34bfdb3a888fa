"""The interface of the registry itself: contracts, versions and their life cycle."""

from __future__ import annotations

from datetime import date, datetime
from typing import Protocol, Self

from treaty.registry.api.access import AccessApi
from treaty.registry.api.certificates import CertificatesApi
from treaty.registry.api.consumers import ConsumersApi
from treaty.registry.api.cutovers import CutoversApi
from treaty.registry.api.dependency_map import DependencyMapApi
from treaty.registry.api.drift import DriftApi
from treaty.registry.api.governance import GovernanceApi
from treaty.registry.api.incidents import IncidentsApi
from treaty.registry.api.lineage import LineageApi
from treaty.registry.api.measures import MeasuresApi
from treaty.registry.api.migrations import MigrationsApi
from treaty.registry.api.notices import NoticesApi
from treaty.registry.api.parallel_runs import ParallelRunsApi
from treaty.registry.documents import Document
from treaty.registry.model import (
    ActivityAnswer,
    ContractAnswer,
    DiffAnswer,
    DocumentAnswer,
    EffectiveAnswer,
    HeadAnswer,
    LineAnswer,
    OverviewAnswer,
    Page,
    Registration,
    StepAnswer,
    TeamAnswer,
    UpcomingAnswer,
    VersionAnswer,
)
from treaty.registry.model.contract_answers import Query
from treaty.registry.model.page import PAGE
from treaty.registry.report import CompatibilityReport


class RegistryApi(Protocol):
    """A registry: contracts, versions and their life cycle, with the other interfaces as attributes."""

    consumers: ConsumersApi
    cutovers: CutoversApi
    dependency_map: DependencyMapApi
    governance: GovernanceApi
    incidents: IncidentsApi
    lineage: LineageApi
    migrations: MigrationsApi
    measures: MeasuresApi
    notices: NoticesApi
    parallel_runs: ParallelRunsApi
    drift: DriftApi
    certificates: CertificatesApi
    access: AccessApi

    def close(self) -> None:
        """Release the database or the connection."""
        ...

    def now(self) -> datetime:
        """Return the time of the registry's clock."""
        ...

    def at(self, now: datetime) -> Self:
        """Return the same registry as it is at another time, if nothing happens until then; it changes nothing."""
        ...

    def head(self) -> HeadAnswer | None:
        """Return the newest audit entry; None if there is none, or over HTTP, where it needs a permission."""
        ...

    def register(self, document: Document, *, compatibility: str | None = None) -> Registration:
        """Register a version, or propose it if it needs approval; raise VersionRefused if it is not admissible.

        The same document again gives the same answer and changes nothing.
        """
        ...

    def check(self, document: Document, *, compatibility: str | None = None) -> CompatibilityReport:
        """Judge a version without registering it."""
        ...

    def datasets(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[str]:
        """List the ids of contracts."""
        ...

    def search(self, query: Query, *, cursor: str | None = None, limit: int = PAGE) -> Page[ContractAnswer]:
        """Find contracts by name, field, owner, domain, tag or a word in their descriptions; typos are tolerated."""
        ...

    def overview(self) -> OverviewAnswer:
        """Count the contracts by domain, tier, status, owning team and health."""
        ...

    def activity(
        self,
        *,
        contract: str | None = None,
        team: str | None = None,
        kind: str | None = None,
        since: date | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[ActivityAnswer]:
        """List activity, the newest first, optionally of one contract, team or kind, or since a day."""
        ...

    def upcoming(
        self,
        *,
        contract: str | None = None,
        team: str | None = None,
        days: int = 60,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[UpcomingAnswer]:
        """List deprecations, sunsets, retirements and ends of migrations within some days, the nearest first."""
        ...

    def teams(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[TeamAnswer]:
        """List the teams that own or read something, with counts."""
        ...

    def latest(self, contract: str) -> DocumentAnswer:
        """Return the highest active version."""
        ...

    def get(self, contract: str, version: str) -> DocumentAnswer:
        """Return one version with its document."""
        ...

    def effective(self, contract: str, version: str) -> EffectiveAnswer:
        """Return one version with what it inherits from its policies today, each value with its origin."""
        ...

    def given(self, contract: str, version: str) -> tuple[bytes, str]:
        """Return a document byte for byte as it was registered, with its media type."""
        ...

    def history(self, contract: str, *, cursor: str | None = None, limit: int = PAGE) -> Page[DocumentAnswer]:
        """List versions with their documents, in the order they were registered."""
        ...

    def lines(self, contract: str) -> list[LineAnswer]:
        """List the lines of a contract, the highest first."""
        ...

    def diff(self, contract: str, before: str, after_: str, *, compatibility: str | None = None) -> DiffAnswer:
        """Compare two versions: the changes, what they break, and the version they require."""
        ...

    def activate(self, contract: str, version: str) -> VersionAnswer:
        """Activate a draft, or take back a deprecation."""
        ...

    def deprecate(
        self,
        contract: str,
        version: str,
        *,
        deprecation_uri: str | None = None,
        sunset_on: date | None = None,
        announced_on: date | None = None,
        replacement: str | None = None,
        reason: str | None = None,
    ) -> VersionAnswer:
        """Deprecate a version, now or from a later day, with the migration plan or what replaces it."""
        ...

    def retire(self, contract: str, version: str, *, override: str | None = None) -> VersionAnswer:
        """Retire a version whose retirement is due and that no consumer reads; an override needs a reason."""
        ...

    def archive(self, contract: str, version: str, *, override: str | None = None) -> VersionAnswer:
        """Take a version out of use permanently; it stays in the history."""
        ...

    def deprecate_line(
        self,
        line: str,
        *,
        deprecation_uri: str | None = None,
        sunset_on: date | None = None,
        announced_on: date | None = None,
        replacement: str | None = None,
        reason: str | None = None,
    ) -> list[VersionAnswer]:
        """Deprecate all versions of a line that are draft, active or deprecated."""
        ...

    def retire_line(self, line: str, *, override: str | None = None) -> list[VersionAnswer]:
        """Retire all versions of a line that are still in use, in one transaction."""
        ...

    def tick(self) -> list[StepAnswer]:
        """Send the notices that are due: of statuses that follow from dates, and reminders of migrations."""
        ...

    def due(self) -> list[StepAnswer]:
        """Return what a tick would announce, without sending or changing anything."""
        ...
