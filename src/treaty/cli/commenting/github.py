"""Comments on a GitHub pull request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from treaty.cli.commenting.asking import Api
from treaty.cli.commenting.commenting import Said
from treaty.errors import NotAllowed

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
