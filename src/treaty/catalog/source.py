"""Where pages get what they draw: a registry, at hand or by its address, which answers both ways alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

from treaty.registry.client import RegistryClient
from treaty.registry.model import Page
from treaty.registry.service import Registry

T = TypeVar("T")
Source: TypeAlias = Registry | RegistryClient
_MOST = 1_000


def iterate_pages(ask: Callable[[str | None, int], Page[T]]) -> Iterator[T]:
    """Walk through all pages of a list: `everything(lambda cursor, limit: source.search(wanted, cursor=cursor, …))`."""
    cursor = None
    while True:
        page = ask(cursor, _MOST)
        yield from page.items
        cursor = page.next
        if cursor is None:
            return
