"""Notes on a GitLab merge request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from treaty.cli.commenting.asking import Api
from treaty.cli.commenting.commenting import Said

_PAGE = 100


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
