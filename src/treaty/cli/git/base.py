"""What a branch is compared with: the commit at which it left its base."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from treaty.cli.git.repository import Git
from treaty.errors import NotFound, Unavailable

_MAIN_BRANCHES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
_NOTHING_YET = re.compile(r"0{40}(?:0{24})?")
"""What CI says where there was no commit before."""

_DEEPER = ("--deepen=50", "--deepen=500", "--unshallow")


class Fetching(StrEnum):
    """Whether history that is missing may be fetched."""

    ALLOWED = "allowed"
    NEVER = "never"


@dataclass(frozen=True)
class Base:
    """A commit to compare with, and what it is called; the tree may be the empty one."""

    name: str
    commit: str


def find_base(git: Git, named: str | None, fetching: Fetching, environment: Mapping[str, str] = os.environ) -> Base:
    """Return the commit at which the branch left its base: the one named, what CI says, else the main branch."""
    if named is not None and _NOTHING_YET.fullmatch(named):
        return Base("nothing", empty_tree(git))
    name, tip = _tip(git, named, fetching, environment)
    head = git.commit("HEAD")
    if head is None:
        raise NotFound("the repository has no commit yet; commit something first")
    return Base(name, _left_at(git, name, tip, head, fetching))


def find_commit(git: Git, named: str | None, fetching: Fetching) -> Base:
    """Return the commit that is named itself, by default the one before the last."""
    name = named or "HEAD^1"
    if _NOTHING_YET.fullmatch(name) or (named is None and _is_first(git)):
        return Base("nothing", empty_tree(git))
    commit = git.commit(name)
    if commit is None and fetching is Fetching.ALLOWED and not name.startswith("-"):
        _fetch(git, "--deepen=1") if named is None else _fetch(git, "--depth=1", "origin", name)
        commit = git.commit(name)
    if commit is None:
        raise NotFound(f"no commit is called {name!r} here{_cut_off(git)}")
    return Base(name, commit)


def empty_tree(git: Git) -> str:
    """Return the tree in which there is nothing."""
    return git.need("name the empty tree", "hash-object", "-t", "tree", "--stdin").decode().strip()


def _is_first(git: Git) -> bool:
    return git.commit("HEAD") is not None and git.commit("HEAD^1") is None and not git.is_shallow


def _tip(git: Git, named: str | None, fetching: Fetching, environment: Mapping[str, str]) -> tuple[str, str]:
    told = [named] if named is not None else list(_told_by_ci(environment))
    for name in told:
        if commit := git.commit(name):
            return name, commit
    if told and fetching is Fetching.ALLOWED:
        for name in told:
            _fetch(git, *(["--depth=50"] if git.is_shallow else []), "origin", _refspec(name))
            if commit := git.commit(name) or git.commit("FETCH_HEAD"):
                return name, commit
    if told:
        raise NotFound(f"the base {told[0]!r} is not in this clone{_how_to_get(git, told[0])}")
    for name in _MAIN_BRANCHES:
        if commit := git.commit(name):
            return _in_words(git, name), commit
    raise NotFound(
        f"no base to compare with: there is neither {', '.join(_MAIN_BRANCHES[1:-1])} nor {_MAIN_BRANCHES[-1]}; "
        "say it with --base REF"
    )


def _told_by_ci(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield what GitLab and GitHub say a merge or pull request goes into."""
    if commit := environment.get("CI_MERGE_REQUEST_DIFF_BASE_SHA"):
        yield commit
    elif branch := environment.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"):
        yield f"origin/{branch}"
    if branch := environment.get("GITHUB_BASE_REF"):
        yield f"origin/{branch}"


def _left_at(git: Git, name: str, tip: str, head: str, fetching: Fetching) -> str:
    if found := git.text("merge-base", tip, head):
        return found
    if git.is_shallow and fetching is Fetching.ALLOWED:
        for how in _DEEPER:
            _fetch(git, how, "origin", *([_refspec(name)] if name.startswith("origin/") else []))
            if found := git.text("merge-base", tip, head):
                return found
    if git.is_shallow:
        raise NotFound(f"this clone does not reach back to where the branch left {name}{_how_to_get(git, name)}")
    raise NotFound(f"{name} and this branch have no common history; name a commit of this branch with --base")


def _fetch(git: Git, *arguments: str) -> None:
    said = git.ask("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", *arguments)
    if said.code:
        raise Unavailable(f"git could not fetch the history that is missing: {said.reason}")


def _refspec(name: str) -> str:
    branch = name.removeprefix("origin/")
    return f"+refs/heads/{branch}:refs/remotes/origin/{branch}" if branch != name else name


def _cut_off(git: Git) -> str:
    return f"; the clone is shallow: {_FETCH_ALL}" if git.is_shallow else "; name another with --base"


_FETCH_ALL = (
    "fetch the whole history (GitHub: fetch-depth: 0 for actions/checkout; GitLab: GIT_DEPTH: 0; "
    "else git fetch --unshallow), or let treaty do it with --fetch"
)


def _how_to_get(git: Git, name: str) -> str:
    if git.is_shallow:
        return f", which is shallow: {_FETCH_ALL}"
    branch = name.removeprefix("origin/")
    return f"; fetch it with git fetch origin {branch}, let treaty do it with --fetch, or name another with --base"


def _in_words(git: Git, name: str) -> str:
    if name != "origin/HEAD":
        return name
    return git.text("rev-parse", "--abbrev-ref", "origin/HEAD") or name
