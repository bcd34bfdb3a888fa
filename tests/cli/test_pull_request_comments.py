"""Comments on pull and merge requests: posted once, then updated."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.code_host_servers import BOT, CodeHost, serving
from tests.cli.conftest import Treaty
from tests.cli.git_repositories import made
from tests.cli.pull_request_repository import FILES, REFUSED, V1_ONE_MORE
from treaty.cli.pull_request_comments import detect_host, post_comment
from treaty.cli.render.review.markdown import EMPTY, MARKER
from treaty.errors import TreatyError


@pytest.fixture
def host() -> Iterator[CodeHost]:
    """A code host."""
    with serving() as found:
        yield found


@pytest.fixture
def github(host: CodeHost, treaty: Treaty, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CodeHost:
    """The environment of a job for a pull request on GitHub."""
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}))
    monkeypatch.delenv("CI_MERGE_REQUEST_IID", raising=False)
    monkeypatch.setenv("GITHUB_REPOSITORY", "shop/data")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(event))
    monkeypatch.setenv("GITHUB_API_URL", host.address)
    monkeypatch.setenv("GITHUB_TOKEN", "secret-token")
    return host


@pytest.fixture
def gitlab(host: CodeHost, treaty: Treaty, monkeypatch: pytest.MonkeyPatch) -> CodeHost:
    """The environment of a job for a merge request on GitLab."""
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    monkeypatch.setenv("CI_MERGE_REQUEST_IID", "7")
    monkeypatch.setenv("CI_PROJECT_ID", "3")
    monkeypatch.setenv("CI_API_V4_URL", host.address)
    monkeypatch.setenv("TREATY_GITLAB_TOKEN", "secret-token")
    return host


def _post(text: str) -> str:
    return post_comment(detect_host(os.environ), f"{MARKER}\n\n{text}\n").value


def test_a_review_is_posted_once_and_updated(github: CodeHost) -> None:
    github.say("nice work", "reviewer")

    assert [_post(text) for text in ("first", "first", "second")] == ["written", "unchanged", "updated"]
    assert [one["body"] for one in github.comments] == ["nice work", f"{MARKER}\n\nsecond\n"]
    assert github.changes() == ["POST", "PATCH"]
    assert {token for _, _, token in github.requests} == {"Bearer secret-token"}


def test_an_earlier_comment_is_found_on_any_page(github: CodeHost) -> None:
    for number in range(130):
        github.say(f"{number}")
    github.say(f"{MARKER}\n\nfirst")

    assert _post("second") == "updated"


def test_a_comment_of_another_user_with_our_marker_is_left_alone(github: CodeHost) -> None:
    github.say(f"{MARKER}\n\nforged", "reviewer")

    assert _post("true") == "written"
    assert github.comments[0]["body"] == f"{MARKER}\n\nforged"
    assert github.comments[1]["user"]["login"] == BOT


def test_an_empty_review_only_updates_an_earlier_comment(github: CodeHost) -> None:
    assert _post(EMPTY) == "not needed"
    github.say(f"{MARKER}\n\nearlier")
    assert _post(EMPTY) == "updated"


def test_a_merge_request_gets_a_note(gitlab: CodeHost) -> None:
    assert [_post(text) for text in ("first", "second")] == ["written", "updated"]
    assert gitlab.changes() == ["POST", "PUT"]
    assert gitlab.requests[-1] == ("PUT", "/projects/3/merge_requests/7/notes/1", "secret-token")


def test_a_token_follows_no_redirect(github: CodeHost) -> None:
    with serving() as other:
        github.redirects_to = other.address

        with pytest.raises(TreatyError):
            _post("first")

    assert other.requests == []


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("GITHUB_REPOSITORY", "../../x", "write it as owner/name"),
        ("GITHUB_EVENT_PATH", "nowhere.json", "not for a pull request"),
        ("GITHUB_TOKEN", "", "there is no token for the comment; set github-token"),
        ("GITHUB_TOKEN", "a b", "characters that no token has"),
        ("GITHUB_API_URL", "file:///etc", "is not the address of an API"),
        ("GITHUB_API_URL", "http://127.0.0.1:9", "did not answer as expected"),
        ("GITHUB_REPOSITORY", "", "neither GitHub nor GitLab names a pull request"),
    ],
)
def test_a_wrong_environment_gives_a_clear_error(
    github: CodeHost, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str
) -> None:
    monkeypatch.setenv(variable, value)

    with pytest.raises(TreatyError, match=message):
        _post("first")


def test_check_comments_on_the_pull_request(github: CodeHost, treaty: Treaty, tmp_path: Path) -> None:
    made(tmp_path, FILES).write({"contracts/orders.yaml": REFUSED})

    results = [treaty("check", "--base", "HEAD", "--comment") for _ in range(2)]

    assert [result.code for result in results] == [3, 3]
    assert [result.errors for result in results] == ["comment written\n", "comment unchanged\n"]
    assert "delivery-planner" in github.comments[0]["body"]


@pytest.mark.parametrize(
    ("files", "code"), [({"contracts/orders.yaml": V1_ONE_MORE}, 0), ({"contracts/orders.yaml": REFUSED}, 3)]
)
def test_a_comment_that_cannot_be_posted_is_a_warning(
    github: CodeHost, treaty: Treaty, tmp_path: Path, files: dict[str, object], code: int
) -> None:
    github.writable = False
    made(tmp_path, FILES).write(files)

    result = treaty("check", "--base", "HEAD", "--comment")
    on_github = treaty("check", "--base", "HEAD", "--comment", "--format", "github")

    assert [result.code, on_github.code] == [code, code]
    assert "warning: cannot comment on the pull request: the token may not comment (status 403)" in result.errors
    assert "::warning title=treaty::cannot comment on the pull request" in on_github.output
    assert "secret-token" not in result.errors + result.output + on_github.output
