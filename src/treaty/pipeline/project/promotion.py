"""The promotion gate: what a contract's status allows a pipeline to do under it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from treaty.contracts import Contract, Finding, Place, Severity
from treaty.errors import InvalidDocument
from treaty.governance.lifecycle import Status, parse_status
from treaty.pipeline.project.declarations import Line, Project, Publication
from treaty.pipeline.project.document import place_at

NOT_ACTIVE = "contract-not-active"

PUBLISHED: dict[Status, Severity | None] = {
    Status.DRAFT: Severity.ERROR,
    Status.ACTIVE: None,
    Status.DEPRECATED: Severity.WARNING,
    Status.SUNSET: Severity.WARNING,
    Status.RETIRED: Severity.ERROR,
    Status.ARCHIVED: Severity.ERROR,
}
"""How much a status weighs against publishing: only errors stop it."""

UPSTREAM: dict[Status, Severity | None] = {**PUBLISHED, Status.DRAFT: Severity.WARNING}
"""The same for what is not published: a draft may be tried out before anybody reads it."""

HINTS = {
    Status.DRAFT: "activate it: treaty version activate {id} {version}, or status: active in its document",
    Status.DEPRECATED: "move its readers to the line that follows before its sunset",
    Status.SUNSET: "move its readers now: it is about to be retired",
    Status.RETIRED: "use a line that is active, and take this declaration out",
    Status.ARCHIVED: "use a line that is active, and take this declaration out",
}
"""What to do about each status."""

_CONSEQUENCES = {
    Severity.ERROR: ", so nothing may be built under it",
    Severity.WARNING: "; it still runs",
}


def status_of(contract: Contract) -> Status:
    """Return where a contract stands in its life; a status that the lifecycle does not have counts as a draft."""
    try:
        return parse_status(contract.status)
    except InvalidDocument:
        return Status.DRAFT


def refusal(contract: Contract, place: Place | None = None) -> Finding | None:
    """Say why nothing may be published under a contract, or None where it may."""
    found = judged(contract, PUBLISHED, place)
    return found if found and found.severity is Severity.ERROR else None


def judged(contract: Contract, table: Mapping[Status, Severity | None], place: Place | None = None) -> Finding | None:
    """Say what a table holds against a contract's status, or None where that is nothing."""
    status = status_of(contract)
    severity = table[status]
    if severity is None:
        return None
    return Finding(
        NOT_ACTIVE,
        severity,
        f"{contract.id} {contract.version} is {_in_words(contract, status)}{_CONSEQUENCES[severity]}",
        place=place,
        hint=HINTS[status].format(id=contract.id, version=contract.version),
    )


def promotion(project: Project, contracts: Mapping[Line, Contract]) -> tuple[Finding, ...]:
    """Hold every declaration of a project to the gate; publications are held strictly."""
    return tuple(_held(project, contracts))


def _held(project: Project, contracts: Mapping[Line, Contract]) -> Iterator[Finding]:
    for declared in project:
        table = PUBLISHED if isinstance(declared, Publication) else UPSTREAM
        if found := judged(contracts[declared.line], table, place_at(declared.at)):
            yield found


def _in_words(contract: Contract, status: Status) -> str:
    """Name the status as the document does, where the lifecycle has another word for it."""
    return status.value if contract.status in (None, "", status.value) else f"{contract.status!r}, a {status}"
