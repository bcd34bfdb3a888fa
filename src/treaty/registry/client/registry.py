"""The HTTP client: same methods, results and errors as the local registry."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from datetime import UTC, date, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self

from treaty.errors import Refused
from treaty.registry.api import RegistryApi
from treaty.registry.client.access import Access
from treaty.registry.client.certificates import Certificates
from treaty.registry.client.consumers import Consumers
from treaty.registry.client.cutovers import Cutovers
from treaty.registry.client.dependency_map import DependencyMap
from treaty.registry.client.drift import Drift
from treaty.registry.client.governance import Governance
from treaty.registry.client.incidents import Incidents
from treaty.registry.client.lineage import Lineage
from treaty.registry.client.measures import Measures
from treaty.registry.client.migrations import Migrations
from treaty.registry.client.notices import Notices
from treaty.registry.client.parallel_runs import ParallelRuns
from treaty.registry.client.requests import API, RequestBody, contract_path, document_body, line_path, version_path
from treaty.registry.client.transport import NotNow, Transport
from treaty.registry.model import (
    ActivityAnswer,
    ContractAnswer,
    DecisionAnswer,
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
from treaty.registry.model.page import PAGE, check_limit
from treaty.registry.report import CompatibilityReport, VersionRefused

if TYPE_CHECKING:
    import httpx2

    from treaty.registry.documents import Document
    from treaty.registry.model.contract_answers import Query


TIMEOUT = 30.0
"""Timeout of a request, in seconds."""

_UNCHANGED = 200
"""The status if the same document was registered before; otherwise it is 201 or 202."""


class RegistryClient(RegistryApi):
    """A registry behind a server; calls act for the owner of the token."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = TIMEOUT,
        transport: httpx2.BaseTransport | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._wire = Transport(url, token, timeout, transport, pause)
        self._use(self._wire)

    def _use(self, wire: Transport) -> None:
        self._wire = wire
        self.consumers = Consumers(wire)
        self.dependency_map = DependencyMap(wire)
        self.governance = Governance(wire)
        self.incidents = Incidents(wire)
        self.lineage = Lineage(wire)
        self.measures = Measures(wire)
        self.migrations = Migrations(wire)
        self.notices = Notices(wire)
        self.cutovers = Cutovers(wire)
        self.parallel_runs = ParallelRuns(wire)
        self.drift = Drift(wire)
        self.certificates = Certificates(wire)
        self.access = Access(wire)

    def __repr__(self) -> str:
        """Return the address without the token."""
        return f"RegistryClient({self._wire.address!r})"

    def now(self) -> datetime:
        """Return the time of the registry's clock."""
        return datetime.now(UTC)

    def at(self, now: datetime) -> Self:
        """Return the same registry as it is at another time, if nothing happens until then; it changes nothing."""
        shown = copy(self)
        shown._use(self._wire.asking_at(now))
        return shown

    def head(self) -> HeadAnswer | None:
        """Return the newest audit entry; None if there is none, or over HTTP, where it needs a permission."""
        return None

    def close(self) -> None:
        """Release the database or the connection."""
        self._wire.close()

    def __enter__(self) -> RegistryClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def register(self, document: Document, *, compatibility: str | None = None) -> Registration:
        """Register a version, or propose it if it needs approval; raise VersionRefused if it is not admissible.

        The same document again gives the same answer and changes nothing.
        """
        return register(self._wire, document, compatibility)

    def check(self, document: Document, *, compatibility: str | None = None) -> CompatibilityReport:
        """Judge a version without registering it."""
        body = document_body(document, compatibility)
        report = self._wire.ask("/contracts/check", CompatibilityReport, body)
        # The first API's report lacks these two; the decision about publishing does.
        decision = self._wire.ask(f"{API}/can-i-publish", DecisionAnswer, body)
        errors = {reason.kind for reason in decision.reasons if reason.severity == "error"}
        admissible = not any(issue.kind in errors for issue in report.errors)
        return report.model_copy(update={"admissible": admissible, "required_version": decision.required_version})

    def datasets(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[str]:
        """List the ids of contracts."""
        check_limit(limit)
        response = self._wire.fetch("/datasets", {"cursor": cursor, "limit": limit})
        listed = self._wire.read(response, dict[str, list[str]])
        onward = response.links.get("next", {}).get("url")
        return Page(items=listed["datasets"], next=response.url.join(onward).params["cursor"] if onward else None)

    def search(self, query: Query, *, cursor: str | None = None, limit: int = PAGE) -> Page[ContractAnswer]:
        """Find contracts by name, field, owner, domain, tag or a word in their descriptions; typos are tolerated."""
        check_limit(limit)
        wanted = {
            "q": query.text,
            "name": query.name,
            "field": query.field,
            "owner": query.owner,
            "domain": query.domain,
            "tag": query.tag,
            "tier": query.tier,
            "status": query.status,
            "health": query.health,
            "sort": query.sort,
        }
        return self._wire.get(f"{API}/contracts", Page[ContractAnswer], {**wanted, "cursor": cursor, "limit": limit})

    def overview(self) -> OverviewAnswer:
        """Count the contracts by domain, tier, status, owning team and health."""
        return self._wire.get(f"{API}/overview", OverviewAnswer)

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
        check_limit(limit)
        day = since.isoformat() if since else None
        parameters = {"contract": contract, "team": team, "kind": kind, "since": day, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{API}/activity", Page[ActivityAnswer], parameters)

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
        check_limit(limit)
        parameters = {"contract": contract, "team": team, "days": days, "cursor": cursor, "limit": limit}
        return self._wire.get(f"{API}/upcoming", Page[UpcomingAnswer], parameters)

    def teams(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[TeamAnswer]:
        """List the teams that own or read something, with counts."""
        check_limit(limit)
        return self._wire.get(f"{API}/teams", Page[TeamAnswer], {"cursor": cursor, "limit": limit})

    def latest(self, contract: str) -> DocumentAnswer:
        """Return the highest active version."""
        return self._wire.get(contract_path(contract, "versions", "latest"), DocumentAnswer)

    def get(self, contract: str, version: str) -> DocumentAnswer:
        """Return one version with its document."""
        return self._wire.get(version_path(contract, version), DocumentAnswer)

    def effective(self, contract: str, version: str) -> EffectiveAnswer:
        """Return one version with what it inherits from its policies today, each value with its origin."""
        return self._wire.get(version_path(contract, version), EffectiveAnswer, {"effective": True})

    def given(self, contract: str, version: str) -> tuple[bytes, str]:
        """Return a document byte for byte as it was registered, with its media type."""
        response = self._wire.fetch(version_path(contract, version, "document"))
        return response.content, response.headers.get("content-type", "").partition(";")[0]

    def history(self, contract: str, *, cursor: str | None = None, limit: int = PAGE) -> Page[DocumentAnswer]:
        """List versions with their documents, in the order they were registered."""
        check_limit(limit)
        path = contract_path(contract, "versions")
        return self._wire.get(path, Page[DocumentAnswer], {"cursor": cursor, "limit": limit})

    def lines(self, contract: str) -> list[LineAnswer]:
        """List the lines of a contract, the highest first."""
        return self._wire.get(contract_path(contract, "lines"), list[LineAnswer])

    def diff(self, contract: str, before: str, after_: str, *, compatibility: str | None = None) -> DiffAnswer:
        """Compare two versions: the changes, what they break, and the version they require."""
        parameters = {"before": before, "after": after_, "mode": compatibility}
        return self._wire.get(contract_path(contract, "diff"), DiffAnswer, parameters)

    def activate(self, contract: str, version: str) -> VersionAnswer:
        """Activate a draft, or take back a deprecation."""
        return self._wire.change("POST", version_path(contract, version, "activate"), VersionAnswer)

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
        values = _announcement(deprecation_uri, sunset_on, announced_on, replacement, reason)
        return self._wire.change("POST", version_path(contract, version, "deprecate"), VersionAnswer, values)

    def retire(self, contract: str, version: str, *, override: str | None = None) -> VersionAnswer:
        """Retire a version whose retirement is due and that no consumer reads; an override needs a reason."""
        values = {"override": override}
        return self._wire.change("POST", version_path(contract, version, "retire"), VersionAnswer, values)

    def archive(self, contract: str, version: str, *, override: str | None = None) -> VersionAnswer:
        """Take a version out of use permanently; it stays in the history."""
        values = {"override": override}
        return self._wire.change("POST", version_path(contract, version, "archive"), VersionAnswer, values)

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
        values = _announcement(deprecation_uri, sunset_on, announced_on, replacement, reason)
        return self._wire.change("POST", line_path(line, "deprecate"), list[VersionAnswer], values)

    def retire_line(self, line: str, *, override: str | None = None) -> list[VersionAnswer]:
        """Retire all versions of a line that are still in use, in one transaction."""
        return self._wire.change("POST", line_path(line, "retire"), list[VersionAnswer], {"override": override})

    def tick(self) -> list[StepAnswer]:
        """Send the notices that are due: of statuses that follow from dates, and reminders of migrations."""
        return self._wire.change("POST", f"{API}/tick", list[StepAnswer])

    def due(self) -> list[StepAnswer]:
        """Return what a tick would announce, without sending or changing anything."""
        return self._wire.get(f"{API}/tick", list[StepAnswer])


def _announcement(
    guide: str | None, sunset: date | None, announced: date | None, replacement: str | None, reason: str | None
) -> dict[str, str | None]:
    return {
        "migration_guide": guide,
        "sunset_date": sunset.isoformat() if sunset else None,
        "announced": announced.isoformat() if announced else None,
        "replacement": replacement,
        "reason": reason,
    }


def register(wire: Transport, document: Document, compatibility: str | None) -> Registration:
    """Register a version; sending it again after a lost response gives the same answer."""
    body = document_body(document, compatibility)
    wait = wire.pauses()
    while True:
        try:
            response = wire.send("POST", f"{API}/contracts", body=body)
        except NotNow as error:
            if not wait(error):
                raise
        except Refused as error:
            raise _with_version(wire, error, body) from None
        else:
            registration = wire.read(response, Registration)
            unchanged = response.status_code == _UNCHANGED and registration.status != "updated"
            return registration.model_copy(update={"unchanged": unchanged})


def _with_version(wire: Transport, error: Refused, body: RequestBody) -> Refused:
    """Add the required version to a refusal, as a local registry does."""
    if not isinstance(error, VersionRefused):
        return error
    decision = wire.ask(f"{API}/can-i-publish", DecisionAnswer, body)
    report = error.report.model_copy(update={"required_version": decision.required_version})
    return VersionRefused(_subject(decision), report)


def _subject(decision: DecisionAnswer) -> str:
    return decision.question.removeprefix("can ").removesuffix(" be published?")
