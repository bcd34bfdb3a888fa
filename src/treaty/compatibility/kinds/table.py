"""The table of kinds: the grade of each change by term and direction.

A kind is one function: its name is the id, its docstring the public page, its result the message. The decorator
states the term it belongs to and, for each direction, the required bump and who is affected.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.compatibility.changes import Breaks, Change, Direction
from treaty.contracts.values import abbreviate
from treaty.contracts.versions import Bump

BREAKS_NOTHING: frozenset[Breaks] = frozenset()
DATA = frozenset({Breaks.EXISTING_DATA})
READERS = frozenset({Breaks.EXISTING_READERS})
BOTH = DATA | READERS


@dataclass(frozen=True, slots=True)
class Grade:
    """What a change requires; `caution` adds a warning to a change that breaks nothing by itself."""

    bump: Bump
    breaks: frozenset[Breaks] = BREAKS_NOTHING
    caution: bool = False


@dataclass(frozen=True)
class Kind:
    """One kind of change or check, with its public page."""

    id: str
    term: str
    grades: Mapping[Direction, Grade]
    page: str
    message: Callable[..., str]
    always: bool = False

    @property
    def summary(self) -> str:
        """The first line of the page."""
        return self.page.splitlines()[0]

    @property
    def is_check(self) -> bool:
        """Whether it checks the new version itself instead of one change."""
        return not self.grades


KINDS: dict[str, Kind] = {}
_BY_TERM: dict[tuple[str, Direction], Kind] = {}


def kind(
    term: str, grades: Mapping[Direction, Grade], *, always: bool = False
) -> Callable[[Callable[[Change], str]], Kind]:
    """Register a function as a kind of change."""

    def enter(message: Callable[[Change], str]) -> Kind:
        entered = _enter(Kind(message.__name__, term, dict(grades), _page(message), message, always))
        for direction in grades:
            if (term, direction) in _BY_TERM:
                other = _BY_TERM[term, direction].id
                raise ValueError(f"{entered.id} and {other} are both registered for {term} {direction}")
            _BY_TERM[term, direction] = entered
        return entered

    return enter


def check(term: str) -> Callable[[Callable[..., str]], Kind]:
    """Register a function as a check of the new version."""

    def enter(message: Callable[..., str]) -> Kind:
        return _enter(Kind(message.__name__, term, {}, _page(message), message))

    return enter


def kind_for(term: str, direction: Direction) -> Kind:
    """Return the kind of a change, given the term and the direction of the change."""
    return _BY_TERM[term, direction]


def format_before_after(change: Change) -> str:
    """Return ``: before -> after``, or an empty text for values that are too large to print."""
    if any(isinstance(value, (Mapping, tuple, list)) for value in (change.before, change.after)):
        return ""
    return f": {abbreviate(change.before)} -> {abbreviate(change.after)}"


def describe(change: Change) -> str:
    """Describe a change in one sentence."""
    return KINDS[change.kind].message(change)


def _enter(entered: Kind) -> Kind:
    if entered.id in KINDS:
        raise ValueError(f"the kind {entered.id} is declared twice")
    KINDS[entered.id] = entered
    return entered


def _page(function: Callable[..., Any]) -> str:
    page = inspect.getdoc(function)
    if not page:
        raise ValueError(f"{function.__name__} has no page; write its docstring")
    return page
