"""The commit that a branch is compared with: where it left its base."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from treaty.cli.git.repository import Git
from treaty.errors import NotFound, Unavailable

_MAIN_BRANCHES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
EMPTY_COMMIT_ID = re.compile(r"0{40}(?:0{24})?")
"""What CI reports if there was no commit before."""

FETCH_STEPS = ("--deepen=50", "--deepen=500", "--unshallow")


class Fetching(StrEnum):
    """Whether missing history may be fetched."""

    ALLOWED = "allowed"
    NEVER = "never"


@dataclass(frozen=True)
class Base:
    """A commit to compare with and its name; it may be the empty tree."""

    name: str
    commit: str


def find_base(git: Git, named: str | None, fetching: Fetching, environment: Mapping[str, str] = os.environ) -> Base:
    """Return the commit where the branch left its base: the given one, the one that CI reports, or the main branch."""
    if named is not None and EMPTY_COMMIT_ID.fullmatch(named):
        return Base("nothing", empty_tree(git))
    name, tip = _tip(git, named, fetching, environment)
    head = git.commit("HEAD")
    if head is None:
        raise NotFound("the repository has no commits")
    return Base(name, _merge_base(git, name, tip, head, fetching))


def find_commit(git: Git, named: str | None, fetching: Fetching) -> Base:
    """Return the given commit, by default the one before the last."""
    name = named or "HEAD^1"
    if EMPTY_COMMIT_ID.fullmatch(name) or (named is None and _is_first(git)):
        return Base("nothing", empty_tree(git))
    commit = git.commit(name)
    if commit is None and fetching is Fetching.ALLOWED and not name.startswith("-"):
        _fetch(git, "--deepen=1") if named is None else _fetch(git, "--depth=1", "origin", name)
        commit = git.commit(name)
    if commit is None:
        raise NotFound(f"there is no commit {name!r}{_shallow_hint(git)}")
    return Base(name, commit)


def empty_tree(git: Git) -> str:
    """Return the id of the empty tree."""
    return git.require("create the empty tree", "hash-object", "-t", "tree", "--stdin").decode().strip()


def _is_first(git: Git) -> bool:
    return git.commit("HEAD") is not None and git.commit("HEAD^1") is None and not git.is_shallow


def _tip(git: Git, named: str | None, fetching: Fetching, environment: Mapping[str, str]) -> tuple[str, str]:
    references = [named] if named is not None else list(_base_refs_from_ci(environment))
    for name in references:
        if commit := git.commit(name):
            return name, commit
    if references and fetching is Fetching.ALLOWED:
        for name in references:
            _fetch(git, *(["--depth=50"] if git.is_shallow else []), "origin", _refspec(name))
            if commit := git.commit(name) or git.commit("FETCH_HEAD"):
                return name, commit
    if references:
        raise NotFound(f"the base {references[0]!r} is not in this clone{_fetch_hint(git, references[0])}")
    for name in _MAIN_BRANCHES:
        if commit := git.commit(name):
            return _branch_name(git, name), commit
    raise NotFound(
        f"there is no base to compare with: neither {', '.join(_MAIN_BRANCHES[1:-1])} nor {_MAIN_BRANCHES[-1]} exists; "
        "give one with --base REF"
    )


def _base_refs_from_ci(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the base of the merge or pull request as GitLab and GitHub report it."""
    if commit := environment.get("CI_MERGE_REQUEST_DIFF_BASE_SHA"):
        yield commit
    elif branch := environment.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"):
        yield f"origin/{branch}"
    if branch := environment.get("GITHUB_BASE_REF"):
        yield f"origin/{branch}"


def _merge_base(git: Git, name: str, tip: str, head: str, fetching: Fetching) -> str:
    if commit := git.text("merge-base", tip, head):
        return commit
    if git.is_shallow and fetching is Fetching.ALLOWED:
        for depth in FETCH_STEPS:
            _fetch(git, depth, "origin", *([_refspec(name)] if name.startswith("origin/") else []))
            if commit := git.text("merge-base", tip, head):
                return commit
    if git.is_shallow:
        raise NotFound(f"this clone does not contain the commit where the branch left {name}{_fetch_hint(git, name)}")
    raise NotFound(f"{name} and this branch have no common history; give another base with --base")


def _fetch(git: Git, *arguments: str) -> None:
    result = git.run("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", *arguments)
    if result.code:
        raise Unavailable(f"git could not fetch the missing history: {result.reason}")


def _refspec(name: str) -> str:
    branch = name.removeprefix("origin/")
    return f"+refs/heads/{branch}:refs/remotes/origin/{branch}" if branch != name else name


def _shallow_hint(git: Git) -> str:
    return f"; the clone is shallow: {_FETCH_ALL}" if git.is_shallow else "; give another with --base"


_FETCH_ALL = (
    "fetch the full history (GitHub: fetch-depth: 0 for actions/checkout; GitLab: GIT_DEPTH: 0; "
    "else git fetch --unshallow), or add --fetch"
)


def _fetch_hint(git: Git, name: str) -> str:
    if git.is_shallow:
        return f", which is shallow: {_FETCH_ALL}"
    branch = name.removeprefix("origin/")
    return f"; fetch it with git fetch origin {branch}, add --fetch, or give another with --base"


def _branch_name(git: Git, name: str) -> str:
    if name != "origin/HEAD":
        return name
    return git.text("rev-parse", "--abbrev-ref", "origin/HEAD") or name
