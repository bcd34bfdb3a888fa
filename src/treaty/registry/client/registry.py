"""The HTTP client: same methods, results and errors as the local registry."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from types import TracebackType
from typing import TYPE_CHECKING

from treaty.errors import Conflict, NotFound, Refused
from treaty.registry.api import RegistryApi
from treaty.registry.client.requests import API, RequestBody, contract_path, document_body, line_path, version_path
from treaty.registry.client.resources import Access, Consumers, Governance, Measures, Migrations, Notices
from treaty.registry.client.transport import Interrupted, NotNow, Transport
from treaty.registry.documents import PreparedDocument, prepare
from treaty.registry.model import (
    ActivityAnswer,
    ContractAnswer,
    DecisionAnswer,
    DiffAnswer,
    DocumentAnswer,
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
        self.consumers = Consumers(self._wire)
        self.governance = Governance(self._wire)
        self.measures = Measures(self._wire)
        self.migrations = Migrations(self._wire)
        self.notices = Notices(self._wire)
        self.access = Access(self._wire)

    def __repr__(self) -> str:
        """Return the address without the token."""
        return f"RegistryClient({self._wire.address!r})"

    def now(self) -> datetime:
        """Return the time of the registry's clock."""
        return datetime.now(UTC)

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
        """Register a version, or propose it if it needs approval; raise VersionRefused if it is not admissible."""
        return register(self._wire, document, compatibility)

    def check(self, document: Document, *, compatibility: str | None = None) -> CompatibilityReport:
        """Judge a version without registering it."""
        body = document_body(document, compatibility)
        report = self._wire.ask("/contracts/check", CompatibilityReport, body)
        # The first API's report does not say these two; the decision about publishing does.
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
        """Find contracts by name, field, owner, domain, tag or a word in their descriptions."""
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
        self, contract: str, version: str, *, deprecation_uri: str, sunset_on: date | None = None
    ) -> VersionAnswer:
        """Deprecate a version, with the address of the migration plan."""
        values = _announcement(deprecation_uri, sunset_on)
        return self._wire.change("POST", version_path(contract, version, "deprecate"), VersionAnswer, values)

    def retire(self, contract: str, version: str, *, override: str | None = None) -> VersionAnswer:
        """Retire a version whose retirement is due and that no consumer reads; an override needs a reason."""
        values = {"override": override}
        return self._wire.change("POST", version_path(contract, version, "retire"), VersionAnswer, values)

    def archive(self, contract: str, version: str, *, override: str | None = None) -> VersionAnswer:
        """Take a version out of use permanently; it stays in the history."""
        values = {"override": override}
        return self._wire.change("POST", version_path(contract, version, "archive"), VersionAnswer, values)

    def deprecate_line(self, line: str, *, deprecation_uri: str, sunset_on: date | None = None) -> list[VersionAnswer]:
        """Deprecate all versions of a line that are draft, active or deprecated."""
        values = _announcement(deprecation_uri, sunset_on)
        return self._wire.change("POST", line_path(line, "deprecate"), list[VersionAnswer], values)

    def retire_line(self, line: str, *, override: str | None = None) -> list[VersionAnswer]:
        """Retire all versions of a line that are still in use, in one transaction."""
        return self._wire.change("POST", line_path(line, "retire"), list[VersionAnswer], {"override": override})

    def tick(self) -> list[StepAnswer]:
        """Advance every version whose date has come, and remind consumers of their migrations."""
        return self._wire.change("POST", f"{API}/tick", list[StepAnswer])


def _announcement(deprecation_uri: str, sunset_on: date | None) -> dict[str, str | None]:
    return {"deprecation_uri": deprecation_uri, "sunset_on": sunset_on.isoformat() if sunset_on else None}


def register(wire: Transport, document: Document, compatibility: str | None) -> Registration:
    """Register a version; if the response was lost, check whether the version was registered."""
    body = document_body(document, compatibility)
    wait, lost = wire.pauses(), False
    while True:
        try:
            return wire.read(wire.send("POST", "/contracts", body=body), Registration)
        except NotNow as error:
            lost = lost or isinstance(error, Interrupted)
            if not wait():
                raise
        except Conflict:
            arrived = _find_registered(wire, document) if lost else None
            if arrived is None:
                raise
            return arrived
        except Refused as error:
            raise _with_version(wire, error, body) from None


def _find_registered(wire: Transport, document: Document) -> Registration | None:
    """Return the result of a registration whose response was lost; None if another document has the version."""
    ours = document if isinstance(document, PreparedDocument) else prepare(document)
    contract, version = ours.contract.id, ours.contract.version
    try:
        registered = wire.get(version_path(contract, version), DocumentAnswer)
    except NotFound:
        return None
    if registered.digest != ours.digest:
        return None
    return Registration(
        status="registered", dataset_id=contract, version=version, compatibility=_rebuild_report(wire, registered)
    )


def _rebuild_report(wire: Transport, version: DocumentAnswer) -> CompatibilityReport:
    """Rebuild the report of a version by comparing it with the highest before it, of its line or else of all."""
    earlier = _registered_before(wire, version)
    if not earlier:
        return CompatibilityReport(compatible=True, mode=version.mode, issues=[])
    followed = max(earlier, key=lambda candidate: (candidate.line == version.line, _parts(candidate.version)))
    parameters = {"before": followed.version, "after": version.version, "mode": version.mode}
    diff = wire.get(contract_path(version.contract, "diff"), DiffAnswer, parameters)
    return CompatibilityReport(
        compatible=not any(issue.severity == "error" for issue in diff.issues),
        mode=diff.mode,
        issues=diff.issues,
        required_version=diff.required_version,
    )


def _registered_before(wire: Transport, version: DocumentAnswer) -> list[DocumentAnswer]:
    versions: list[DocumentAnswer] = []
    cursor: str | None = None
    while True:
        page = wire.get(contract_path(version.contract, "versions"), Page[DocumentAnswer], {"cursor": cursor})
        for earlier in page.items:
            if earlier.version == version.version:
                return versions
            versions.append(earlier)
        if page.next is None:
            return versions
        cursor = page.next


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("+")[0].split("-")[0].split("."))


def _with_version(wire: Transport, error: Refused, body: RequestBody) -> Refused:
    """Add the required version to a refusal, as a local registry does."""
    if not isinstance(error, VersionRefused):
        return error
    decision = wire.ask(f"{API}/can-i-publish", DecisionAnswer, body)
    report = error.report.model_copy(update={"required_version": decision.required_version})
    return VersionRefused(_subject(decision), report)


def _subject(decision: DecisionAnswer) -> str:
    return decision.question.removeprefix("can ").removesuffix(" be published?")
