"""The rules of a policy: the values that `require` entries are parsed into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from treaty.contracts.findings import Severity
from treaty.contracts.values import EMPTY, FrozenMap


class Scope(StrEnum):
    """What a rule is about."""

    CONTRACT = "contract"
    OBJECT = "object"
    FIELD = "field"
    CONSUMER = "consumer"


@dataclass(frozen=True, slots=True)
class Requirement:
    """A rule: what it is about, when it applies, and what must be there.

    All of `must` have to be met; each is a choice of alternatives, of which one is enough.
    """

    name: str
    scope: Scope
    must: tuple[tuple[FrozenMap, ...], ...]
    where: FrozenMap = EMPTY
    severity: Severity = Severity.ERROR
    message: str | None = None
    start: date | None = None
    """The day from which a rule for consumers refuses; before, it warns."""

    def severity_on(self, today: date) -> Severity:
        """Return the severity on a day."""
        is_announced = self.start is not None and today < self.start
        return Severity.WARNING if is_announced and self.severity is Severity.ERROR else self.severity

    @property
    def is_about_layers(self) -> bool:
        """Whether it says from which layers a consumer may read."""
        return "layer" in self.where or any("layer" in one for option in self.must for one in option)


def matches_text(text: str | None, wanted: Any) -> bool:
    """Return whether a text is one of the wanted texts; `true` accepts any, `*` any part, and case is ignored."""
    if wanted is True:
        return bool(text)
    patterns = wanted if isinstance(wanted, tuple) else (wanted,)
    return text is not None and any(fnmatchcase(text.casefold(), str(one).casefold()) for one in patterns)


def parse_requirement(entry: Mapping[str, Any]) -> Requirement:
    """Return the rule of a valid entry."""
    alternatives = entry["must"].get("any_of", ())
    direct = FrozenMap({key: value for key, value in entry["must"].items() if key != "any_of"})
    must = (*(((direct,),) if direct else ()), *((tuple(alternatives),) if alternatives else ()))
    severity = Severity(entry.get("severity", Severity.ERROR))
    where = entry.get("where", EMPTY)
    start = date.fromisoformat(str(entry["from"])) if "from" in entry else None
    return Requirement(entry["name"], Scope(entry["for"]), must, where, severity, entry.get("message"), start)
