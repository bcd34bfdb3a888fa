"""The registry that pages read: local, or remote over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

from treaty.registry.api import RegistryApi
from treaty.registry.model import Page

T = TypeVar("T")
Source: TypeAlias = RegistryApi
PAGE_SIZE = 1_000


def iterate_pages(fetch: Callable[[str | None, int], Page[T]]) -> Iterator[T]:
    """Yield the items of every page of a list. `fetch` takes a cursor and a limit."""
    cursor = None
    while True:
        page = fetch(cursor, PAGE_SIZE)
        yield from page.items
        cursor = page.next
        if cursor is None:
            return
