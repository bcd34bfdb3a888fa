"""What a run tells while it goes on: one word for each boundary that a step crosses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Moment(StrEnum):
    """The boundaries of a step; between two of them lies the work."""

    STARTED = "started"
    STAGED = "staged"
    WRITTEN = "written"
    AUDITED = "audited"
    PUBLISHED = "published"
    ENDED = "ended"


@dataclass(frozen=True)
class Happening:
    """A step that crosses a boundary, as one of so many."""

    step: str
    layer: str
    moment: Moment
    number: int
    of: int
    words: str = ""


Teller: TypeAlias = Callable[[Happening], None]


def nobody(happening: Happening) -> None:
    """Tell nobody."""
