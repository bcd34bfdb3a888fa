"""Files that differ between a commit and a state of the repository, and their contents."""

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

REGULAR_FILE_MODES = ("100644", "100755")
RENAMED_OR_COPIED = ("R", "C")


class State(StrEnum):
    """Which state of the repository is compared."""

    WORKING = "working"
    STAGED = "staged"
    COMMITTED = "committed"


@dataclass(frozen=True)
class Blob:
    """A file in git: its path and the id of its content; without an id, it is in the working tree."""

    path: str
    id: str | None


@dataclass(frozen=True)
class Difference:
    """A file before and after; None if it was added, removed, or is not a regular file."""

    before: Blob | None
    after: Blob | None


def list_differences(git: Git, commit: str, state: State) -> Iterator[Difference]:
    """Yield the differences; for the working tree also untracked files, without ignored ones."""
    which = {State.WORKING: (commit,), State.STAGED: ("--cached", commit), State.COMMITTED: (commit, "HEAD")}[state]
    output = git.require(
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
        new_path = os.fsdecode(next(parts)) if status[0] in RENAMED_OR_COPIED else path
        copied = status[0] == "C"
        before = None if copied else _blob(path, old_mode, old_id)
        yield Difference(before, _blob(new_path, new_mode, new_id))
    if state is State.WORKING:
        listed = git.require("list new files", "ls-files", "--others", "--exclude-standard", "-z")
        for name in listed.split(b"\0"):
            if name:
                yield Difference(None, Blob(os.fsdecode(name), None))


def _blob(path: str, mode: str, identity: str) -> Blob | None:
    if mode not in REGULAR_FILE_MODES:
        return None
    return Blob(path, identity if identity.strip("0") else None)


CHUNK_BYTES = 1 << 20


def read_blobs(git: Git, identities: Iterable[str], limit: int) -> dict[str, bytes]:
    """Return contents by id, each cut off one byte after the limit."""
    wanted = sorted(set(identities))
    if not wanted:
        return {}
    process = git.start("cat-file", "--batch")
    requests, responses = process.stdin, process.stdout
    assert requests is not None and responses is not None  # noqa: S101, PT018 - both are pipes
    contents: dict[str, bytes] = {}
    with process:
        for identity in wanted:
            requests.write(identity.encode() + b"\n")
            requests.flush()
            head = responses.readline().split()
            if len(head) != 3:
                process.kill()
                raise Unavailable(f"git has no content for {identity}; the clone may be damaged; try: git fsck")
            contents[identity] = _content(responses, int(head[2]), limit)
        requests.close()
    return contents


def _content(responses: IO[bytes], size: int, limit: int) -> bytes:
    content = responses.read(min(size, limit + 1))
    left = size - len(content) + 1  # plus the line break after the content
    while left > 0:
        left -= len(responses.read(min(left, CHUNK_BYTES))) or left
    return content


def read_work_tree_file(root: Path, path: str, limit: int) -> bytes | None:
    """Return a file of the working tree; None if it is not a regular file or no longer exists."""
    file_path = root / path
    try:
        if not stat.S_ISREG(file_path.lstat().st_mode):
            return None
        with os.fdopen(os.open(file_path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            return file.read(limit + 1)
    except OSError:
        return None


def list_tree(git: Git, state: State) -> Mapping[str, Blob]:
    """Return the regular files of a committed or staged state by path."""
    if state is State.COMMITTED:
        output = git.require("list the files of the branch", "ls-tree", "-r", "-z", "--full-tree", "HEAD")
        rows = [row.partition(b"\t") for row in output.split(b"\0") if row]
        listed = [(os.fsdecode(path), head.split()[0].decode(), head.split()[2].decode()) for head, _, path in rows]
    else:
        output = git.require("list the files that are staged", "ls-files", "--stage", "-z")
        rows = [row.partition(b"\t") for row in output.split(b"\0") if row]
        listed = [(os.fsdecode(path), head.split()[0].decode(), head.split()[1].decode()) for head, _, path in rows]
    return {path: Blob(path, identity) for path, mode, identity in listed if mode in ("100644", "100755")}
