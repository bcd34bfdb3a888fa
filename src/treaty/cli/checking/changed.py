"""The files that differ between a commit and a state of the repository."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from treaty.cli.checking.git import Git

_REGULAR = ("100644", "100755")
_MOVED = ("R", "C")


class State(StrEnum):
    """Which state of the repository is looked at."""

    WORKING = "working"
    STAGED = "staged"
    COMMITTED = "committed"


@dataclass(frozen=True)
class Blob:
    """A file in git: its path, and its content by id; without an id it stands in the work tree."""

    path: str
    id: str | None


@dataclass(frozen=True)
class Difference:
    """A file on both sides; one is missing where it was added or removed, or is no regular file there."""

    before: Blob | None
    after: Blob | None


def differences(git: Git, commit: str, state: State) -> Iterator[Difference]:
    """Yield what differs; of the work tree also the files that git does not know yet, ignored ones left out."""
    which = {State.WORKING: (commit,), State.STAGED: ("--cached", commit), State.COMMITTED: (commit, "HEAD")}[state]
    output = git.need(
        "compare the branch with its base",
        *("diff", "--raw", "-z", "--no-abbrev", "--find-renames", "--no-ext-diff", "--no-textconv", "--no-relative"),
        *("--ignore-submodules=all", *which, "--"),
    )
    parts = iter(output.split(b"\0"))
    for head in parts:
        if not head.startswith(b":"):
            break
        old_mode, new_mode, old_id, new_id, status = head[1:].decode("ascii").split(" ")
        path = os.fsdecode(next(parts))
        new_path = os.fsdecode(next(parts)) if status[0] in _MOVED else path
        copied = status[0] == "C"
        before = None if copied else _blob(path, old_mode, old_id)
        yield Difference(before, _blob(new_path, new_mode, new_id))
    if state is State.WORKING:
        listed = git.need("list new files", "ls-files", "--others", "--exclude-standard", "-z")
        for name in listed.split(b"\0"):
            if name:
                yield Difference(None, Blob(os.fsdecode(name), None))


def _blob(path: str, mode: str, identity: str) -> Blob | None:
    if mode not in _REGULAR:
        return None
    return Blob(path, identity if identity.strip("0") else None)
