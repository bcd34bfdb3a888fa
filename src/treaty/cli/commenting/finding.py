"""Which pull or merge request is meant: told by the variables that GitHub and GitLab set."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from treaty.cli.commenting.asking import Api
from treaty.cli.commenting.commenting import Host
from treaty.cli.commenting.github import GitHub
from treaty.cli.commenting.gitlab import GitLab
from treaty.errors import InvalidDocument, NotFound

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
