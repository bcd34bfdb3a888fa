"""Asking a registry for the version of a line that is used."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, TypeAlias

from treaty.contracts import Contract, contract_from
from treaty.contracts.versions import parse_version
from treaty.errors import NotFound
from treaty.pipeline.declarations import Line

if TYPE_CHECKING:
    from treaty.registry.answers import DocumentAnswer, LineAnswer, Page


class Lines(Protocol):
    """What a pipeline asks of a registry, on a database or by its address."""

    def lines(self, contract: str) -> list[LineAnswer]:
        """List the lines of a contract."""
        ...

    def get(self, contract: str, version: str) -> DocumentAnswer:
        """Return one version with its document."""
        ...

    def history(self, contract: str, *, cursor: str | None = None) -> Page[DocumentAnswer]:
        """List versions with their documents."""
        ...


Opening: TypeAlias = Callable[[], AbstractContextManager[Lines]]
"""Opens the registry that is set, and closes it at the end."""


def latest_of(registry: Lines, line: Line) -> Contract:
    """Return the highest active version of a line, else the highest of those that stand best in their life."""
    known = registry.lines(line.contract)
    found = next((one for one in known if one.line == str(line)), None)
    if found is None:
        raise NotFound(f"no line {line} is registered; there are: {', '.join(one.line for one in known)}")
    if found.latest_active:
        answer = registry.get(line.contract, found.latest_active)
    else:
        answer = _highest(registry, line, found.status)
    return contract_from(answer.document, f"{answer.contract} {answer.version} in the registry")


def _highest(registry: Lines, line: Line, status: str) -> DocumentAnswer:
    members: list[DocumentAnswer] = []
    cursor: str | None = None
    while True:
        page = registry.history(line.contract, cursor=cursor)
        members += [one for one in page.items if one.line == str(line) and one.status == status]
        cursor = page.next
        if cursor is None:
            return max(members, key=lambda one: parse_version(one.version))
