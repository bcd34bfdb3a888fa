"""Grades of changes: the table of kinds, with the overrides of a team."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from treaty.compatibility.changes import Breaks, Change
from treaty.compatibility.kinds import KINDS, Grade
from treaty.compatibility.kinds.meaning import classify_meaning, plain_property_name
from treaty.contracts.versions import Bump
from treaty.errors import InvalidDocument


@dataclass(frozen=True)
class Regrade:
    """A team's override for one kind; None keeps the value of the table."""

    bump: Bump | None = None
    breaks: frozenset[Breaks] | None = None


@dataclass(frozen=True)
class Grading:
    """The grades of the table of kinds, with a team's overrides and the custom properties that carry meaning."""

    overrides: Mapping[str, Regrade] = field(default_factory=dict)
    meaning_properties: frozenset[str] = frozenset()

    def classify(self, change: Change) -> Change:
        """Return a change with the kind that the team's list of meaningful custom properties gives it."""
        return classify_meaning(change, self.meaning_properties) if self.meaning_properties else change

    def of(self, change: Change, profile: Grade | None = None) -> Grade:
        """Return the grade of a change: that of the table or of a profile, with the team's override."""
        grade = profile or KINDS[change.kind].grades[change.direction]
        override = self.overrides.get(change.kind)
        if override is None:
            return grade
        bump = grade.bump if override.bump is None else override.bump
        breaks = grade.breaks if override.breaks is None else override.breaks
        return Grade(bump, breaks, grade.caution)


def parse_grading(data: Mapping[str, Any], meaning_properties: Iterable[Any] = ()) -> Grading:
    """Parse overrides from settings: a kind with its bump, or with `bump` and `breaks`."""
    overrides: dict[str, Regrade] = {}
    for name, value in data.items():
        if name not in KINDS or KINDS[name].is_check:
            raise InvalidDocument(f"unknown kind {name!r} in grading; see: treaty explain kinds")
        overrides[name] = _regrade(name, value)
    return Grading(overrides, frozenset(_property_name(name) for name in meaning_properties))


def _property_name(name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InvalidDocument(f"meaning_properties is a list of names of custom properties, not {name!r}")
    return plain_property_name(name)


def _regrade(name: str, value: Any) -> Regrade:
    if isinstance(value, str):
        return Regrade(Bump.parse(value))
    if not isinstance(value, Mapping) or not value or value.keys() - {"bump", "breaks"}:
        raise InvalidDocument(f"grading of {name!r} is a bump, or a mapping with bump and breaks")
    bump = Bump.parse(str(value["bump"])) if "bump" in value else None
    if "breaks" not in value:
        return Regrade(bump)
    if not isinstance(value["breaks"], (list, tuple)):
        raise InvalidDocument(f"grading of {name!r}: breaks is a list of: {', '.join(Breaks)}")
    return Regrade(bump, frozenset(_broken(name, item) for item in value["breaks"]))


def _broken(name: str, text: Any) -> Breaks:
    try:
        return Breaks(text)
    except ValueError:
        raise InvalidDocument(f"grading of {name!r}: unknown {text!r}; use: {', '.join(Breaks)}") from None
