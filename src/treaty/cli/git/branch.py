"""A branch as the review sees it: changed files that may contain contracts, and contracts of a merge."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING

from treaty.cli.git.base import Base, Fetching, find_commit
from treaty.cli.git.changed_files import (
    Blob,
    Difference,
    State,
    list_differences,
    list_tree,
    read_blobs,
    read_work_tree_file,
)
from treaty.cli.git.repository import Git, find_repository
from treaty.cli.inputs import Source
from treaty.contracts.loader import CONTRACT_SUFFIXES, looks_like_contract_file
from treaty.errors import Unavailable
from treaty.formats import FORMATS
from treaty.formats.detection import never
from treaty.formats.nearby_files import NearbyFiles
from treaty.review.branch import Branch, File, FileChange

if TYPE_CHECKING:
    from treaty.settings import Settings


MAX_WORDS_PER_GREP = 200
_ENDINGS = (*CONTRACT_SUFFIXES, *(ending for one in FORMATS if one.detect is not never for ending in one.suffixes))


@dataclass(frozen=True)
class FileFilter:
    """Which files to read: state, maximum size in bytes, ignored patterns and selected paths."""

    state: State
    max_bytes: int
    ignore: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def includes(self, path: str) -> bool:
        """Tell whether a file is read."""
        if any(fnmatch.fnmatchcase(path, pattern) for pattern in self.ignore):
            return False
        return not self.paths or any(path == one or path.startswith(f"{one}/") or one == "." for one in self.paths)


def read_branch(git: Git, base: Base, files: FileFilter) -> Branch:
    """Return the branch with every changed file that may contain a contract."""
    found = [_visible_sides(one, files) for one in list_differences(git, base.commit, files.state)]
    found = [one for one in found if one.before or one.after]
    needed = [blob.id for one in found for blob in (one.before, one.after) if blob and blob.id]
    contents = read_blobs(git, needed, files.max_bytes)
    revision = base.commit[:12]

    def file(blob: Blob | None, at: str | None = None) -> File | None:
        if blob is None:
            return None
        content = contents[blob.id] if blob.id else read_work_tree_file(git.root, blob.path, files.max_bytes)
        return None if content is None else File(blob.path, content, at, _files_around(git, blob.path, at, files))

    touched = [FileChange(file(one.before, revision), file(one.after)) for one in found]
    touched = [one for one in touched if one.before or one.after]
    here = {one.after.path for one in touched if one.after} | {blob.path for one in found if (blob := one.after)}
    return Branch(
        base.name,
        base.commit,
        tuple(sorted(touched, key=lambda one: one.path)),
        lambda words: _files_mentioning(git, words, files, here),
    )


def _files_around(git: Git, path: str, revision: str | None, files: FileFilter) -> NearbyFiles:
    """Return the files around a file of the repository, at a revision or in the state that is reviewed."""
    is_working = revision is None and files.state is State.WORKING
    tree = revision or ("HEAD" if files.state is State.COMMITTED else "")

    def read_text(other: str) -> str | None:
        if is_working:
            return _decode(read_work_tree_file(git.root, other, files.max_bytes), files.max_bytes)
        result = git.run("cat-file", "blob", f"{tree}:{other}")
        return _decode(result.output, files.max_bytes) if result.code == 0 else None

    def read_relative(reference: str) -> str | None:
        other = normpath(join(dirname(path), reference))
        return None if other.startswith(("/", "..")) or "\0" in other else read_text(other)

    def list_folder(folder: str) -> list[str]:
        if is_working:
            return [one.name for one in (git.root / folder).iterdir() if one.is_file()]
        if tree:
            result = git.run("ls-tree", "-z", "--name-only", f"{tree}:{folder}")
        else:
            result = git.run("ls-files", "-z", "--cached", "--", f":(glob){folder}/*" if folder else ":(glob)*")
        return [os.fsdecode(name).rpartition("/")[2] for name in result.output.split(b"\0") if name]

    return NearbyFiles(path, read_text, list_folder, read_relative)


def _decode(content: bytes | None, max_bytes: int) -> str | None:
    return None if content is None or len(content) > max_bytes else content.decode("utf-8-sig", "replace")


def paths_in_repository(git: Git, paths: Iterable[str]) -> tuple[str, ...]:
    """Return paths relative to the repository; a path outside is an error."""
    found = []
    root = git.root.resolve()
    for path in paths:
        whole = Path(os.path.abspath(path))  # noqa: PTH100 - a link is named, not what it leads to
        for near in (root, git.root):
            if whole == near or near in whole.parents:
                found.append(whole.relative_to(near).as_posix())
                break
        else:
            raise Unavailable(f"{path} is not in the repository {git.root}")
    return tuple(found)


def _visible_sides(one: Difference, files: FileFilter) -> Difference:
    """Drop sides that are not read; a file that moves out of or into the filter counts as removed or added."""
    before, after = one.before, one.after
    return replace(
        one,
        before=before if before and files.includes(before.path) and _may_contain_contract(before.path) else None,
        after=after if after and files.includes(after.path) and _may_contain_contract(after.path) else None,
    )


def _may_contain_contract(path: str) -> bool:
    """Tell by its name whether a file may contain a contract, subscriptions or a schema."""
    return path.lower().endswith(_ENDINGS)


def _files_mentioning(git: Git, words: Collection[str], files: FileFilter, touched: Collection[str]) -> Sequence[File]:
    """Find unchanged contracts and subscriptions that contain one of the words."""
    named: set[str] = set()
    listed = [word for word in words if word.strip() and "\n" not in word and "\0" not in word]
    for start in range(0, len(listed), MAX_WORDS_PER_GREP):
        named |= _grep(git, listed[start : start + MAX_WORDS_PER_GREP], files.state)
    ignored = replace(files, paths=())  # consumers outside of the paths are affected too
    paths = sorted(path for path in named if path not in touched and ignored.includes(path))
    if files.state is State.WORKING:
        read = ((path, read_work_tree_file(git.root, path, files.max_bytes)) for path in paths)
        return [File(path, content) for path, content in read if content is not None]
    known = list_tree(git, files.state)
    found = [known[path] for path in paths if path in known]
    contents = read_blobs(git, [one.id for one in found if one.id], files.max_bytes)
    return [File(one.path, contents[one.id]) for one in found if one.id]


def _grep(git: Git, words: Sequence[str], state: State) -> set[str]:
    where = {State.WORKING: ("--untracked",), State.STAGED: ("--cached",), State.COMMITTED: ("HEAD",)}[state]
    options = ("grep", "--files-with-matches", "-z", "-I", "--fixed-strings", "--full-name", "--no-recurse-submodules")
    patterns = [part for word in words for part in ("-e", word)]
    flags = where if state is not State.COMMITTED else ()
    tree_ish = where if state is State.COMMITTED else ()
    result = git.run(
        *options, "--no-textconv", *flags, *patterns, *tree_ish, "--", *(f"*{suffix}" for suffix in CONTRACT_SUFFIXES)
    )
    if result.code > 1:
        raise Unavailable(f"git could not search the branch: {result.reason}")
    names = [os.fsdecode(name) for name in result.output.split(b"\0") if name]
    return {name.removeprefix("HEAD:") if tree_ish else name for name in names}


@dataclass(frozen=True)
class MergedContracts:
    """Contracts that were changed and removed since a commit."""

    base: Base
    sources: tuple[Source, ...]
    removed: tuple[str, ...]


def changed_since(named: str | None, fetching: Fetching, settings: Settings) -> MergedContracts:
    """Return the contracts that differ between a commit and the last one."""
    git = find_repository(Path())
    base = find_commit(git, named, fetching)
    files = FileFilter(State.COMMITTED, settings.limits.bytes, settings.parts.check.ignore)
    touched = read_branch(git, base, files).touched
    now = [one.after for one in touched if one.after and looks_like_contract_file(one.after.content)]
    gone = [one.before for one in touched if one.after is None and one.before]
    return MergedContracts(
        base,
        tuple(Source(one.path, one.content) for one in now if one.path.lower().endswith(CONTRACT_SUFFIXES)),
        tuple(one.path for one in gone if looks_like_contract_file(one.content)),
    )
