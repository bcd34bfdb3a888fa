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
from treaty.consumers.subscription_files import looks_like_subscriptions
from treaty.contracts.loader import CONTRACT_SUFFIXES, looks_like_contract_file
from treaty.errors import Unavailable
from treaty.formats import FORMATS
from treaty.formats.detection import never
from treaty.formats.nearby_files import NearbyFiles
from treaty.review.branch import Branch, File, FileChange

if TYPE_CHECKING:
    from treaty.settings import Settings


MAX_WORDS_PER_GREP = 200
_ENDINGS = (
    *CONTRACT_SUFFIXES,
    *(ending for format_ in FORMATS if format_.detect is not never for ending in format_.suffixes),
)


@dataclass(frozen=True)
class FileFilter:
    """Which files to read: state, maximum size in bytes, ignored patterns and selected paths."""

    state: State
    max_bytes: int
    ignore: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def includes(self, path: str) -> bool:
        """Return whether a file is read."""
        if any(fnmatch.fnmatchcase(path, pattern) for pattern in self.ignore):
            return False
        return not self.paths or any(
            path == known_path or path.startswith(f"{known_path}/") or known_path == "." for known_path in self.paths
        )


def read_branch(git: Git, base: Base, files: FileFilter) -> Branch:
    """Return the branch with every changed file that may contain a contract."""
    differences = [_visible_sides(difference, files) for difference in list_differences(git, base.commit, files.state)]
    differences = [difference for difference in differences if difference.before or difference.after]
    needed = [
        blob.id for difference in differences for blob in (difference.before, difference.after) if blob and blob.id
    ]
    contents = read_blobs(git, needed, files.max_bytes)
    revision = base.commit[:12]

    def file(blob: Blob | None, at: str | None = None) -> File | None:
        if blob is None:
            return None
        content = contents[blob.id] if blob.id else read_work_tree_file(git.root, blob.path, files.max_bytes)
        return None if content is None else File(blob.path, content, at, _files_around(git, blob.path, at, files))

    touched = [FileChange(file(difference.before, revision), file(difference.after)) for difference in differences]
    touched = [touched_file for touched_file in touched if touched_file.before or touched_file.after]
    here = {touched_file.after.path for touched_file in touched if touched_file.after} | {
        blob.path for difference in differences if (blob := difference.after)
    }
    return Branch(
        base.name,
        base.commit,
        tuple(sorted(touched, key=lambda touched_file: touched_file.path)),
        lambda words: _files_mentioning(git, words, files, here),
        files.includes,
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


def _visible_sides(difference: Difference, files: FileFilter) -> Difference:
    """Drop sides that are not read; a file that moves out of or into the filter counts as removed or added."""
    before, after = difference.before, difference.after
    return replace(
        difference,
        before=before if before and files.includes(before.path) and _may_contain_contract(before.path) else None,
        after=after if after and files.includes(after.path) and _may_contain_contract(after.path) else None,
    )


def _may_contain_contract(path: str) -> bool:
    """Return by its name whether a file may contain a contract, subscriptions or a schema."""
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
    blobs = [known[path] for path in paths if path in known]
    contents = read_blobs(git, [blob.id for blob in blobs if blob.id], files.max_bytes)
    return [File(blob.path, contents[blob.id]) for blob in blobs if blob.id]


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
    """Return the contracts and subscription files that differ between a commit and the last one."""
    git = find_repository(Path())
    base = find_commit(git, named, fetching)
    files = FileFilter(State.COMMITTED, settings.limits.bytes, settings.parts.check.ignore)
    touched = read_branch(git, base, files).touched
    now = [
        touched_file.after
        for touched_file in touched
        if touched_file.after
        and (
            looks_like_contract_file(touched_file.after.content) or looks_like_subscriptions(touched_file.after.content)
        )
    ]
    gone = [touched_file.before for touched_file in touched if touched_file.after is None and touched_file.before]
    return MergedContracts(
        base,
        tuple(Source(one.path, one.content) for one in now if one.path.lower().endswith(CONTRACT_SUFFIXES)),
        tuple(removed.path for removed in gone if looks_like_contract_file(removed.content)),
    )
