"""The GitHub Action, the GitLab template and the pre-commit hooks, on real repositories."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.code_host_servers import CodeHost, serving
from tests.cli.git_repositories import Repository, made
from tests.cli.pull_request_repository import FILES, REFUSED, V1_ONE_MORE, V2
from tests.e2e.workflows import ROOT, Ran, environment, run_action, run_job

ORDERS = "contracts/orders.yaml"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
TEMPLATE = yaml.safe_load((ROOT / "templates" / "treaty.yml").read_text())
HOOKS = {one["id"]: one for one in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}


@pytest.fixture
def host() -> Iterator[CodeHost]:
    """Where the repository is hosted."""
    with serving() as found:
        yield found


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    """A repository with orders and two consumers, and some history."""
    repository = made(tmp_path / "upstream", FILES)
    repository.commit({"a.txt": "a"})
    return repository


class PullRequest:
    """A pull request of a branch, or of a fork, as GitHub runs an action for it."""

    def __init__(self, upstream: Repository, host: CodeHost, work: Path) -> None:
        self.upstream, self.host, self.work = upstream, host, work
        self.runs = 0

    def pushed(self, source: Repository, branch: str) -> Ran:
        """Run the action for what was pushed last, in a clone of one commit: the merge that GitHub makes."""
        self.runs += 1
        self.upstream.git("checkout", "--quiet", "--detach", "main")
        self.upstream.git("pull", "--quiet", "--no-rebase", "--no-edit", source.folder.as_uri(), branch)
        self.upstream.git("update-ref", "refs/pull/7/merge", "HEAD")
        self.upstream.git("checkout", "--quiet", "main")
        work = self.work / str(self.runs)
        clone = Repository(work / "clone")
        clone.folder.mkdir(parents=True)
        clone.git("init", "--quiet", "--initial-branch", "none")
        clone.git("remote", "add", "origin", self.upstream.folder.as_uri())
        clone.git("fetch", "--quiet", "--depth=1", "origin", "+refs/pull/7/merge:refs/remotes/pull/7/merge")
        clone.git("checkout", "--quiet", "--detach", "refs/remotes/pull/7/merge")
        event = work / "event.json"
        event.write_text(json.dumps({"pull_request": {"number": 7}}))
        env = {
            "GITHUB_BASE_REF": "main",
            "GITHUB_REPOSITORY": "shop/data",
            "GITHUB_API_URL": self.host.address,
            "GITHUB_EVENT_PATH": str(event),
        }
        return run_action(work, clone.folder, {"github-token": "t"}, {"event_name": "pull_request"}, env)


@pytest.fixture
def request_(upstream: Repository, host: CodeHost, tmp_path: Path) -> PullRequest:
    """A pull request."""
    return PullRequest(upstream, host, tmp_path / "runs")


def test_the_action_fails_on_a_breaking_change_and_updates_its_comment_after_the_fix(
    upstream: Repository, host: CodeHost, request_: PullRequest
) -> None:
    upstream.branch("change")
    upstream.commit({ORDERS: REFUSED})
    refused = request_.pushed(upstream, "change")
    upstream.git("checkout", "--quiet", "change")
    upstream.commit({ORDERS: V2})
    passed = request_.pushed(upstream, "change")

    assert refused.names == ["Check", "Report the result"]
    assert refused.code == 3
    assert f"::error file={ORDERS},line=" in refused.output
    assert {"review.md", "review.json", "review.sarif"} == {
        file.name for file in Path(refused.outputs["check"]["report"]).iterdir()
    }
    assert "delivery-planner" in (request_.work / "1" / "summary").read_text()
    assert passed.code == 0
    (comment,) = host.comments
    assert "all may merge" in comment["body"]
    assert host.changes() == ["POST", "PATCH"]


def test_a_fork_is_checked_although_its_token_may_not_comment(
    upstream: Repository, host: CodeHost, request_: PullRequest, tmp_path: Path
) -> None:
    host.writable = False
    fork = upstream.clone(tmp_path / "fork")
    fork.branch("theirs")
    fork.commit({ORDERS: REFUSED})

    ran = request_.pushed(fork, "theirs")

    assert ran.code == 3
    assert "::warning title=treaty::cannot comment on the pull request" in ran.output
    assert "❌ Contracts" in (request_.work / "1" / "summary").read_text()
    assert host.comments == []


def test_the_action_registers_pushed_contracts_once(upstream: Repository, tmp_path: Path) -> None:
    before = upstream.git("rev-parse", "HEAD")
    upstream.commit({ORDERS: V1_ONE_MORE})
    push = {"event_name": "push", "event": {"before": before}}
    inputs = {"registry": str(tmp_path / "registry.db")}
    env = {"TREATY_ACTOR": "ci"}
    ran = []
    for name in ("first", "second"):
        work = tmp_path / name
        clone = upstream.clone(work / "clone", "--depth=1")
        ran.append(run_action(work, clone.folder, inputs, push, env))

    assert [one.names for one in ran] == [["Register", "Report the result"]] * 2
    assert [one.code for one in ran] == [0, 0]
    assert "1 document · 1 registered" in ran[0].output
    assert "1 document · 1 unchanged" in ran[1].output


def test_scripts_contain_no_expressions() -> None:
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]

    assert len(scripts) == 4
    assert [script for script in scripts if "${{" in script] == []


def test_other_actions_are_pinned_to_a_version() -> None:
    used = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]

    assert used
    assert [one for one in used if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+(\.\d+)*", one)] == []


def test_every_input_is_described_and_used() -> None:
    text = (ROOT / "action.yml").read_text()

    assert all(one["description"] for one in ACTION["inputs"].values())
    assert [name for name in ACTION["inputs"] if f"inputs.{name}" not in text] == []


def _gitlab(upstream: Repository, host: CodeHost) -> dict[str, str]:
    return {
        "CI_MERGE_REQUEST_IID": "7",
        "CI_PROJECT_ID": "3",
        "CI_API_V4_URL": host.address,
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": upstream.git("merge-base", "main", "change"),
        "TREATY_GITLAB_TOKEN": "t",
    }


def test_the_gitlab_template_fails_on_a_breaking_change_with_reports_and_a_note(
    upstream: Repository, host: CodeHost, tmp_path: Path
) -> None:
    upstream.branch("change")
    upstream.commit({ORDERS: REFUSED})
    clone = upstream.clone(tmp_path / "clone", "--depth=1", "--branch", "change")

    ran = run_job("treaty-check", clone.folder, _gitlab(upstream, host))

    assert ran.code == 3
    artifacts = TEMPLATE["treaty-check"]["artifacts"]
    written = [*artifacts["paths"], *artifacts["reports"].values()]
    assert [name for name in written if not (clone.folder / name).is_file()] == []
    assert json.loads((clone.folder / artifacts["reports"]["codequality"]).read_text())[0]["severity"] == "critical"
    (note,) = host.comments
    assert "delivery-planner" in note["body"]


def test_the_gitlab_template_registers_merged_contracts(upstream: Repository, tmp_path: Path) -> None:
    before = upstream.git("rev-parse", "HEAD")
    upstream.commit({ORDERS: V1_ONE_MORE})
    env = {"CI_COMMIT_BEFORE_SHA": before, "TREATY_REGISTRY": str(tmp_path / "r.db"), "TREATY_ACTOR": "ci"}

    ran = run_job("treaty-register", upstream.folder, env)

    assert ran.code == 0
    assert "1 document · 1 registered" in ran.output


def _commit(repository: Repository, files: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    repository.write(files)
    repository.git("add", "--all")
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    return subprocess.run(
        ["git", *identity, "commit", "--quiet", "--message", "a change"],
        cwd=repository.folder,
        env=environment({}),
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_hook_blocks_contracts_that_may_not_merge(upstream: Repository) -> None:
    hook = upstream.folder / ".git" / "hooks" / "pre-commit"
    hook.write_text(f"#!/bin/sh\nexec {shlex.join(shlex.split(HOOKS['treaty-check']['entry']))}\n")
    hook.chmod(0o755)
    upstream.branch("change")

    refused = _commit(upstream, {ORDERS: REFUSED})
    passed = _commit(upstream, {ORDERS: V1_ONE_MORE})

    assert refused.returncode == 1
    assert "shop.orders  1.4.0 → 1.5.0" in refused.stdout + refused.stderr
    assert passed.returncode == 0, passed.stdout + passed.stderr


def test_the_hooks_use_existing_commands_and_file_patterns() -> None:
    for one in HOOKS.values():
        assert one["entry"].split()[:2] == ["treaty", "check"]
        assert one["pass_filenames"] is False
        assert re.search(one["files"], "contracts/orders.yaml")
