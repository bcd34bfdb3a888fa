"""Two versions side by side: what changed, whom it breaks, which version it needs, and the way over."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.catalog import places
from treaty.catalog.pages.contract.crossing import Crossing, crossing_between
from treaty.catalog.pages.contract.dossier import Dossier, contract_of, dossier_of
from treaty.catalog.pages.contract.heading import heading_of
from treaty.catalog.pages.contract.hits import hits_of
from treaty.catalog.pages.contract.narrowing import narrowed
from treaty.catalog.pages.contract.overview import ASSETS
from treaty.catalog.pages.contract.sides import side_by_side
from treaty.catalog.rendering import Page
from treaty.catalog.sources import Source
from treaty.catalog.words import BROKEN
from treaty.compatibility.kinds import KINDS, Kind
from treaty.registry.answers import ChangeAnswer, DiffAnswer

_MOST_CHANGES = 500
_NAMED = 6
_WEIGHT = {"error": 0, "warning": 1}
_ABOUT_VERSIONS = frozenset({"version_not_increasing", "version_bump_too_small"})


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One change as the page tells it."""

    change: ChangeAnswer
    where: str
    before: str | None
    after: str | None
    meaning: str
    breaks: tuple[str, ...]
    consumers: tuple[str, ...]
    more_consumers: int


def compare_page(source: Source, name: str, before: str, after: str, *, dossier: Dossier | None = None) -> Page:
    """Return two versions of a contract side by side, in either direction and across lines."""
    known = dossier or dossier_of(source, name)
    old, new = known.at(before), known.at(after)
    answer = source.diff(name, before, after)
    one, other = contract_of(old), contract_of(new)
    hits = hits_of(answer, one, other, known.readers_of(old.line))
    lines = [_line(change, hits.by_change.get(place, ())) for place, change in enumerate(answer.changes)]
    lines.sort(key=lambda line: _WEIGHT.get(line.change.severity, 2))
    names = {str(change.before): str(change.after) for change in answer.changes if change.kind == "field_renamed"}
    pairings = side_by_side(one, other, names)
    looks_back = known.numbers.index(before) < known.numbers.index(after)
    return Page(
        places.compare(name, before, after),
        "contract/compare.html",
        f"{name[:120]} {before} → {after}",
        "contracts",
        {
            "heading": heading_of(known, new, "versions"),
            "before": old,
            "after": new,
            "answer": answer,
            "looks_back": looks_back,
            "verdict": _verdict(answer, looks_back=looks_back),
            "issues": _issues(answer, looks_back=looks_back),
            "changes": tuple(lines[:_MOST_CHANGES]),
            "more_changes": max(len(lines) - _MOST_CHANGES, 0),
            "pairings": pairings,
            "unchanged": sum(pairing.state == "unchanged" for pairing in pairings),
            "hits": hits,
            "kinds": _kinds(answer),
            "crossing": _crossing(source, name, answer),
            "numbers": known.numbers,
        },
        assets=ASSETS,
    )


def _verdict(answer: DiffAnswer, *, looks_back: bool) -> tuple[str, str]:
    """Say the verdict: its colour, and one sentence."""
    if not answer.changes:
        return "good", "Nothing differs between these two versions."
    if answer.compatible or (looks_back and not _breaking(answer)):
        return "good", f"Compatible: whoever relies on {answer.before} can rely on {answer.after}."
    if answer.admissible:
        return "warn", "Breaking, and allowed: it opens a new line beside the old one, with a plan for moving over."
    return "bad", f"Not compatible: what relies on {answer.before} may fail with {answer.after}."


def _breaking(answer: DiffAnswer) -> bool:
    return any(one.severity == "error" for one in answer.changes)


def _issues(answer: DiffAnswer, *, looks_back: bool) -> tuple[str, ...]:
    """Return what is said against the new version as a whole; looking back, its number is no surprise."""
    told = {change.message for change in answer.changes}
    return tuple(
        issue.message
        for issue in answer.issues
        if issue.message not in told and not (looks_back and issue.kind in _ABOUT_VERSIONS)
    )


def _line(change: ChangeAnswer, consumers: tuple[str, ...]) -> ChangeLine:
    kind = KINDS.get(change.kind)
    before, after = narrowed(change.before, change.after)
    return ChangeLine(
        change,
        change.path or "the contract",
        before,
        after,
        kind.summary if kind else change.message,
        tuple(BROKEN.get(one, one) for one in change.breaks),
        consumers[:_NAMED],
        max(len(consumers) - _NAMED, 0),
    )


def _kinds(answer: DiffAnswer) -> tuple[Kind, ...]:
    """Return the pages of the kinds that occur, each once."""
    return tuple(KINDS[one] for one in sorted({change.kind for change in answer.changes}) if one in KINDS)


def _crossing(source: Source, name: str, answer: DiffAnswer) -> Crossing | None:
    needed = answer.required_bump == "MAJOR" or not answer.compatible
    if not needed or not answer.changes or answer.before is None:
        return None
    return crossing_between(source, name, answer.before, answer.after)
