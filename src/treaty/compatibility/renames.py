"""Suggests undeclared renames with a confidence; they are never assumed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from treaty.compatibility.pairing import pair
from treaty.contracts.model import Contract, Field
from treaty.contracts.names import split_words
from treaty.contracts.paths import FieldPath

MIN_CONFIDENCE = 0.6
_WEIGHTS = {"name": 0.45, "type": 0.2, "position": 0.1, "meaning": 0.25}
MAX_PAIRS = 2_500
MAX_COMPARED_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class RenameSuggestion:
    """A removed and an added field that may be the same field."""

    before: str
    after: str
    confidence: float
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.before} -> {self.after} looks like a rename ({self.confidence:.0%}: {', '.join(self.reasons)})"


def suggest_renames(before: Contract, after: Contract) -> tuple[RenameSuggestion, ...]:
    """Return likely renames between two contracts, the most likely first."""
    pairs = pair(before.schema, after.schema)
    several = len(before.schema) > 1 or len(after.schema) > 1
    found: list[RenameSuggestion] = []
    for old, new in pairs.both:
        found += _among(old.fields, new.fields, FieldPath(object=old.name if several else None))
    return tuple(sorted(found, key=lambda one: (-one.confidence, one.before, one.after)))


def _among(before: Sequence[Field], after: Sequence[Field], parent: FieldPath) -> Iterator[RenameSuggestion]:
    if before == after:
        return
    pairs = pair(before, after)
    yield from _best_matches(before, after, pairs.removed, pairs.added, parent)
    for old, new in pairs.both:
        yield from _inside(old, new, parent.field(old.name or ""))


def _inside(old: Field, new: Field, path: FieldPath) -> Iterator[RenameSuggestion]:
    yield from _among(old.properties or (), new.properties or (), path)
    after = dict(new.children)
    for mark, child in old.children:
        if mark in after and child != after[mark]:
            yield from _inside(child, after[mark], path.into(mark))


def _best_matches(
    before: Sequence[Field], after: Sequence[Field], removed: Sequence[Field], added: Sequence[Field], parent: FieldPath
) -> Iterator[RenameSuggestion]:
    """Match greedily, the most likely pair first, each field once."""
    old_places = {id(field): index for index, field in enumerate(before)}
    new_places = {id(field): index for index, field in enumerate(after)}
    scored = []
    for gone, new in _candidates(removed, added, old_places, new_places):
        if gone.id is not None and new.id is not None:
            continue  # different ids are different fields
        same_place = old_places[id(gone)] == new_places[id(new)]
        confidence, reasons = _confidence(gone, new, same_place=same_place)
        if confidence >= MIN_CONFIDENCE:
            scored.append((confidence, gone.name or "", new.name or "", reasons))
    taken: set[tuple[str, str]] = set()
    for confidence, old_name, new_name, reasons in sorted(scored, key=lambda one: (-one[0], one[1], one[2])):
        if ("before", old_name) in taken or ("after", new_name) in taken:
            continue
        taken |= {("before", old_name), ("after", new_name)}
        yield RenameSuggestion(str(parent.field(old_name)), str(parent.field(new_name)), round(confidence, 2), reasons)


def _candidates(
    removed: Sequence[Field], added: Sequence[Field], old_places: dict[int, int], new_places: dict[int, int]
) -> Iterator[tuple[Field, Field]]:
    """Yield the pairs to compare: all if there are few, else those with the same position or description."""
    if len(removed) * len(added) <= MAX_PAIRS:
        yield from ((gone, new) for gone in removed for new in added)
        return
    by_place = {new_places[id(new)]: new for new in added}
    by_meaning: dict[str, Field] = {}
    for new in added:
        by_meaning.setdefault(new.description or "", new)
    for gone in removed[:MAX_PAIRS]:
        found = (by_place.get(old_places[id(gone)]), by_meaning.get(gone.description) if gone.description else None)
        yield from ((gone, new) for new in {id(one): one for one in found if one is not None}.values())


def _confidence(gone: Field, new: Field, *, same_place: bool) -> tuple[float, tuple[str, ...]]:
    likeness = {
        "name": _name_likeness(gone.name or "", new.name or ""),
        "type": float(gone.type == new.type and gone.is_required == new.is_required),
        "position": float(same_place),
        "meaning": _meaning_likeness(gone.description, new.description),
    }
    reasons = {
        "name": "similar name",
        "type": "same type",
        "position": "same position",
        "meaning": "same meaning",
    }
    score = sum(_WEIGHTS[aspect] * value for aspect, value in likeness.items())
    return score, tuple(reasons[aspect] for aspect, value in likeness.items() if value >= 0.6)


def _name_likeness(one: str, other: str) -> float:
    words, others = frozenset(split_words(one)), frozenset(split_words(other))
    shared = len(words & others) / max(len(words | others), 1)
    if shared == 1:
        return 1.0
    return max(
        shared,
        SequenceMatcher(None, one[:MAX_COMPARED_CHARACTERS].lower(), other[:MAX_COMPARED_CHARACTERS].lower()).ratio(),
    )


def _meaning_likeness(one: str | None, other: str | None) -> float:
    if not one or not other:
        return 0.4  # no description: neutral
    if one == other:
        return 1.0
    return SequenceMatcher(
        None, one[:MAX_COMPARED_CHARACTERS].lower(), other[:MAX_COMPARED_CHARACTERS].lower(), autojunk=False
    ).ratio()
