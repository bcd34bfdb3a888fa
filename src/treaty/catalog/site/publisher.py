"""Publishing: a site follows its registry, and only what a change may have touched is drawn again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from treaty.catalog.rendering import DEFAULT_SITE_NAME
from treaty.catalog.site.builder import FRONT_PAGE, BuildResult, Holds, Tell, known_names, render_site, tell_nobody
from treaty.catalog.site.folder import Folder, lock_folder
from treaty.catalog.site.manifest import Stand, hash_of, head_of, stand_of, today
from treaty.catalog.site.page_groups import UNHEARD, names_in
from treaty.catalog.source import iterate_pages
from treaty.errors import NotFound
from treaty.registry.model import AuditAnswer
from treaty.registry.model.contract_answers import Query
from treaty.registry.model.page import cursor as cursor_after
from treaty.registry.service import Registry

_MOST = 5_000
"""After more changes than this everything is drawn: finding out what they touched would take as long."""

_CONCERNS_ALL = ("waiver.",)
"""Changes that may be about any contract: a waiver names them by a pattern."""


@dataclass(frozen=True, slots=True)
class PublishTarget:
    """Where a registry's site is kept, and what it is called."""

    folder: Path
    name: str = DEFAULT_SITE_NAME


def publish(
    registry: Registry, publishing: PublishTarget, patience: float = 0.0, tell: Tell = tell_nobody
) -> BuildResult | None:
    """Bring a site up to date; None where it is already."""
    with lock_folder(publishing.folder, patience) as folder:
        stand = stand_of(registry, today(registry), publishing.name, head_of(registry))
        if folder.before.stand == stand and _is_whole(folder):
            return None
        return render_site(registry, folder, publishing.name, _holding(registry, folder, stand), tell)


def _is_whole(folder: Folder) -> bool:
    return FRONT_PAGE in folder.before.files and all(folder.has(path, one) for path, one in folder.before.files.items())


def _holding(registry: Registry, folder: Folder, stand: Stand) -> Holds:
    """Return what tells whether pages still hold, as everything that changed since they were drawn says."""
    touched = _touched(registry, folder.before.stand, stand)
    if touched is None:
        return lambda _: False
    return lambda group: UNHEARD not in group.names and not group.names & touched


def _touched(registry: Registry, before: Stand | None, now: Stand) -> frozenset[str] | None:
    """Return every name that a change since the last build may be about, or None where that cannot be said."""
    if (
        before is None
        or before.seq is None
        or replace(before, seq=now.seq, hash=now.hash, measured=now.measured) != now
    ):
        return None
    entries = _entries_from(registry, before.seq)
    if entries is None or (before.seq and not (entries and hash_of(entries[0].hash) == before.hash)):
        return None  # too many, or another registry than the one that was drawn
    news = entries[1:] if before.seq else entries
    if any(one.action.startswith(_CONCERNS_ALL) for one in news):
        return None
    found = list(iterate_pages(lambda cursor, limit: registry.search(Query(), cursor=cursor, limit=limit)))
    known = known_names(registry, found)
    said = "\n".join(text for one in news for text in names_in((one.subject, one.details)))
    about = frozenset(name for name in known if name in said)
    about |= {name for name, _ in {*before.measured.items()} ^ {*now.measured.items()}}
    contracts = about & {one.id for one in found}
    return about | {name for one in contracts for name in _beside(registry, one)}


def _entries_from(registry: Registry, seq: int) -> list[AuditAnswer] | None:
    """Return the entry that was the last, and those after it."""
    found: list[AuditAnswer] = []
    cursor: str | None = cursor_after([max(seq - 1, 0)])
    while cursor is not None:
        page = registry.access.audit(cursor=cursor, limit=1_000)
        found += page.items
        cursor = page.next
        if len(found) > _MOST:
            return None
    return found


def _beside(registry: Registry, contract: str) -> set[str]:
    """Return the names next to a contract: what its versions name, what it is made from, and what is made from it."""
    names: set[str] = set()
    for version in iterate_pages(lambda cursor, limit: registry.history(contract, cursor=cursor, limit=limit)):
        names |= set(names_in(version.document))
    for line in registry.lines(contract):
        for direction in ("upstream", "downstream"):
            try:
                names |= set(names_in(registry.consumers.graph(line.line, direction=direction, depth=1)))
            except NotFound:  # nothing is known to lead from it or to it
                continue
    return names
