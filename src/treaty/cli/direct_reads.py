"""Findings about critical consumers that read directly: warnings, or errors if a policy forbids the read by now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from treaty.consumers.suitability import READS_DIRECTLY
from treaty.consumers.usage_rules import SOURCE_NOUNS, USAGE_REFUSED
from treaty.contracts.findings import Finding, Severity

if TYPE_CHECKING:
    from treaty.registry.api import RegistryApi
    from treaty.registry.model import MapEntryAnswer

_PAGE = 1_000


def find_direct_reads(registry: RegistryApi, line: str) -> list[Finding]:
    """Return a finding for each critical consumer that reads a line directly."""
    entries = registry.dependency_map.entries(source=line, direct=True, limit=_PAGE).items
    return [_finding(entry) for entry in entries if entry.critical]


def find_project_reads(
    registry: RegistryApi, lines: Collection[str], is_feed: Callable[[str], bool]
) -> Iterator[Finding]:
    """Yield a finding for each critical consumer that reads a line or legacy feed of a project directly."""
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
        f"which is {SOURCE_NOUNS[entry.source_kind]}"
    )
    hint = f"read {entry.served_by} instead" if entry.served_by else "publish what it needs: no publication serves it"
    if entry.forbidden is None:
        return Finding(READS_DIRECTLY, Severity.WARNING, message, hint=hint)
    hint += f"; a waiver of {USAGE_REFUSED} with the path {entry.consumer} allows it for a time"
    return Finding(READS_DIRECTLY, Severity.ERROR, f"{message}; {entry.forbidden}", hint=hint)
