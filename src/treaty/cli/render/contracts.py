"""Drawing contracts: what a search finds, the versions of one, and one version in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from treaty.cli.render.console import text
from treaty.cli.render.consumers import draw_readers
from treaty.cli.render.tables import count, day_or_nothing, facts, listing, moment, status_text
from treaty.contracts import Contract, Field, FieldPath, contract_from
from treaty.registry.model import (
    ContractAnswer,
    DocumentAnswer,
    LineAnswer,
    StepAnswer,
    SubscriptionAnswer,
    VersionAnswer,
)

_MOST_FIELDS = 500


@dataclass(frozen=True)
class Shown:
    """One version, and what stands around it."""

    version: DocumentAnswer
    lines: list[LineAnswer]
    subscriptions: list[SubscriptionAnswer]

    def as_data(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return self.version.model_dump(mode="json") | {
            "lines": [one.model_dump(mode="json") for one in self.lines],
            "subscriptions": [one.model_dump(mode="json") for one in self.subscriptions],
        }


def draw_contracts(drawn: Console, contracts: Sequence[ContractAnswer]) -> None:
    """Draw what a search found."""
    for one in contracts:
        title = text(one.id, style="path")
        title.append_text(text(f"  {one.version}", style="accent"))
        about = " · ".join(part for part in (one.name, one.domain, one.tier) if part)
        title.append_text(text(f"  {about}" if about else "", style="quiet"))
        drawn.print(title)
        if one.summary:
            drawn.print(facts([("", one.summary)]))
    drawn.print()
    drawn.print(text(f"{count(len(contracts), 'contract')}; see one with: treaty show CONTRACT", style="quiet"))


def draw_history(drawn: Console, versions: Sequence[VersionAnswer]) -> None:
    """Draw versions in the order they were registered."""
    drawn.print(
        listing(
            ("version", "status", "registered (UTC)", "by", "sunset", "retire from"),
            (
                (
                    text(one.version, style="accent"),
                    status_text(one.status),
                    moment(one.registered_at),
                    one.registered_by,
                    day_or_nothing(one.sunset_on),
                    day_or_nothing(one.retire_on),
                )
                for one in versions
            ),
        )
    )


def draw_steps(drawn: Console, steps: Sequence[StepAnswer]) -> None:
    """Draw which versions moved on, and who was reminded to leave one that stays as it is."""
    for one in steps:
        name = f"{one.contract} {one.version}"
        moved = f"{name} is {one.after}, not {one.before} any more"
        reminded = f"reminder about {name}, which is {one.after}"
        drawn.print(text(f"{reminded if one.before == one.after else moved}: {one.reason}"))


def draw_versions(drawn: Console, versions: Sequence[VersionAnswer]) -> None:
    """Draw where versions stand now, one line each."""
    for one in versions:
        draw_version(drawn, one)


def draw_version(drawn: Console, one: VersionAnswer) -> None:
    """Draw where a version stands now, in a line."""
    said = text(f"{one.contract} {one.version} is ").append_text(status_text(one.status))
    if one.status in ("deprecated", "sunset") and one.sunset_on:
        said.append_text(text(f"; sunset on {one.sunset_on}, may be retired from {one.retire_on}"))
    drawn.print(said)


def draw_shown(drawn: Console, shown: Shown) -> None:
    """Draw one version: where it stands, who answers for it, who reads it, and its fields."""
    one, contract = shown.version, contract_from(shown.version.document, "the registry")
    title = text(one.contract, style="path")
    title.append_text(text(f"  {one.version}  ", style="accent")).append_text(status_text(one.status))
    drawn.print(title)
    drawn.print(facts(_about(one, contract)))
    drawn.print()
    drawn.print(
        listing(
            ("line", "status", "latest", "versions", "consumers", "sunset", "retire from"),
            (
                (
                    text(line.line.removeprefix(one.contract), style="accent"),
                    status_text(line.status),
                    line.latest_active or line.latest,
                    str(line.versions),
                    str(line.consumers),
                    day_or_nothing(line.sunset_on),
                    day_or_nothing(line.retire_on),
                )
                for line in shown.lines
            ),
        )
    )
    if shown.subscriptions:
        drawn.print()
        draw_readers(drawn, shown.subscriptions, one.contract)
    _draw_fields(drawn, contract)


def _about(one: VersionAnswer, contract: Contract) -> Iterator[tuple[str, str]]:
    purpose = contract.description.get("purpose") if contract.description else None
    if purpose:
        yield "Purpose", " ".join(str(purpose).split())
    for number, owner in enumerate(one.owners):
        yield "Owner" if number == 0 else "", f"{owner.team}  {owner.contact or ''}".rstrip()
    if contract.treaty.parent:
        yield "Policy", contract.treaty.parent
    yield "Changes", f"judged under {one.mode}"
    yield "Since", f"{moment(one.registered_at)} UTC, registered by {one.registered_by}"
    if one.announced_on:
        yield "Leaving", f"announced on {one.announced_on}, sunset on {one.sunset_on}, retired from {one.retire_on}"
    if one.deprecation_uri:
        yield "Plan", one.deprecation_uri


def _draw_fields(drawn: Console, contract: Contract) -> None:
    for item in contract.schema:
        found = list(_fields(item.fields, FieldPath()))
        if not found:
            continue
        drawn.print()
        drawn.print(text(item.name, style="path"))
        drawn.print(
            listing(
                ("field", "type", "", "meaning"),
                (
                    (
                        text(str(path), style="accent"),
                        str(one.type or ""),
                        "key" if one.primary_key else "required" if one.is_required else "",
                        " ".join((one.description or "").split()),
                    )
                    for path, one in found[:_MOST_FIELDS]
                ),
            )
        )
        if len(found) > _MOST_FIELDS:
            drawn.print(text(f"and {len(found) - _MOST_FIELDS:,} more; see --as given", style="quiet"))


def _fields(fields: tuple[Field, ...], above: FieldPath) -> Iterator[tuple[FieldPath, Field]]:
    pending = [(above.field(one.name or "?"), one) for one in reversed(fields)]
    while pending:
        path, one = pending.pop()
        yield path, one
        inside = [(path.field(child.name or "?"), child) for child in one.properties or ()]
        inside += [(path.into(mark), child) for mark, child in one.children]
        pending += reversed(inside)
