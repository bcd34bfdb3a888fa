"""Lists in parts: one page, or all of them one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import typer

if TYPE_CHECKING:
    from treaty.registry.model import Page

T = TypeVar("T")
PAGE = 100
_LARGEST = 1_000


@dataclass(frozen=True)
class Wanted:
    """Which part of a list somebody asks for."""

    limit: int
    cursor: str | None
    everything: bool


def wanted(limit: int, cursor: str | None, everything: bool) -> Wanted:
    """Read the options of a list."""
    if everything and cursor is not None:
        raise typer.BadParameter("a cursor goes on from one page, --all takes every page; give one of the two")
    return Wanted(limit, cursor, everything)


def fetch(ask: Callable[[str | None, int], Page[T]], part: Wanted) -> Page[T]:
    """Ask for a page, or for one after the other until there is no next."""
    if not part.everything:
        return ask(part.cursor, part.limit)
    items: list[T] = []
    at: str | None = None
    while True:
        page = ask(at, _LARGEST)
        items += page.items
        at = page.next
        if at is None:
            return page.model_copy(update={"items": items})
