"""Commenting once: what we said before is found by its marker and put right, never said again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from treaty.cli.drawing.checks.markdown import EMPTY, MARKER


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
