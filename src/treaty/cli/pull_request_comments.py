"""Comments on GitHub pull requests and GitLab merge requests: posted once, then updated."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from treaty.cli.render.review.markdown import EMPTY, MARKER
from treaty.errors import InvalidDocument, NotAllowed, NotFound, Unavailable

TIMEOUT_S = 30.0
MAX_RESPONSE_BYTES = 50_000_000
COMMENTS_PER_PAGE = 100
MAX_PAGES = 1_000
GITHUB_ACTIONS_USER = "github-actions[bot]"

_HEADERS = {"User-Agent": "treaty", "Content-Type": "application/json"}
_PERMISSION_ERRORS = (401, 403, 404)
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_TOKEN = re.compile(r"[!-~]+")


class CommentResult(StrEnum):
    """What was done with the comment."""

    WRITTEN = "written"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    NOT_NEEDED = "not needed"


@dataclass(frozen=True)
class Comment:
    """A comment on the pull request; `is_ours` if our user wrote it."""

    id: int
    body: str
    is_ours: bool


class CodeHost(Protocol):
    """A pull or merge request on a code host."""

    def comments(self) -> Iterator[Comment]:
        """Yield all comments, oldest first."""
        ...

    def write(self, body: str) -> None:
        """Add a comment."""
        ...

    def update(self, comment: int, body: str) -> None:
        """Replace the text of a comment."""
        ...


def post_comment(host: CodeHost, body: str) -> CommentResult:
    """Post a review, or update the comment of an earlier one. An empty review only updates an existing comment."""
    ours = (comment for comment in host.comments() if comment.is_ours)
    earlier = next((comment for comment in ours if comment.body.lstrip().startswith(MARKER)), None)
    if earlier is None:
        if EMPTY in body:
            return CommentResult.NOT_NEEDED
        host.write(body)
        return CommentResult.WRITTEN
    if _normalize(earlier.body) == _normalize(body):
        return CommentResult.UNCHANGED
    host.update(earlier.id, body)
    return CommentResult.UPDATED


def _normalize(body: str) -> str:
    """Undo what code hosts change in a comment: line ends and surrounding blanks."""
    return body.replace("\r\n", "\n").strip()


def detect_host(environment: Mapping[str, str]) -> CodeHost:
    """Return the pull or merge request of the current CI job, from the variables that GitHub and GitLab set."""
    if environment.get("GITHUB_REPOSITORY"):
        return _github(environment)
    if environment.get("CI_MERGE_REQUEST_IID"):
        return _gitlab(environment)
    raise NotFound("neither GitHub nor GitLab names a pull request; run this in a CI job of a pull request")


def _github(environment: Mapping[str, str]) -> GitHub:
    repository = environment["GITHUB_REPOSITORY"]
    if not _REPOSITORY.fullmatch(repository):
        raise InvalidDocument(f"GITHUB_REPOSITORY is {repository[:60]!r}; write it as owner/name")
    token = _read_token(environment, "GITHUB_TOKEN", "github-token")
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    api = Api(environment.get("GITHUB_API_URL") or "https://api.github.com", headers)
    return GitHub(api, repository, _pull_request_number(environment.get("GITHUB_EVENT_PATH")))


def _pull_request_number(file: str | None) -> int:
    """Read the number of the pull request from the event that started the job."""
    try:
        event: Any = json.loads(Path(file or "").read_bytes())
    except (OSError, ValueError):
        event = None
    request = event.get("pull_request") if isinstance(event, dict) else None
    number = request.get("number") if isinstance(request, dict) else None
    if not isinstance(number, int):
        raise NotFound("this job is not for a pull request; run it on the event pull_request")
    return number


def _gitlab(environment: Mapping[str, str]) -> GitLab:
    token = _read_token(environment, "TREATY_GITLAB_TOKEN", "TREATY_GITLAB_TOKEN")
    api = Api(environment.get("CI_API_V4_URL") or "https://gitlab.com/api/v4", {"PRIVATE-TOKEN": token})
    project, request = environment.get("CI_PROJECT_ID", ""), environment["CI_MERGE_REQUEST_IID"]
    if not project.isdecimal() or not request.isdecimal():
        raise InvalidDocument(
            "CI_PROJECT_ID and CI_MERGE_REQUEST_IID must be numbers; run this in a merge request pipeline"
        )
    return GitLab(api, int(project), int(request))


def _read_token(environment: Mapping[str, str], variable: str, setting: str) -> str:
    token = environment.get(variable, "").strip()
    if not token:
        raise NotFound(f"there is no token for the comment; set {setting}")
    if not _TOKEN.fullmatch(token):
        raise InvalidDocument(f"{variable} has characters that no token has; copy it again")
    return token


class _RefuseRedirects(urllib.request.HTTPRedirectHandler):
    """Turns a redirect into an error, so that the token is not sent to another host."""

    def redirect_request(self, *_: Any) -> None:
        """Follow no redirect."""


@dataclass(frozen=True)
class Api:
    """The REST API of a code host, with the headers that authenticate us."""

    address: str
    headers: dict[str, str] = field(repr=False)

    def request(self, method: str, path: str, values: dict[str, Any] | None = None) -> Any:
        """Send a request and return the JSON of the response."""
        if not self.address.lower().startswith(("https://", "http://")):
            raise InvalidDocument(f"{self.address[:60]!r} is not the address of an API; it must start with https://")
        body = None if values is None else json.dumps(values).encode()
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
            self.address.rstrip("/") + path, data=body, method=method, headers={**self.headers, **_HEADERS}
        )
        try:
            with urllib.request.build_opener(_RefuseRedirects).open(request, timeout=TIMEOUT_S) as response:
                return json.loads(response.read(MAX_RESPONSE_BYTES) or b"null")
        except urllib.error.HTTPError as error:
            with error:
                raise _status_error(method, error.code, self.address) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise Unavailable(f"{self.address} did not answer as expected: {reason}; try again") from None


def _status_error(method: str, code: int, address: str) -> NotAllowed | Unavailable:
    if code in _PERMISSION_ERRORS:
        action = "read comments" if method == "GET" else "comment"
        return NotAllowed(
            f"the token may not {action} (status {code}); give it permission to write on pull requests. "
            "The token of a pull request from a fork never has this permission"
        )
    return Unavailable(f"{address} answered with status {code}; try again")


@dataclass(frozen=True)
class GitHub:
    """A pull request on GitHub."""

    api: Api
    repository: str
    number: int

    def comments(self) -> Iterator[Comment]:
        """Yield all comments, page by page."""
        our_login = self._login()
        for page in range(1, MAX_PAGES):
            found = self.api.request("GET", f"{self._issue}/comments?per_page={COMMENTS_PER_PAGE}&page={page}")
            for comment in found:
                is_ours = (comment.get("user") or {}).get("login") == our_login
                yield Comment(int(comment["id"]), str(comment.get("body") or ""), is_ours)
            if len(found) < COMMENTS_PER_PAGE:
                return

    def write(self, body: str) -> None:
        """Add a comment."""
        self.api.request("POST", f"{self._issue}/comments", {"body": body})

    def update(self, comment: int, body: str) -> None:
        """Replace the text of a comment."""
        self.api.request("PATCH", f"/repos/{self.repository}/issues/comments/{comment}", {"body": body})

    @property
    def _issue(self) -> str:
        return f"/repos/{self.repository}/issues/{self.number}"

    def _login(self) -> str:
        """Return the login of our token; the token of a workflow may not ask for it."""
        try:
            return str(self.api.request("GET", "/user")["login"])
        except NotAllowed:
            return GITHUB_ACTIONS_USER


@dataclass(frozen=True)
class GitLab:
    """A merge request on GitLab; its comments are called notes."""

    api: Api
    project: int
    number: int

    def comments(self) -> Iterator[Comment]:
        """Yield all notes, page by page."""
        our_id = self.api.request("GET", "/user")["id"]
        query = f"per_page={COMMENTS_PER_PAGE}&order_by=created_at&sort=asc"
        for page in range(1, MAX_PAGES):
            found = self.api.request("GET", f"{self._notes}?{query}&page={page}")
            for comment in found:
                is_ours = (comment.get("author") or {}).get("id") == our_id
                yield Comment(int(comment["id"]), str(comment.get("body") or ""), is_ours)
            if len(found) < COMMENTS_PER_PAGE:
                return

    def write(self, body: str) -> None:
        """Add a note."""
        self.api.request("POST", self._notes, {"body": body})

    def update(self, comment: int, body: str) -> None:
        """Replace the text of a note."""
        self.api.request("PUT", f"{self._notes}/{comment}", {"body": body})

    @property
    def _notes(self) -> str:
        return f"/projects/{self.project}/merge_requests/{self.number}/notes"
