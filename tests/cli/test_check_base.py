"""The base of a branch: given, set by CI, detected, fetched or missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Treaty
from tests.cli.git_repositories import Repository, made
from tests.cli.pull_request_repository import FILES, REFUSED, V1, V1_ONE_MORE

ZEROS = "0" * 40


@pytest.fixture(autouse=True)
def no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be on a desk, not in CI."""
    for name in ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_DIFF_BASE_SHA", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def _first(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = made(tmp_path_factory.mktemp("first") / "upstream", FILES)
    repository.commit({"a.txt": "a"})
    repository.commit({"a.txt": "b"})
    repository.branch("change")
    repository.commit({"b.txt": "a"})
    repository.commit({"contracts/orders.yaml": REFUSED})
    repository.commit({"b.txt": "b"})
    repository.git("checkout", "--quiet", "main")
    repository.commit({"a.txt": "c"})
    return repository


@pytest.fixture
def upstream(_first: Repository, tmp_path: Path) -> Repository:
    """A repository with a main branch of some commits, and a branch that breaks a contract in the second of three."""
    return _first.copy(tmp_path / "upstream")


class Here:
    """Runs checks in a clone."""

    def __init__(self, treaty: Treaty, monkeypatch: pytest.MonkeyPatch) -> None:
        self.treaty = treaty
        self.monkeypatch = monkeypatch

    def check(self, repository: Repository, *arguments: str) -> Any:
        """Check, and return what was said; for a failure the errors."""
        self.monkeypatch.chdir(repository.folder)
        result = self.treaty("check", "--format", "json", *arguments)
        return json.loads(result.output) if result.output else result.errors


@pytest.fixture
def here(treaty: Treaty, monkeypatch: pytest.MonkeyPatch) -> Here:
    """Run checks in a clone."""
    return Here(treaty, monkeypatch)


def _touched(data: Any) -> list[str]:
    return [one["contract"] for one in data["contracts"]]


def test_a_clone_is_compared_with_the_main_branch_of_its_origin(
    here: Here, upstream: Repository, tmp_path: Path
) -> None:
    clone = upstream.clone(tmp_path / "clone", "--branch", "change")

    data = here.check(clone)

    assert data["base"] == "origin/main"
    assert data["commit"] == upstream.git("merge-base", "main", "change")
    assert _touched(data) == ["shop.orders"]


def test_a_detached_head_is_a_branch_too(here: Here, upstream: Repository, tmp_path: Path) -> None:
    clone = upstream.clone(tmp_path / "clone", "--branch", "change")
    clone.git("checkout", "--quiet", "--detach", "HEAD")

    assert _touched(here.check(clone)) == ["shop.orders"]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("GITHUB_BASE_REF", "main"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "change~2"),
    ],
)
def test_ci_variables_give_the_base(
    here: Here, upstream: Repository, tmp_path: Path, variable: str, value: str
) -> None:
    clone = upstream.clone(tmp_path / "clone", "--branch", "change")
    told = upstream.git("rev-parse", value) if variable.endswith("SHA") else value
    here.monkeypatch.setenv(variable, told)

    data = here.check(clone)

    assert data["base"] == (told if variable.endswith("SHA") else "origin/main")
    assert _touched(data) == ["shop.orders"]


def test_the_merge_that_github_makes_for_a_pull_request_is_compared_with_its_base(
    here: Here, upstream: Repository, tmp_path: Path
) -> None:
    upstream.git("checkout", "--quiet", "--detach", "main")
    upstream.git("merge", "--quiet", "--no-edit", "change")
    upstream.git("update-ref", "refs/pull/7/merge", "HEAD")
    upstream.git("checkout", "--quiet", "main")
    clone = made(tmp_path / "clone", {})
    clone.git("remote", "add", "origin", upstream.folder.as_uri())
    clone.git("fetch", "--quiet", "--depth=1", "origin", "+refs/pull/7/merge:refs/remotes/pull/7/merge")
    clone.git("checkout", "--quiet", "--force", "--detach", "refs/remotes/pull/7/merge")
    clone.git("branch", "--quiet", "-D", "main")
    here.monkeypatch.setenv("GITHUB_BASE_REF", "main")

    told = here.check(clone)
    fetched = here.check(clone, "--fetch")

    assert "the base 'origin/main' is not in this clone, which is shallow: fetch the full history" in told
    assert "fetch-depth: 0" in told
    assert _touched(fetched) == ["shop.orders"]


def test_a_shallow_clone_says_what_to_do_and_can_do_it_itself(here: Here, upstream: Repository, tmp_path: Path) -> None:
    clone = upstream.clone(tmp_path / "clone", "--depth=1", "--no-single-branch", "--branch", "change")

    told = here.check(clone)
    fetched = here.check(clone, "--fetch")

    assert "this clone does not contain the commit where the branch left origin/main" in told
    assert "GIT_DEPTH: 0" in told
    assert _touched(fetched) == ["shop.orders"]


def test_fork_is_compared_with_the_target_of_its_pull_request(here: Here, upstream: Repository, tmp_path: Path) -> None:
    fork = upstream.clone(tmp_path / "fork")
    upstream.commit({"contracts/other.yaml": {**V1, "id": "shop.other"}})
    fork.branch("theirs")
    fork.commit({"contracts/orders.yaml": V1_ONE_MORE})
    clone = upstream.clone(tmp_path / "clone", "--depth=2")
    clone.git("fetch", "--quiet", "--depth=1", fork.folder.as_uri(), "theirs")
    clone.git("checkout", "--quiet", "--detach", "FETCH_HEAD")

    assert _touched(here.check(fork)) == ["shop.orders"]
    assert "does not contain the commit" in here.check(clone, "--base", "origin/main")


def test_unrelated_histories_are_reported(here: Here, upstream: Repository) -> None:
    upstream.git("checkout", "--quiet", "--orphan", "alone")
    upstream.commit({"contracts/orders.yaml": V1_ONE_MORE})

    assert "main and this branch have no common history" in here.check(upstream)


@pytest.mark.parametrize("base", ["nowhere", "v9", "f" * 40])
def test_missing_base_is_reported(here: Here, upstream: Repository, base: str) -> None:
    assert f"the base {base!r} is not in this clone; fetch it with git fetch origin" in here.check(
        upstream, "--base", base
    )


@pytest.mark.parametrize("base", ["--output=pwned", "-x", " "])
def test_a_base_that_is_no_name_is_refused(here: Here, upstream: Repository, base: str) -> None:
    assert "is not a commit; give a branch" in here.check(upstream, f"--base={base}")
    assert not (upstream.folder / "pwned").exists()


def test_base_of_zeros_means_an_empty_base(here: Here, upstream: Repository) -> None:
    data = here.check(upstream, "--base", ZEROS)

    assert (data["base"], [one["state"] for one in data["contracts"]]) == ("nothing", ["added"])


def test_the_base_can_be_set(here: Here, upstream: Repository) -> None:
    upstream.branch("release", "main~2")
    upstream.git("checkout", "--quiet", "change")
    upstream.write({"treaty.yaml": "check: {base: release}\n"})

    assert here.check(upstream)["base"] == "release"


def test_base_is_required_if_none_is_found(here: Here, tmp_path: Path) -> None:
    lonely = made(tmp_path / "lonely", FILES)
    lonely.git("branch", "--move", "trunk")

    assert "give one with --base REF" in here.check(lonely)


def test_folder_without_git_is_reported(here: Here, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()

    assert "is not in a git repository" in here.check(Repository(tmp_path / "plain"))


def test_repository_without_commits_is_reported(here: Here, tmp_path: Path) -> None:
    empty = Repository(tmp_path / "empty")
    empty.folder.mkdir()
    empty.git("init", "--quiet")

    assert "no base to compare with" in here.check(empty)


def test_a_work_tree_beside_the_repository_is_one_too(here: Here, upstream: Repository, tmp_path: Path) -> None:
    upstream.git("worktree", "add", "--quiet", str(tmp_path / "beside"), "change")

    assert _touched(here.check(Repository(tmp_path / "beside"))) == ["shop.orders"]
