"""Register over a wire that may break: a version is registered once, so it is safe to hand it in again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treaty.errors import Conflict, NotFound, Refused
from treaty.registry.answers import DecisionAnswer, DiffAnswer, DocumentAnswer, Page, Registration
from treaty.registry.client.addresses import API, contract_path, version_path
from treaty.registry.client.documents import Parcel, parcel
from treaty.registry.client.wire import Interrupted, NotNow, Wire
from treaty.registry.preparing import Prepared, prepare
from treaty.registry.report import CompatibilityReport

if TYPE_CHECKING:
    from treaty.registry.local.desk import Document


def register(wire: Wire, document: Document, compatibility: str | None) -> Registration:
    """Register a version; where an answer was lost, see whether it is the one that is registered now."""
    body = parcel(document, compatibility)
    wait, lost = wire.pauses(), False
    while True:
        try:
            return wire.read(wire.send("POST", "/contracts", body=body), Registration)
        except NotNow as error:
            lost = lost or isinstance(error, Interrupted)
            if not wait():
                raise
        except Conflict:
            arrived = _arrived(wire, document) if lost else None
            if arrived is None:
                raise
            return arrived
        except Refused as error:
            raise _with_version(wire, error, body) from None


def _arrived(wire: Wire, document: Document) -> Registration | None:
    """Return what became of a version whose answer was lost; None where another document is registered in its place."""
    ours = document if isinstance(document, Prepared) else prepare(document)
    contract, version = ours.contract.id, ours.contract.version
    try:
        kept = wire.get(version_path(contract, version), DocumentAnswer)
    except NotFound:
        return None
    if kept.digest != ours.digest:
        return None
    return Registration(
        status="registered", dataset_id=contract, version=version, compatibility=_report_again(wire, kept)
    )


def _report_again(wire: Wire, kept: DocumentAnswer) -> CompatibilityReport:
    """Compare a version once more with the one it followed: the highest of its line before it, else of all."""
    earlier = _registered_before(wire, kept)
    if not earlier:
        return CompatibilityReport(compatible=True, mode=kept.mode, issues=[])
    followed = max(earlier, key=lambda one: (one.line == kept.line, _parts(one.version)))
    asked = {"before": followed.version, "after": kept.version, "mode": kept.mode}
    said = wire.get(contract_path(kept.contract, "diff"), DiffAnswer, asked)
    return CompatibilityReport(
        compatible=not any(issue.severity == "error" for issue in said.issues),
        mode=said.mode,
        issues=said.issues,
        required_version=said.required_version,
    )


def _registered_before(wire: Wire, kept: DocumentAnswer) -> list[DocumentAnswer]:
    found: list[DocumentAnswer] = []
    cursor: str | None = None
    while True:
        page = wire.get(contract_path(kept.contract, "versions"), Page[DocumentAnswer], {"cursor": cursor})
        for one in page.items:
            if one.version == kept.version:
                return found
            found.append(one)
        if page.next is None:
            return found
        cursor = page.next


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("+")[0].split("-")[0].split("."))


def _with_version(wire: Wire, error: Refused, body: Parcel) -> Refused:
    """Say to a refused version which one it must be, as a local registry does."""
    from treaty.registry.registering import VersionRefused  # it loads the database's packages

    if not isinstance(error, VersionRefused):
        return error
    decision = wire.ask(f"{API}/can-i-publish", DecisionAnswer, body)
    report = error.report.model_copy(update={"required_version": decision.required_version})
    return VersionRefused(_subject(decision), report)


def _subject(decision: DecisionAnswer) -> str:
    return decision.question.removeprefix("can ").removesuffix(" be published?")
