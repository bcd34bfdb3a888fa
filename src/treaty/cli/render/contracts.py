"""Rendering of contracts: search results, version lists, and one version in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from treaty.cli.render.console import text
from treaty.cli.render.consumers import render_contract_consumers
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import facts, format_date, format_time, listing, status_text
from treaty.contracts import Contract, Field, FieldPath, contract_from
from treaty.registry.model import (
    ContractAnswer,
    DocumentAnswer,
    LineAnswer,
    StepAnswer,
    SubscriptionAnswer,
    VersionAnswer,
)

MAX_FIELDS = 500


@dataclass(frozen=True)
class ContractView:
    """One version with its lines and subscriptions."""

    version: DocumentAnswer
    lines: list[LineAnswer]
    subscriptions: list[SubscriptionAnswer]

    def as_data(self) -> dict[str, Any]:
        """Return the view as plain data."""
        return self.version.model_dump(mode="json") | {
            "lines": [one.model_dump(mode="json") for one in self.lines],
            "subscriptions": [one.model_dump(mode="json") for one in self.subscriptions],
        }


def render_contracts(console: Console, contracts: Sequence[ContractAnswer]) -> None:
    """Render search results."""
    for one in contracts:
        title = text(one.id, style="path")
        title.append_text(text(f"  {one.version}", style="accent"))
        about = " · ".join(part for part in (one.name, one.domain, one.tier) if part)
        title.append_text(text(f"  {about}" if about else "", style="quiet"))
        console.print(title)
        if one.summary:
            console.print(facts([("", one.summary)]))
    console.print()
    console.print(text(f"{pluralize(len(contracts), 'contract')}; show one with: treaty show CONTRACT", style="quiet"))


def render_history(console: Console, versions: Sequence[VersionAnswer]) -> None:
    """Render versions in the order of registration."""
    console.print(
        listing(
            ("version", "status", "registered (UTC)", "by", "sunset", "retire from"),
            (
                (
                    text(one.version, style="accent"),
                    status_text(one.status),
                    format_time(one.registered_at),
                    one.registered_by,
                    format_date(one.sunset_on),
                    format_date(one.retire_on),
                )
                for one in versions
            ),
        )
    )


def render_lifecycle_steps(console: Console, steps: Sequence[StepAnswer]) -> None:
    """Render life cycle steps, and reminders about versions whose status stays the same."""
    for one in steps:
        name = f"{one.contract} {one.version}"
        changed = f"{name} is now {one.after} (was {one.before})"
        reminder = f"reminder about {name}, which is {one.after}"
        console.print(text(f"{reminder if one.before == one.after else changed}: {one.reason}"))


def render_versions(console: Console, versions: Sequence[VersionAnswer]) -> None:
    """Render the status of versions, one line each."""
    for one in versions:
        render_version(console, one)


def render_version(console: Console, one: VersionAnswer) -> None:
    """Render the status of a version in one line."""
    line = text(f"{one.contract} {one.version} is ").append_text(status_text(one.status))
    if one.status in ("deprecated", "sunset") and one.sunset_on:
        line.append_text(text(f"; sunset on {one.sunset_on}, may be retired from {one.retire_on}"))
    console.print(line)


def render_contract_view(console: Console, view: ContractView) -> None:
    """Render one version: status, owners, lines, consumers and fields."""
    one, contract = view.version, contract_from(view.version.document, "the registry")
    title = text(one.contract, style="path")
    title.append_text(text(f"  {one.version}  ", style="accent")).append_text(status_text(one.status))
    console.print(title)
    console.print(facts(_about(one, contract)))
    console.print()
    console.print(
        listing(
            ("line", "status", "latest", "versions", "consumers", "sunset", "retire from"),
            (
                (
                    text(line.line.removeprefix(one.contract), style="accent"),
                    status_text(line.status),
                    line.latest_active or line.latest,
                    str(line.versions),
                    str(line.consumers),
                    format_date(line.sunset_on),
                    format_date(line.retire_on),
                )
                for line in view.lines
            ),
        )
    )
    if view.subscriptions:
        console.print()
        render_contract_consumers(console, view.subscriptions, one.contract)
    _render_fields(console, contract)


def _about(one: VersionAnswer, contract: Contract) -> Iterator[tuple[str, str]]:
    purpose = contract.description.get("purpose") if contract.description else None
    if purpose:
        yield "Purpose", " ".join(str(purpose).split())
    for number, owner in enumerate(one.owners):
        yield "Owner" if number == 0 else "", f"{owner.team}  {owner.contact or ''}".rstrip()
    if contract.treaty.parent:
        yield "Policy", contract.treaty.parent
    yield "Mode", one.mode
    yield "Registered", f"{format_time(one.registered_at)} UTC by {one.registered_by}"
    if one.announced_on:
        yield "End", f"announced on {one.announced_on}, sunset on {one.sunset_on}, may be retired from {one.retire_on}"
    if one.deprecation_uri:
        yield "Plan", one.deprecation_uri


def _render_fields(console: Console, contract: Contract) -> None:
    for item in contract.schema:
        fields = list(_fields(item.fields, FieldPath()))
        if not fields:
            continue
        console.print()
        console.print(text(item.name, style="path"))
        console.print(
            listing(
                ("field", "type", "", "description"),
                (
                    (
                        text(str(path), style="accent"),
                        str(one.type or ""),
                        "key" if one.primary_key else "required" if one.is_required else "",
                        " ".join((one.description or "").split()),
                    )
                    for path, one in fields[:MAX_FIELDS]
                ),
            )
        )
        if len(fields) > MAX_FIELDS:
            console.print(text(f"and {len(fields) - MAX_FIELDS:,} more; print all with --as given", style="quiet"))


def _fields(fields: tuple[Field, ...], above: FieldPath) -> Iterator[tuple[FieldPath, Field]]:
    pending = [(above.field(one.name or "?"), one) for one in reversed(fields)]
    while pending:
        path, one = pending.pop()
        yield path, one
        inside = [(path.field(child.name or "?"), child) for child in one.properties or ()]
        inside += [(path.into(mark), child) for mark, child in one.children]
        pending += reversed(inside)
