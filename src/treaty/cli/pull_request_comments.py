"""A comment on a pull or merge request: written once, then kept up to date."""

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

_TIMEOUT = 30.0
_LONGEST_ANSWER = 50_000_000
_REFUSED = (401, 403, 404)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Lets a redirect be an error."""

    def redirect_request(self, *_: Any) -> None:
        """Follow nothing."""


@dataclass(frozen=True)
class Api:
    """One API, and the headers it wants."""

    address: str
    headers: dict[str, str] = field(repr=False)

    def ask(self, method: str, path: str, values: dict[str, Any] | None = None) -> Any:
        """Send a request, and return what the answer holds."""
        if not self.address.lower().startswith(("https://", "http://")):
            raise InvalidDocument(f"{self.address[:60]!r} is no address of an API; it begins with https://")
        body = None if values is None else json.dumps(values).encode()
        request = urllib.request.Request(  # noqa: S310 - the scheme was looked at
            self.address.rstrip("/") + path, data=body, method=method, headers={**self.headers, **_OURS}
        )
        try:
            with urllib.request.build_opener(_NoRedirects).open(request, timeout=_TIMEOUT) as answer:
                return json.loads(answer.read(_LONGEST_ANSWER) or b"null")
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(method, error.code, self.address) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise Unavailable(f"{self.address} did not answer as expected: {reason}; try again") from None


_OURS = {"User-Agent": "treaty", "Content-Type": "application/json"}


def _refusal(method: str, code: int, address: str) -> NotAllowed | Unavailable:
    if code in _REFUSED:
        what = "read comments" if method == "GET" else "comment"
        return NotAllowed(
            f"the token may not {what} (status {code}); give it the right to write on pull requests. "
            "For a pull request from a fork it has none, which is as it should be"
        )
    return Unavailable(f"{address} answered with status {code}; try again")


class Became(StrEnum):
    """What became of a comment."""

    WRITTEN = "written"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    NOT_NEEDED = "not needed"


@dataclass(frozen=True)
class Said:
    """A comment that stands there: by its number."""

    id: int
    body: str
    is_ours: bool


class Host(Protocol):
    """The pull or merge request that is commented on."""

    def comments(self) -> Iterator[Said]:
        """Yield what was said."""
        ...

    def write(self, body: str) -> None:
        """Say something."""
        ...

    def update(self, comment: int, body: str) -> None:
        """Put right what was said."""
        ...


def comment(host: Host, body: str) -> Became:
    """Say a review, or put right what an earlier one said; nothing is said first where there is nothing to say."""
    earlier = next((one for one in host.comments() if one.is_ours and one.body.lstrip().startswith(MARKER)), None)
    if earlier is None:
        if EMPTY in body:
            return Became.NOT_NEEDED
        host.write(body)
        return Became.WRITTEN
    if _plain(earlier.body) == _plain(body):
        return Became.UNCHANGED
    host.update(earlier.id, body)
    return Became.UPDATED


def _plain(body: str) -> str:
    """Return a comment without what hosts change: line ends, and blanks around it."""
    return body.replace("\r\n", "\n").strip()


_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_TOKEN = re.compile(r"[!-~]+")


def host_from(environment: Mapping[str, str]) -> Host:
    """Return the request that a CI job runs for."""
    if environment.get("GITHUB_REPOSITORY"):
        return _github(environment)
    if environment.get("CI_MERGE_REQUEST_IID"):
        return _gitlab(environment)
    raise NotFound("neither GitHub nor GitLab says which request this is; comment from a job that runs for one")


def _github(environment: Mapping[str, str]) -> GitHub:
    repository = environment["GITHUB_REPOSITORY"]
    if not _REPOSITORY.fullmatch(repository):
        raise InvalidDocument(f"GITHUB_REPOSITORY is {repository[:60]!r}; it is written owner/name")
    token = _token(environment, "GITHUB_TOKEN", "github-token")
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    api = Api(environment.get("GITHUB_API_URL") or "https://api.github.com", headers)
    return GitHub(api, repository, _number(environment.get("GITHUB_EVENT_PATH")))


def _number(file: str | None) -> int:
    """Read the number of the pull request from the event that started the job."""
    try:
        event: Any = json.loads(Path(file or "").read_bytes())
    except (OSError, ValueError):
        event = None
    request = event.get("pull_request") if isinstance(event, dict) else None
    number = request.get("number") if isinstance(request, dict) else None
    if not isinstance(number, int):
        raise NotFound("the event of this job is about no pull request; run it on pull_request")
    return number


def _gitlab(environment: Mapping[str, str]) -> GitLab:
    token = _token(environment, "TREATY_GITLAB_TOKEN", "TREATY_GITLAB_TOKEN")
    api = Api(environment.get("CI_API_V4_URL") or "https://gitlab.com/api/v4", {"PRIVATE-TOKEN": token})
    project, request = environment.get("CI_PROJECT_ID", ""), environment["CI_MERGE_REQUEST_IID"]
    if not project.isdecimal() or not request.isdecimal():
        raise InvalidDocument("CI_PROJECT_ID and CI_MERGE_REQUEST_IID are numbers; run it in a merge request pipeline")
    return GitLab(api, int(project), int(request))


def _token(environment: Mapping[str, str], name: str, said: str) -> str:
    token = environment.get(name, "").strip()
    if not token:
        raise NotFound(f"no token to comment with; set {said}")
    if not _TOKEN.fullmatch(token):
        raise InvalidDocument(f"{name} has signs that no token has; copy it again")
    return token


_ACTIONS = "github-actions[bot]"
_PAGE = 100


@dataclass(frozen=True)
class GitHub:
    """One pull request of one repository."""

    api: Api
    repository: str
    number: int

    def comments(self) -> Iterator[Said]:
        """Yield every comment, page by page."""
        us = self._us()
        for page in range(1, 1_000):
            found = self.api.ask("GET", f"{self._issue}/comments?per_page={_PAGE}&page={page}")
            for one in found:
                yield Said(int(one["id"]), str(one.get("body") or ""), (one.get("user") or {}).get("login") == us)
            if len(found) < _PAGE:
                return

    def write(self, body: str) -> None:
        """Add a comment."""
        self.api.ask("POST", f"{self._issue}/comments", {"body": body})

    def update(self, comment: int, body: str) -> None:
        """Change a comment."""
        self.api.ask("PATCH", f"/repos/{self.repository}/issues/comments/{comment}", {"body": body})

    @property
    def _issue(self) -> str:
        return f"/repos/{self.repository}/issues/{self.number}"

    def _us(self) -> str:
        """Return in whose name we speak; the token of a workflow may not ask."""
        try:
            return str(self.api.ask("GET", "/user")["login"])
        except NotAllowed:
            return _ACTIONS


@dataclass(frozen=True)
class GitLab:
    """One merge request of one project."""

    api: Api
    project: int
    number: int

    def comments(self) -> Iterator[Said]:
        """Yield every note, page by page."""
        us = self.api.ask("GET", "/user")["id"]
        for page in range(1, 1_000):
            found = self.api.ask("GET", f"{self._notes}?per_page={_PAGE}&page={page}&order_by=created_at&sort=asc")
            for one in found:
                yield Said(int(one["id"]), str(one.get("body") or ""), (one.get("author") or {}).get("id") == us)
            if len(found) < _PAGE:
                return

    def write(self, body: str) -> None:
        """Add a note."""
        self.api.ask("POST", self._notes, {"body": body})

    def update(self, comment: int, body: str) -> None:
        """Change a note."""
        self.api.ask("PUT", f"{self._notes}/{comment}", {"body": body})

    @property
    def _notes(self) -> str:
        return f"/projects/{self.project}/merge_requests/{self.number}/notes"


__all__ = [
    "Became",
    "Host",
    "comment",
    "host_from",
]
