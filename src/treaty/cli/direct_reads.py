"""Warnings about critical consumers that read directly, as the map of a registry has them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from treaty.consumers.suitability import READS_DIRECTLY
from treaty.contracts.findings import Finding, Severity

if TYPE_CHECKING:
    from treaty.registry.api import RegistryApi
    from treaty.registry.model import MapEntryAnswer

_PAGE = 1_000
_KINDS = {"raw": "raw data", "change_feed": "a change feed", "product": "a product", "legacy": "a legacy feed"}


def find_direct_reads(registry: RegistryApi, line: str) -> list[Finding]:
    """Return a warning for each critical consumer that reads a line directly."""
    entries = registry.dependency_map.entries(source=line, direct=True, limit=_PAGE).items
    return [_finding(entry) for entry in entries if entry.critical]


def find_project_reads(
    registry: RegistryApi, lines: Collection[str], is_feed: Callable[[str], bool]
) -> Iterator[Finding]:
    """Yield a warning for each critical consumer that reads a line or legacy feed of a project directly."""
    cursor: str | None = None
    while True:
        page = registry.dependency_map.entries(direct=True, cursor=cursor, limit=_PAGE)
        for entry in page.items:
            if entry.critical and (entry.line in lines or is_feed(entry.source)):
                yield _finding(entry)
        cursor = page.next
        if cursor is None:
            return


def _finding(entry: MapEntryAnswer) -> Finding:
    known = ", ".join(entry.evidence)
    message = (
        f"{entry.consumer} is {entry.consumer_class.value}, and reads {entry.source} directly ({known}), "
        f"which is {_KINDS[entry.source_kind]}"
    )
    if entry.forbidden:
        message += f"; {entry.forbidden}"
    hint = f"read {entry.served_by} instead" if entry.served_by else "publish what it needs: no publication serves it"
    return Finding(READS_DIRECTLY, Severity.WARNING, message, hint=hint)
