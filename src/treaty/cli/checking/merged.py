"""What a merge changed: the contracts to register, and those that are gone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.cli.checking.bases import Base, Fetching, find_commit
from treaty.cli.checking.branches import Looking, branch_of
from treaty.cli.checking.changed import State
from treaty.cli.checking.git import repository
from treaty.cli.inputs import Source
from treaty.contracts.recognising import SUFFIXES, meant_as_contract

if TYPE_CHECKING:
    from treaty.settings import Settings


@dataclass(frozen=True)
class Merged:
    """What was committed since a commit."""

    base: Base
    sources: tuple[Source, ...]
    removed: tuple[str, ...]


def changed_since(named: str | None, fetching: Fetching, settings: Settings) -> Merged:
    """Return the contracts that differ between a commit and the last one, as they are committed."""
    git = repository(Path())
    base = find_commit(git, named, fetching)
    looking = Looking(State.COMMITTED, settings.limits.bytes, settings.parts.check.ignore)
    touched = branch_of(git, base, looking).touched
    now = [one.after for one in touched if one.after and meant_as_contract(one.after.content)]
    gone = [one.before for one in touched if one.after is None and one.before]
    return Merged(
        base,
        tuple(Source(one.path, one.content) for one in now if one.path.lower().endswith(SUFFIXES)),
        tuple(one.path for one in gone if meant_as_contract(one.content)),
    )
