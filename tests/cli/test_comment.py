"""`treaty comment`: once, then kept up to date."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty
from tests.cli.hosts import BOT, CodeHost, serving
from treaty.cli.render.review.markdown import EMPTY, MARKER


@pytest.fixture
def host() -> Iterator[CodeHost]:
    """A host of code."""
    with serving() as found:
        yield found


@pytest.fixture
def github(host: CodeHost, treaty: Treaty, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CodeHost:
    """Run in a job for a pull request on GitHub."""
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
    """Run in a job for a merge request on GitLab."""
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    monkeypatch.setenv("CI_MERGE_REQUEST_IID", "7")
    monkeypatch.setenv("CI_PROJECT_ID", "3")
    monkeypatch.setenv("CI_API_V4_URL", host.address)
    monkeypatch.setenv("TREATY_GITLAB_TOKEN", "secret-token")
    return host


def _review(tmp_path: Path, words: str) -> str:
    file = tmp_path / "review.md"
    file.write_text(f"{MARKER}\n\n{words}\n")
    return str(file)


def test_a_review_is_said_once_and_updated(github: CodeHost, treaty: Treaty, tmp_path: Path) -> None:
    github.say("nice work", "somebody")

    said = [treaty("comment", _review(tmp_path, words)).output for words in ("first", "first", "second")]

    assert said == ["comment written\n", "comment unchanged\n", "comment updated\n"]
    assert [one["body"] for one in github.comments] == ["nice work", f"{MARKER}\n\nsecond\n"]
    assert github.changes() == ["POST", "PATCH"]
    assert {token for _, _, token in github.requests} == {"Bearer secret-token"}


def test_it_is_found_on_any_page(github: CodeHost, treaty: Treaty, tmp_path: Path) -> None:
    for number in range(130):
        github.say(f"{number}")
    github.say(f"{MARKER}\n\nfirst")

    assert treaty("comment", _review(tmp_path, "second")).output == "comment updated\n"


def test_what_somebody_else_said_with_our_marker_is_left_alone(
    github: CodeHost, treaty: Treaty, tmp_path: Path
) -> None:
    github.say(f"{MARKER}\n\nforged", "somebody")

    assert treaty("comment", _review(tmp_path, "true")).output == "comment written\n"
    assert github.comments[0]["body"] == f"{MARKER}\n\nforged"
    assert github.comments[1]["user"]["login"] == BOT


def test_nothing_is_said_first_where_there_is_nothing_to_say(github: CodeHost, treaty: Treaty, tmp_path: Path) -> None:
    empty = _review(tmp_path, EMPTY)

    assert treaty("comment", empty).output == "comment not needed\n"
    github.say(f"{MARKER}\n\nearlier")
    assert treaty("comment", empty).output == "comment updated\n"


def test_a_merge_request_gets_a_note(gitlab: CodeHost, treaty: Treaty, tmp_path: Path) -> None:
    said = [treaty("comment", _review(tmp_path, words)).output for words in ("first", "second")]

    assert said == ["comment written\n", "comment updated\n"]
    assert gitlab.changes() == ["POST", "PUT"]
    assert gitlab.requests[-1] == ("PUT", "/projects/3/merge_requests/7/notes/1", "secret-token")


def test_a_token_that_may_not_write_is_told(github: CodeHost, treaty: Treaty, tmp_path: Path) -> None:
    github.writable = False

    result = treaty("comment", _review(tmp_path, "first"))

    assert result.code == 1
    assert "the token may not comment (status 403)" in result.errors
    assert "secret-token" not in result.errors + result.output


def test_a_token_follows_no_redirect(github: CodeHost, treaty: Treaty, tmp_path: Path) -> None:
    with serving() as other:
        github.redirects_to = other.address

        result = treaty("comment", _review(tmp_path, "first"))

    assert result.code == 1
    assert other.requests == []


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("GITHUB_REPOSITORY", "../../x", "it is written owner/name"),
        ("GITHUB_EVENT_PATH", "nowhere.json", "about no pull request"),
        ("GITHUB_TOKEN", "", "no token to comment with; set github-token"),
        ("GITHUB_TOKEN", "a b", "signs that no token has"),
        ("GITHUB_API_URL", "file:///etc", "is no address of an API"),
        ("GITHUB_API_URL", "http://127.0.0.1:9", "did not answer as expected"),
        ("GITHUB_REPOSITORY", "", "neither GitHub nor GitLab says which request this is"),
    ],
)
def test_what_is_missing_or_wrong_is_told(
    github: CodeHost,
    treaty: Treaty,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    said: str,
) -> None:
    monkeypatch.setenv(variable, value)

    result = treaty("comment", _review(tmp_path, "first"))

    assert result.code == 1
    assert said in result.errors


@pytest.mark.parametrize("text", [None, "words", b"\xff"])
def test_what_is_no_review_is_not_said(
    github: CodeHost, treaty: Treaty, tmp_path: Path, text: str | bytes | None
) -> None:
    if text is not None:
        (tmp_path / "a.md").write_bytes(text if isinstance(text, bytes) else text.encode())

    result = treaty("comment", str(tmp_path / "a.md"))

    assert result.code == 1
    assert "treaty check --save markdown=FILE" in result.errors
    assert github.requests == []
