"""Changes and issues as rows of a table: what, where, from what to what, whom it breaks, what to do instead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from treaty.catalog.words import BROKEN
from treaty.compatibility import KINDS, Verdict
from treaty.compatibility.judging import Judged
from treaty.contracts.values import brief, thaw
from treaty.registry.answers import ImpactAnswer
from treaty.registry.report import CompatibilityReport

_INSTEAD = "Instead: "
_RANK = {"error": 0, "warning": 1, "info": 2}
_LONGEST = 200


@dataclass(frozen=True)
class ChangeRow:
    """One change, as people ask about it."""

    kind: str
    severity: str
    where: str
    before: str
    after: str
    message: str
    breaks: tuple[str, ...]
    bump: str
    mend: str | None
    consumers: tuple[str, ...]


@dataclass(frozen=True)
class IssueRow:
    """One thing that stands against a version as a whole."""

    kind: str
    severity: str
    where: str | None
    message: str
    mend: str | None


def change_rows(verdict: Verdict, impact: ImpactAnswer) -> tuple[ChangeRow, ...]:
    """Return every change, the gravest first."""
    readers = {one.name: frozenset(one.fields) for one in impact.having("hit", "unknown", "exposed")}
    rows = [_row(item, readers) for item in verdict.judged]
    return tuple(sorted(rows, key=lambda row: (_RANK[row.severity], row.where, row.kind)))


def issue_rows(report: CompatibilityReport, changes: Iterable[ChangeRow]) -> tuple[IssueRow, ...]:
    """Return what is said besides the changes."""
    said = {(row.kind, row.message) for row in changes}
    return tuple(
        IssueRow(one.kind, one.severity, one.field, one.message, instead(one.kind))
        for one in report.issues
        if (one.kind, one.message) not in said
    )


def instead(kind: str) -> str | None:
    """Return what the page of a kind advises."""
    known = KINDS.get(kind)
    paragraphs = known.page.split("\n\n") if known else []
    found = next((one for one in paragraphs if one.startswith(_INSTEAD)), None)
    if found is None:
        return None
    words = " ".join(found.removeprefix(_INSTEAD).split()).replace("`", "")
    return words[:1].upper() + words[1:]


def _row(item: Judged, readers: dict[str, frozenset[str]]) -> ChangeRow:
    change = item.change
    hit = [name for name, fields in readers.items() if change.field is not None and change.field in fields]
    return ChangeRow(
        change.kind,
        item.severity.value,
        change.path or "the contract",
        _written(change.before),
        _written(change.after),
        item.message,
        tuple(BROKEN[one] for one in sorted(item.breaks)),
        str(item.grade.bump),
        instead(change.kind) if item.severity.value != "info" else None,
        tuple(hit),
    )


def _written(value: Any) -> str:
    return "—" if value is None else brief(thaw(value))[:_LONGEST]
