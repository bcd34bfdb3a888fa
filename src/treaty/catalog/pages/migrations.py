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
    consumers = sorted(status.consumers, key=lambda one: (order[one.state], not one.critical, one.consumer))
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


def _consumer_status(one: MigrationConsumerAnswer, missing: list[str]) -> ConsumerStatus:
    state, label = EFFECTS[one.effect]
    contact = make_contact(one.team or one.consumer, one.contact) if one.contact else None
    more = max(0, len(one.fields) - _MAX_FIELDS)
    return ConsumerStatus(one, one.consumer in missing, state, label, contact, tuple(one.fields[:_MAX_FIELDS]), more)


def _commands(status: BoardAnswer) -> Iterator[tuple[str, str]]:
    """Yield useful commands, with a consumer that still has to act as the example."""
    waiting = [one.consumer for one in status.consumers if one.state == "waiting"]
    left = waiting + [one.consumer for one in status.consumers if one.state == "acknowledged"]
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
    for one in shims if isinstance(shims, list) else ():
        if not isinstance(one, dict):
            continue
        direction = str(one.get("way"))
        yield Shim(
            _SHIM_LABELS.get(direction, direction[:40]),
            str(one.get("object"))[:200],
            one.get("holds") is True,
            _rows(one),
            _problems(one),
        )


def _rows(shim: dict[str, Any]) -> str:
    rows = shim.get("rows")
    if not isinstance(rows, dict):
        return "no view could be created"
    used, conforming = rows.get("used"), rows.get("conforming")
    return f"{conforming} of {used} rows are valid ({str(rows.get('origin'))[:80]})"


def _problems(shim: dict[str, Any]) -> tuple[str, ...]:
    fields = shim.get("fields")
    entries = [one for one in fields if isinstance(one, dict)] if isinstance(fields, list) else []
    problems = [
        f"{str(one.get('field'))[:120]}: {one.get('fidelity')}" + (f", {one['reason']}" if one.get("reason") else "")
        for one in entries
        if one.get("holds") is not True or one.get("fidelity") != "exact"
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
    return frozenset(one.team for one in source.teams(limit=_MAX_TEAMS).items)


def summarize_migration(one: MigrationAnswer, today: date, teams: frozenset[str] = frozenset()) -> MigrationSummary:
    """Return the summary of a migration."""
    counts = {name: one.counts.get(name, 0) for name in CONSUMER_STATES}
    left = counts["waiting"] + counts["acknowledged"]
    proof_state, proof_label = _PROOF_LABELS[one.proven]
    return MigrationSummary(
        id=one.id,
        contract=one.contract,
        before=one.before,
        after=one.after,
        before_version=one.before_version,
        after_version=one.after_version,
        state=one.state,
        owner=one.owner,
        is_team=one.owner in teams,
        guide=one.guide,
        guide_address=safe_address(one.guide),
        parts=stacked_bar(counts),
        total=sum(counts.values()),
        left=left,
        missing=tuple(one.missing),
        window=_window(one, today, left),
        proof_state=proof_state,
        proof_label=proof_label,
    )


def _window(one: MigrationAnswer, today: date, left: int) -> Window:
    if one.state == "proposed":
        note = f"{one.window} to migrate after approval" if one.window else None
        return Window("warning" if one.missing else "none", "not approved yet", None, 0.0, note)
    if one.state in ("closed", "withdrawn"):
        return Window("none", one.state, one.ends_on, 100.0)
    if one.ends_on is None:
        return Window("none", "no end date", None, 0.0)
    opened_on = one.opened_at.date()
    days = (one.ends_on - today).days
    filled = filled_share((today - opened_on).days, (one.ends_on - opened_on).days)
    if days < 0:
        label = f"ended {pluralize(-days, 'day')} ago"
        return Window("failing" if left else "healthy", label, one.ends_on, 100.0)
    label = "ends today" if days == 0 else f"{pluralize(days, 'day')} left"
    return Window("warning" if left and days <= _WARNING_DAYS else "healthy", label, one.ends_on, filled)


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
            "migrations": {one.proposal: one for one in waiting if one.proposal is not None},
        },
    )
