"""The files that differ between a commit and a state of the repository."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO

from treaty.cli.git.repository import Git
from treaty.errors import Unavailable

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


_CHUNK = 1 << 20


def blobs(git: Git, identities: Iterable[str], most: int) -> dict[str, bytes]:
    """Return contents by id, of each no more than `most` bytes and one."""
    wanted = sorted(set(identities))
    if not wanted:
        return {}
    process = git.start("cat-file", "--batch")
    asked, told = process.stdin, process.stdout
    assert asked is not None and told is not None  # noqa: S101, PT018 - both are pipes
    found: dict[str, bytes] = {}
    with process:
        for identity in wanted:
            asked.write(identity.encode() + b"\n")
            asked.flush()
            head = told.readline().split()
            if len(head) != 3:
                process.kill()
                raise Unavailable(f"git has no content for {identity}; is the clone whole? try: git fsck")
            found[identity] = _content(told, int(head[2]), most)
        asked.close()
    return found


def _content(told: IO[bytes], size: int, most: int) -> bytes:
    kept = told.read(min(size, most + 1))
    left = size - len(kept) + 1  # and the line break after it
    while left > 0:
        left -= len(told.read(min(left, _CHUNK))) or left
    return kept


def on_disk(root: Path, path: str, most: int) -> bytes | None:
    """Return a file of the work tree; what is no regular file, or is gone meanwhile, is none."""
    where = root / path
    try:
        if not stat.S_ISREG(where.lstat().st_mode):
            return None
        with os.fdopen(os.open(where, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            return file.read(most + 1)
    except OSError:
        return None


def tree(git: Git, state: State) -> Mapping[str, Blob]:
    """Return every regular file of a state that is in git, by path."""
    if state is State.COMMITTED:
        output = git.need("list the files of the branch", "ls-tree", "-r", "-z", "--full-tree", "HEAD")
        rows = [row.partition(b"\t") for row in output.split(b"\0") if row]
        listed = [(os.fsdecode(path), head.split()[0].decode(), head.split()[2].decode()) for head, _, path in rows]
    else:
        output = git.need("list the files that are staged", "ls-files", "--stage", "-z")
        rows = [row.partition(b"\t") for row in output.split(b"\0") if row]
        listed = [(os.fsdecode(path), head.split()[0].decode(), head.split()[1].decode()) for head, _, path in rows]
    return {path: Blob(path, identity) for path, mode, identity in listed if mode in ("100644", "100755")}
