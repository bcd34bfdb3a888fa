"""A branch of a repository, as a review looks at it."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.cli.git.base import Base, Fetching, find_commit
from treaty.cli.git.changed_files import Blob, Difference, State, blobs, differences, on_disk, tree
from treaty.cli.git.repository import Git, repository
from treaty.cli.inputs import Source
from treaty.contracts.loader import CONTRACT_SUFFIXES, looks_like_contract_file
from treaty.errors import Unavailable
from treaty.formats import FORMATS
from treaty.formats.detection import never
from treaty.review.branch import Branch, File, FileChange

if TYPE_CHECKING:
    from treaty.settings import Settings


_MOST_WORDS = 200
_ENDINGS = (*CONTRACT_SUFFIXES, *(ending for one in FORMATS if one.detect is not never for ending in one.suffixes))


@dataclass(frozen=True)
class Looking:
    """Which files are looked at: in which state, below which paths, and which not; no more of each than `most`."""

    state: State
    most: int
    ignore: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def sees(self, path: str) -> bool:
        """Tell whether a file is looked at."""
        if any(fnmatch.fnmatchcase(path, pattern) for pattern in self.ignore):
            return False
        return not self.paths or any(path == one or path.startswith(f"{one}/") or one == "." for one in self.paths)


def branch_of(git: Git, base: Base, looking: Looking) -> Branch:
    """Return the branch with every touched file that may hold a contract."""
    found = [_seen(one, looking) for one in differences(git, base.commit, looking.state)]
    found = [one for one in found if one.before or one.after]
    needed = [blob.id for one in found for blob in (one.before, one.after) if blob and blob.id]
    held = blobs(git, needed, looking.most)
    revision = base.commit[:12]

    def file(blob: Blob | None, at: str | None = None) -> File | None:
        if blob is None:
            return None
        content = held[blob.id] if blob.id else on_disk(git.root, blob.path, looking.most)
        return None if content is None else File(blob.path, content, at)

    touched = [FileChange(file(one.before, revision), file(one.after)) for one in found]
    touched = [one for one in touched if one.before or one.after]
    here = {one.after.path for one in touched if one.after} | {blob.path for one in found if (blob := one.after)}
    return Branch(
        base.name,
        base.commit,
        tuple(sorted(touched, key=lambda one: one.path)),
        lambda words: _mentioning(git, words, looking, here),
    )


def below(git: Git, paths: Iterable[str]) -> tuple[str, ...]:
    """Return paths as the repository names them; one outside of it is refused."""
    found = []
    root = git.root.resolve()
    for path in paths:
        whole = Path(os.path.abspath(path))  # noqa: PTH100 - a link is named, not what it leads to
        for near in (root, git.root):
            if whole == near or near in whole.parents:
                found.append(whole.relative_to(near).as_posix())
                break
        else:
            raise Unavailable(f"{path} is not in the repository {git.root}; name files and folders of it")
    return tuple(found)


def _seen(one: Difference, looking: Looking) -> Difference:
    """Leave out what is not looked at; a file that moves out of sight, or into it, counts as removed or added."""
    before, after = one.before, one.after
    return replace(
        one,
        before=before if before and looking.sees(before.path) and _may_hold(before.path) else None,
        after=after if after and looking.sees(after.path) and _may_hold(after.path) else None,
    )


def _may_hold(path: str) -> bool:
    """Tell by its name whether a file may hold a contract, subscriptions or a schema."""
    return path.lower().endswith(_ENDINGS)


def _mentioning(git: Git, words: Collection[str], looking: Looking, touched: Collection[str]) -> Sequence[File]:
    """Find files that the branch leaves alone and that hold one of the words; contracts and subscriptions only."""
    named: set[str] = set()
    listed = [word for word in words if word.strip() and "\n" not in word and "\0" not in word]
    for start in range(0, len(listed), _MOST_WORDS):
        named |= _grep(git, listed[start : start + _MOST_WORDS], looking.state)
    ignored = replace(looking, paths=())  # a reader outside of the paths is hit all the same
    paths = sorted(path for path in named if path not in touched and ignored.sees(path))
    if looking.state is State.WORKING:
        read = ((path, on_disk(git.root, path, looking.most)) for path in paths)
        return [File(path, content) for path, content in read if content is not None]
    known = tree(git, looking.state)
    found = [known[path] for path in paths if path in known]
    held = blobs(git, [one.id for one in found if one.id], looking.most)
    return [File(one.path, held[one.id]) for one in found if one.id]


def _grep(git: Git, words: Sequence[str], state: State) -> set[str]:
    where = {State.WORKING: ("--untracked",), State.STAGED: ("--cached",), State.COMMITTED: ("HEAD",)}[state]
    options = ("grep", "--files-with-matches", "-z", "-I", "--fixed-strings", "--full-name", "--no-recurse-submodules")
    asked = [part for word in words for part in ("-e", word)]
    flags = where if state is not State.COMMITTED else ()
    tree_ish = where if state is State.COMMITTED else ()
    said = git.ask(
        *options, "--no-textconv", *flags, *asked, *tree_ish, "--", *(f"*{suffix}" for suffix in CONTRACT_SUFFIXES)
    )
    if said.code > 1:
        raise Unavailable(f"git could not search the branch: {said.reason}")
    names = [os.fsdecode(name) for name in said.output.split(b"\0") if name]
    return {name.removeprefix("HEAD:") if tree_ish else name for name in names}


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
    now = [one.after for one in touched if one.after and looks_like_contract_file(one.after.content)]
    gone = [one.before for one in touched if one.after is None and one.before]
    return Merged(
        base,
        tuple(Source(one.path, one.content) for one in now if one.path.lower().endswith(CONTRACT_SUFFIXES)),
        tuple(one.path for one in gone if looks_like_contract_file(one.content)),
    )
