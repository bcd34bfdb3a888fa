"""Reviewing the branch that is checked out, as a project's settings say."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.cli.checking.bases import Base, Fetching, find_base
from treaty.cli.checking.branches import Looking, below, branch_of
from treaty.cli.checking.changed import State
from treaty.cli.checking.git import Git, repository
from treaty.cli.checking.registries import Desk, named_registry
from treaty.compatibility import parse_mode
from treaty.review import Review, Rules, review

if TYPE_CHECKING:
    from treaty.settings import Settings


@dataclass(frozen=True)
class Asked:
    """What somebody who runs a check asks for."""

    base: str | None
    state: State
    fetching: Fetching
    mode: str | None
    today: date
    paths: tuple[str, ...] = ()
    registry: str | None = None
    token_file: Path | None = None
    is_offline: bool = False


@dataclass(frozen=True)
class Checkout:
    """A branch that is checked out, and the commit it is compared with."""

    git: Git
    base: Base
    asked: Asked
    settings: Settings

    def review(self) -> Review:
        """Review the branch as it is now."""
        settings, asked = self.settings, self.asked
        looking = Looking(asked.state, settings.limits.bytes, settings.parts.check.ignore, below(self.git, asked.paths))
        mode = parse_mode(asked.mode) if asked.mode else settings.mode()
        rules = Rules(mode, settings.grading(), settings.linting(), settings.limits, asked.today)
        named = None if asked.is_offline else named_registry(asked.registry, settings)
        desk = Desk(named, asked.token_file, settings, asked.mode) if named is not None else None
        with desk or nullcontext():
            return review(branch_of(self.git, self.base, looking), rules, desk)


def check_out(asked: Asked, settings: Settings) -> Checkout:
    """Find the repository, and where its branch left the base."""
    git = repository(Path())
    base = find_base(git, asked.base or settings.parts.check.base, asked.fetching)
    return Checkout(git, base, asked, settings)
