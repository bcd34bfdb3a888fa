"""Pages of migrations and open proposals, and the migration summary that other pages show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from shlex import quote
from typing import Any

from treaty.catalog import links
from treaty.catalog.contacts import Contact, make_contact, safe_address
from treaty.catalog.formatting import pluralize
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source, iterate_pages
from treaty.catalog.svg.charts import Part, filled_share, stacked_bar
from treaty.registry.model import BoardAnswer, MigrationAnswer, MigrationConsumerAnswer

EFFECTS = {
    "hit": ("failing", "affected: a field it uses changes"),
    "unknown": ("warning", "unknown: no fields specified"),
    "safe": ("healthy", "not affected"),
}
_SHIM_LABELS = {"back": "old shape from new rows", "forward": "new shape from old rows"}
_MAX_FIELDS = 30


@dataclass(frozen=True)
class ConsumerStatus:
    """A consumer in the table of a migration."""

    entry: MigrationConsumerAnswer
    is_missing: bool
    effect_state: str
    effect_label: str
    contact: Contact | None
    fields: tuple[str, ...]
    more_fields: int


@dataclass(frozen=True)
class Shim:
    """Result of running one shim on rows."""

    label: str
    object: str
    holds: bool
    rows: str
    problems: tuple[str, ...]


def migration_page(source: Source, number: int, today: date) -> Page:
    """Return the page of one migration."""
    status = source.migrations.get(number)
    teams = known_teams(source)
    order = {name: position for position, name in enumerate(reversed(CONSUMER_STATES))}
    consumers = sorted(
        status.consumers, key=lambda consumer: (order[consumer.state], not consumer.critical, consumer.consumer)
    )
    return Page(
        links.migration(number),
        "migration.html",
        f"{status.before} → {status.after}",
        "changes",
        {
            "migration": summarize_migration(status, today, teams),
            "known_teams": teams,
            "status": status,
            "states": CONSUMER_STATES,
            "meanings": STATE_MEANINGS,
            "consumers": tuple(_consumer_status(one, status.missing) for one in consumers),
            "shims": tuple(_shims(status.proof or {})),
            "proof_at": _text((status.proof or {}).get("at")),
            "commands": tuple(_commands(status)),
        },
        assets=("changes.css", "actions.css"),
    )


def _consumer_status(consumer: MigrationConsumerAnswer, missing: list[str]) -> ConsumerStatus:
    state, label = EFFECTS[consumer.effect]
    contact = make_contact(consumer.team or consumer.consumer, consumer.contact) if consumer.contact else None
    more = max(0, len(consumer.fields) - _MAX_FIELDS)
    return ConsumerStatus(
        consumer, consumer.consumer in missing, state, label, contact, tuple(consumer.fields[:_MAX_FIELDS]), more
    )


def _commands(status: BoardAnswer) -> Iterator[tuple[str, str]]:
    """Yield useful commands, with a consumer that still has to act as the example."""
    waiting = [consumer.consumer for consumer in status.consumers if consumer.state == "waiting"]
    left = waiting + [consumer.consumer for consumer in status.consumers if consumer.state == "acknowledged"]
    acknowledge_next = [name for name in status.missing if name in waiting] or waiting
    between = (
        f"{quote(f'{status.contract}@{status.before_version}')} {quote(f'{status.contract}@{status.after_version}')}"
    )
    if status.state in ("proposed", "open") and acknowledge_next:
        yield (
            "Acknowledge the change for a consumer",
            f"treaty migrate acknowledge {status.id} {quote(acknowledge_next[0])}",
        )
    if status.state == "open":
        of = f" --consumer {quote(left[0])}" if left else ""
        yield "Show the changes for a consumer and the view with the old shape", f"treaty migrate plan {between}{of}"
        if left:
            yield "Move a consumer to the new line", f"treaty migrate move {status.id} {quote(left[0])}"
        yield "Run the shims on data and record the proof", f"treaty migrate prove {between} --record"
    yield "Show the status in a terminal", f"treaty migrate status {status.id}"


def _shims(proof: dict[str, Any]) -> Iterator[Shim]:
    """Yield the results of a proof. It comes from a client, so its shape is not trusted."""
    shims = proof.get("shims")
    for shim in shims if isinstance(shims, list) else ():
        if not isinstance(shim, dict):
            continue
        direction = str(shim.get("way"))
        yield Shim(
            _SHIM_LABELS.get(direction, direction[:40]),
            str(shim.get("object"))[:200],
            shim.get("holds") is True,
            _rows(shim),
            _problems(shim),
        )


def _rows(shim: dict[str, Any]) -> str:
    rows = shim.get("rows")
    if not isinstance(rows, dict):
        return "no view could be created"
    used, conforming = rows.get("used"), rows.get("conforming")
    return f"{conforming} of {used} rows are valid ({str(rows.get('origin'))[:80]})"


def _problems(shim: dict[str, Any]) -> tuple[str, ...]:
    fields = shim.get("fields")
    entries = [field for field in fields if isinstance(field, dict)] if isinstance(fields, list) else []
    problems = [
        f"{str(entry.get('field'))[:120]}: {entry.get('fidelity')}"
        + (f", {entry['reason']}" if entry.get("reason") else "")
        for entry in entries
        if entry.get("holds") is not True or entry.get("fidelity") != "exact"
    ]
    blocked = shim.get("blocked")
    return tuple([*map(str, blocked if isinstance(blocked, list) else ()), *problems][:50])


def _text(value: object) -> str | None:
    return value[:40] if isinstance(value, str) else None


CONSUMER_STATES = ("moved", "waived", "acknowledged", "waiting")
"""States of a consumer, from done to open."""

STATE_MEANINGS = {
    "moved": "uses the new line",
    "waived": "exempt until a date",
    "acknowledged": "confirmed, still on the old line",
    "waiting": "not confirmed yet",
}
_WARNING_DAYS = 14
_MAX_TEAMS = 1_000
_PROOF_LABELS = {
    None: ("none", "not run on data"),
    True: ("healthy", "proven on data"),
    False: ("failing", "shims failed"),
}


@dataclass(frozen=True)
class Window:
    """Time window of a migration: how much has elapsed, and its state."""

    state: str
    label: str
    ends_on: date | None
    filled: float
    note: str | None = None


@dataclass(frozen=True)
class MigrationSummary:
    """A migration for tables and its own page."""

    id: int
    contract: str
    before: str
    after: str
    before_version: str
    after_version: str
    state: str
    owner: str | None
    is_team: bool
    """Whether the owner is a team with a page."""
    guide: str | None
    guide_address: str | None
    parts: tuple[Part, ...]
    total: int
    left: int
    missing: tuple[str, ...]
    window: Window
    proof_state: str
    proof_label: str


def known_teams(source: Source) -> frozenset[str]:
    """Return the teams that have a page (the first 1,000)."""
    return frozenset(team.team for team in source.teams(limit=_MAX_TEAMS).items)


def summarize_migration(
    migration: MigrationAnswer, today: date, teams: frozenset[str] = frozenset()
) -> MigrationSummary:
    """Return the summary of a migration."""
    counts = {name: migration.counts.get(name, 0) for name in CONSUMER_STATES}
    left = counts["waiting"] + counts["acknowledged"]
    proof_state, proof_label = _PROOF_LABELS[migration.proven]
    return MigrationSummary(
        id=migration.id,
        contract=migration.contract,
        before=migration.before,
        after=migration.after,
        before_version=migration.before_version,
        after_version=migration.after_version,
        state=migration.state,
        owner=migration.owner,
        is_team=migration.owner in teams,
        guide=migration.guide,
        guide_address=safe_address(migration.guide),
        parts=stacked_bar(counts),
        total=sum(counts.values()),
        left=left,
        missing=tuple(migration.missing),
        window=_window(migration, today, left),
        proof_state=proof_state,
        proof_label=proof_label,
    )


def _window(migration: MigrationAnswer, today: date, left: int) -> Window:
    if migration.state == "proposed":
        note = f"{migration.window} to migrate after approval" if migration.window else None
        return Window("warning" if migration.missing else "none", "not approved yet", None, 0.0, note)
    if migration.state in ("closed", "withdrawn"):
        return Window("none", migration.state, migration.ends_on, 100.0)
    if migration.ends_on is None:
        return Window("none", "no end date", None, 0.0)
    opened_on = migration.opened_at.date()
    days = (migration.ends_on - today).days
    filled = filled_share((today - opened_on).days, (migration.ends_on - opened_on).days)
    if days < 0:
        label = f"ended {pluralize(-days, 'day')} ago"
        return Window("failing" if left else "healthy", label, migration.ends_on, 100.0)
    label = "ends today" if days == 0 else f"{pluralize(days, 'day')} left"
    return Window("warning" if left and days <= _WARNING_DAYS else "healthy", label, migration.ends_on, filled)


def proposals_page(source: Source) -> Page:
    """Return the open proposals."""
    proposals = iterate_pages(
        lambda cursor, limit: source.governance.proposals(state="open", cursor=cursor, limit=limit)
    )
    waiting = iterate_pages(lambda cursor, limit: source.migrations.list(state="proposed", cursor=cursor, limit=limit))
    return Page(
        links.proposals(),
        "proposals.html",
        "Proposals",
        "changes",
        {
            "proposals": list(proposals),
            "migrations": {consumer.proposal: consumer for consumer in waiting if consumer.proposal is not None},
        },
    )
