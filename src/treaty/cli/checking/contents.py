"""The contents of many files at once: from one git process, and from the work tree."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO

from treaty.cli.checking.changed import Blob, State
from treaty.cli.checking.git import Git
from treaty.errors import Unavailable

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
