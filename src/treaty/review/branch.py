"""What a review is given: the files a branch touches, the others that matter to them, and whom it may ask."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from treaty.compatibility import Grading, Mode
from treaty.contracts.model import Contract
from treaty.contracts.reading import Limits
from treaty.governance.lint import LintSettings
from treaty.review.documents import Document, File
from treaty.review.report import RegistrySays


@dataclass(frozen=True)
class Touched:
    """A file on both sides: one of them is missing where it was added or removed, the paths differ where it moved."""

    before: File | None
    after: File | None

    @property
    def path(self) -> str:
        """Where the file stands in the branch, or stood."""
        found = self.after or self.before
        return found.path if found else ""


@dataclass(frozen=True)
class Branch:
    """What a branch touches since its base; `mentioning` finds untouched files of it by the words in them."""

    base: str
    commit: str
    touched: tuple[Touched, ...]
    mentioning: Callable[[Collection[str]], Sequence[File]]


@dataclass(frozen=True)
class Rules:
    """What holds in the project, and the day on which waivers are looked at."""

    mode: Mode
    grading: Grading
    lint: LintSettings
    limits: Limits
    today: date


class RegistryDesk(Protocol):
    """A registry, as a review asks it; it raises Unavailable where no answer comes."""

    @property
    def name(self) -> str:
        """Which registry it is."""
        ...

    def judge(self, document: Document) -> RegistrySays:
        """Say what would become of a version."""
        ...

    def removal(self, contract: Contract) -> RegistrySays:
        """Say what stands against a line being gone."""
        ...
