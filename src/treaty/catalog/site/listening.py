"""A source that remembers every name it was asked for or answered with: what a page rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from pydantic import BaseModel

from treaty.catalog.sources import Source

UNHEARD = "*"
"""Stands for names that an answer only counts: whatever changes may be about one of them."""


class Listening:
    """Passes questions on to a registry, and keeps the names in them and in the answers."""

    def __init__(self, to: Any, heard: set[str] | None = None) -> None:
        self._to = to
        self.heard: set[str] = set() if heard is None else heard

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._to, name)
        return self._hearing(found) if callable(found) else Listening(found, self.heard)

    def as_source(self) -> Source:
        """Return it as what pages ask."""
        return cast(Source, self)

    def _hearing(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        def answer(*given: Any, **asked: Any) -> Any:
            self.heard.update(names_in((given, asked)))
            said = ask(*given, **asked)
            self.heard.update(names_in(said))
            if getattr(said, "more", 0):
                self.heard.add(UNHEARD)
            return said

        return answer


def names_in(value: Any) -> Iterable[str]:
    """Yield every text in a value, and of a line, such as orders@1, the contract too."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            yield one
            contract, mark, _ = one.rpartition("@")
            if mark:
                yield contract
        elif isinstance(one, BaseModel):
            pending += one.__dict__.values()
        elif isinstance(one, Mapping):
            pending += [*one.keys(), *one.values()]
        elif isinstance(one, (list, tuple, set, frozenset)):
            pending += one
