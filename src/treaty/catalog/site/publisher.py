"""Keep a static site up to date with its registry. Only pages that a change may affect are rendered again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from treaty.catalog.rendering import DEFAULT_SITE_NAME
from treaty.catalog.site.builder import (
    FRONT_PAGE,
    BuildResult,
    IsCurrent,
    OnProgress,
    ignore_progress,
    known_names,
    render_site,
)
from treaty.catalog.site.folder import Folder, lock_folder
from treaty.catalog.site.manifest import Manifest, SiteState, end_of_today, hash_of, site_state
from treaty.catalog.site.page_groups import ANY_NAME, names_in
from treaty.catalog.source import Source, iterate_pages
from treaty.errors import NotFound
from treaty.registry.model import AuditAnswer
from treaty.registry.model.contract_answers import Query
from treaty.registry.model.page import cursor as cursor_after

_MAX_CHANGES = 5_000
"""After more changes than this, all pages are rendered, because finding the affected ones takes as long."""

_INCIDENT = "incident."
"""Audit actions of incidents; their subject is the line."""

_AFFECTS_ALL = ("waiver.",)
"""Audit actions that can affect any contract. Waivers name contracts by pattern."""


@dataclass(frozen=True, slots=True)
class PublishTarget:
    """Folder, name and audience of the published site."""

    folder: Path
    name: str = DEFAULT_SITE_NAME
    teams: tuple[str, ...] = ()
    """The teams whose private contracts the site contains."""


def publish(
    registry: Source, target: PublishTarget, wait_seconds: float = 0.0, on_progress: OnProgress = ignore_progress
) -> BuildResult | None:
    """Update a site from a registry that shows what its audience may read. Returns None if it is up to date."""
    with lock_folder(target.folder, wait_seconds) as folder:
        state = site_state(registry, end_of_today(registry), target.name, registry.head(), target.teams)
        if folder.before.state == state and _is_complete(folder):
            return None
        is_current = _currency_check(registry, folder, state)
        return render_site(registry, folder, target.name, is_current, on_progress, target.teams)


def _is_complete(folder: Folder) -> bool:
    return FRONT_PAGE in folder.before.files and all(
        folder.has(path, file) for path, file in folder.before.files.items()
    )


def _currency_check(registry: Source, folder: Folder, state: SiteState) -> IsCurrent:
    """Return a function that checks whether a group of pages is unaffected by the changes since the last build."""
    affected = _affected_names(registry, folder.before, state)
    if affected is None:
        return lambda _: False
    return lambda group: ANY_NAME not in group.names and not group.names & affected


def _affected_names(registry: Source, built: Manifest, now: SiteState) -> frozenset[str] | None:
    """Return every name that changes since the last build may affect, or None if that is not known."""
    before = built.state
    if (
        before is None
        or before.seq is None
        or replace(before, seq=now.seq, hash=now.hash, measured=now.measured) != now
    ):
        return None
    entries = _entries_from(registry, before.seq)
    if entries is None or (before.seq and not (entries and hash_of(entries[0].hash) == before.hash)):
        return None  # too many changes, or another registry
    changes = entries[1:] if before.seq else entries
    if any(change.action.startswith(_AFFECTS_ALL) for change in changes):
        return None
    contracts = list(iterate_pages(lambda cursor, limit: registry.search(Query(), cursor=cursor, limit=limit)))
    if built.words.keys() - {contract.id for contract in contracts}:
        return None  # a contract is no longer visible, and any page may name it
    known = known_names(registry, contracts)
    text = "\n".join(name for change in changes for name in names_in((change.subject, change.details)))
    affected = frozenset(name for name in known if name in text)
    affected |= {name for name, _ in {*before.measured.items()} ^ {*now.measured.items()}}
    affected |= _blocked_names(registry, [change.subject for change in changes if change.action.startswith(_INCIDENT)])
    changed = affected & {contract.id for contract in contracts}
    return affected | {name for contract in changed for name in _neighbors(registry, contract)}


def _blocked_names(registry: Source, subjects: Iterable[str]) -> set[str]:
    """Return the names downstream of lines whose incidents changed, at any distance: they may be blocked by them."""
    names: set[str] = set()
    for line in set(subjects):
        try:
            names |= set(names_in(registry.consumers.graph(line, direction="downstream")))
        except NotFound:  # retired since
            continue
    return names


def _entries_from(registry: Source, seq: int) -> list[AuditAnswer] | None:
    """Return the audit entry with a number and all later ones, or None if there are too many."""
    entries: list[AuditAnswer] = []
    cursor: str | None = cursor_after([max(seq - 1, 0)])
    while cursor is not None:
        page = registry.access.audit(cursor=cursor, limit=1_000)
        entries += page.items
        cursor = page.next
        if len(entries) > _MAX_CHANGES:
            return None
    return entries


def _neighbors(registry: Source, contract: str) -> set[str]:
    """Return the names that a contract is related to: in its documents, upstream and downstream."""
    names: set[str] = set()
    for version in iterate_pages(lambda cursor, limit: registry.history(contract, cursor=cursor, limit=limit)):
        names |= set(names_in(version.document))
    for line in registry.lines(contract):
        for direction in ("upstream", "downstream"):
            try:
                names |= set(names_in(registry.consumers.graph(line.line, direction=direction, depth=1)))
            except NotFound:  # no dependencies
                continue
    return names
