"""The promotion gate: what the status of a contract allows a pipeline to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from treaty.contracts import Contract, Finding, Place, Severity
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument
from treaty.governance.lifecycle import Status, parse_status
from treaty.pipeline.project.declarations import Project, Publication, place_at

NOT_ACTIVE = "contract-not-active"

PUBLISHED: dict[Status, Severity | None] = {
    Status.DRAFT: Severity.ERROR,
    Status.ACTIVE: None,
    Status.DEPRECATED: Severity.WARNING,
    Status.SUNSET: Severity.WARNING,
    Status.RETIRED: Severity.ERROR,
    Status.ARCHIVED: Severity.ERROR,
}
"""Severity of publishing under a contract with a status; only errors prevent it."""

UPSTREAM: dict[Status, Severity | None] = {**PUBLISHED, Status.DRAFT: Severity.WARNING}
"""The same for other layers: a draft may be tried out as long as it is not published."""

HINTS = {
    Status.DRAFT: "activate it: treaty version activate {id} {version}, or status: active in its document",
    Status.DEPRECATED: "move its consumers to the next line before its sunset date",
    Status.SUNSET: "move its consumers now: it is about to be retired",
    Status.RETIRED: "use an active line, and remove this declaration",
    Status.ARCHIVED: "use an active line, and remove this declaration",
}
"""What to do about each status."""

_CONSEQUENCES = {
    Severity.ERROR: ", so nothing is built under it",
    Severity.WARNING: "; it still runs",
}


def status_of(contract: Contract) -> Status:
    """Return the status of a contract; an unknown status counts as draft."""
    try:
        return parse_status(contract.status)
    except InvalidDocument:
        return Status.DRAFT


def refusal(contract: Contract, place: Place | None = None) -> Finding | None:
    """Return why nothing may be published under a contract, or None if it may."""
    finding = check_status(contract, PUBLISHED, place)
    return finding if finding and finding.severity is Severity.ERROR else None


def check_status(
    contract: Contract, table: Mapping[Status, Severity | None], place: Place | None = None
) -> Finding | None:
    """Return the finding of a table on the status of a contract, or None."""
    status = status_of(contract)
    severity = table[status]
    if severity is None:
        return None
    return Finding(
        NOT_ACTIVE,
        severity,
        f"{contract.id} {contract.version} is {_status_text(contract, status)}{_CONSEQUENCES[severity]}",
        place=place,
        hint=HINTS[status].format(id=contract.id, version=contract.version),
    )


def check_project_status(project: Project, contracts: Mapping[Line, Contract]) -> tuple[Finding, ...]:
    """Check the contract status of every declaration; publications are checked more strictly."""
    return tuple(_status_findings(project, contracts))


def _status_findings(project: Project, contracts: Mapping[Line, Contract]) -> Iterator[Finding]:
    for declared in project:
        table = PUBLISHED if isinstance(declared, Publication) else UPSTREAM
        if finding := check_status(contracts[declared.line], table, place_at(declared.at)):
            yield finding


def _status_text(contract: Contract, status: Status) -> str:
    """Return the status as the document spells it, if that is not the name in the lifecycle."""
    return status.value if contract.status in (None, "", status.value) else f"{contract.status!r}, a {status}"
