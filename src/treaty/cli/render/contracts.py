"""Rendering of contracts: search results, version lists, and one version in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from treaty.cli.render.certificates import render_certificates
from treaty.cli.render.console import text
from treaty.cli.render.consumers import render_contract_consumers
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import facts, format_date, format_time, listing, status_text
from treaty.contracts import Contract, Field, FieldPath, contract_from
from treaty.contracts.values import abbreviate
from treaty.registry.model import (
    CertificateAnswer,
    ContractAnswer,
    DocumentAnswer,
    EffectiveAnswer,
    LineAnswer,
    StepAnswer,
    SubscriptionAnswer,
    VersionAnswer,
)

MAX_FIELDS = 500


@dataclass(frozen=True)
class ContractView:
    """One version with its lines, subscriptions and the newest certificates of publishers."""

    version: DocumentAnswer
    lines: list[LineAnswer]
    subscriptions: list[SubscriptionAnswer]
    certificates: list[CertificateAnswer]

    def as_data(self) -> dict[str, Any]:
        """Return the view as plain data."""
        return self.version.model_dump(mode="json") | {
            "lines": [line.model_dump(mode="json") for line in self.lines],
            "subscriptions": [subscription.model_dump(mode="json") for subscription in self.subscriptions],
            "certificates": [certificate.model_dump(mode="json") for certificate in self.certificates],
        }


def render_contracts(console: Console, contracts: Sequence[ContractAnswer]) -> None:
    """Render search results."""
    for contract in contracts:
        title = text(contract.id, style="path")
        title.append_text(text(f"  {contract.version}", style="accent"))
        about = " · ".join(part for part in (contract.name, contract.domain, contract.tier) if part)
        title.append_text(text(f"  {about}" if about else "", style="quiet"))
        console.print(title)
        if contract.summary:
            console.print(facts([("", contract.summary)]))
    console.print()
    console.print(text(f"{pluralize(len(contracts), 'contract')}; show one with: treaty show CONTRACT", style="quiet"))


def render_history(console: Console, versions: Sequence[VersionAnswer]) -> None:
    """Render versions in the order of registration."""
    console.print(
        listing(
            ("version", "status", "registered (UTC)", "by", "sunset", "retire from"),
            (
                (
                    text(version.version, style="accent"),
                    status_text(version.status),
                    format_time(version.registered_at),
                    version.registered_by,
                    format_date(version.sunset_on),
                    format_date(version.retire_on),
                )
                for version in versions
            ),
        )
    )


def render_lifecycle_steps(console: Console, steps: Sequence[StepAnswer]) -> None:
    """Render life cycle steps, and reminders about versions whose status stays the same."""
    for step in steps:
        name = f"{step.contract} {step.version}"
        if step.after == "ended":
            console.print(text(f"{step.contract}: {step.reason}"))
            continue
        changed = f"{name} is now {step.after} (was {step.before})"
        reminder = f"reminder about {name}, which is {step.after}"
        console.print(text(f"{reminder if step.before == step.after else changed}: {step.reason}"))


def render_versions(console: Console, versions: Sequence[VersionAnswer]) -> None:
    """Render the status of versions, one line each."""
    for version in versions:
        render_version(console, version)


def render_version(console: Console, version: VersionAnswer) -> None:
    """Render the status of a version in one line."""
    line = text(f"{version.contract} {version.version} is ").append_text(status_text(version.status))
    if version.status == "active" and version.announced_on and _where(version):
        line.append_text(text(f"; deprecated from {version.announced_on}"))
    if version.sunset_on and (version.status in ("deprecated", "sunset") or _where(version)):
        line.append_text(text(f"; sunset on {version.sunset_on}, may be retired from {version.retire_on}"))
    if version.replacement and version.status in ("active", "deprecated", "sunset"):
        line.append_text(text(f". Migrate to: {version.replacement}"))
    console.print(line)


def _where(version: VersionAnswer) -> str | None:
    """Return where the consumers of a version go, if its end was announced; an expiry alone is no announcement."""
    return version.replacement or version.deprecation_uri or version.reason


def render_contract_view(console: Console, view: ContractView) -> None:
    """Render one version: status, owners, lines, consumers and fields."""
    version, contract = view.version, contract_from(view.version.document, "the registry")
    title = text(version.contract, style="path")
    title.append_text(text(f"  {version.version}  ", style="accent")).append_text(status_text(version.status))
    console.print(title)
    console.print(facts(_about(version, contract)))
    console.print()
    console.print(
        listing(
            ("line", "status", "latest", "versions", "consumers", "sunset", "retire from"),
            (
                (
                    text(line.line.removeprefix(version.contract), style="accent"),
                    status_text(line.status),
                    line.current,
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
        render_contract_consumers(console, view.subscriptions, version.contract)
    if view.certificates:
        console.print()
        render_certificates(console, view.certificates)
    _render_fields(console, contract)


def _about(version: VersionAnswer, contract: Contract) -> Iterator[tuple[str, str]]:
    purpose = contract.description.get("purpose") if contract.description else None
    if purpose:
        yield "Purpose", " ".join(str(purpose).split())
    for number, owner in enumerate(version.owners):
        yield "Owner" if number == 0 else "", f"{owner.team}  {owner.contact or ''}".rstrip()
    if contract.treaty.parent:
        yield "Policy", contract.treaty.parent
    yield "Mode", version.mode
    yield "Registered", f"{format_time(version.registered_at)} UTC by {version.registered_by}"
    if version.announced_on:
        yield (
            "End",
            f"announced on {version.announced_on}, sunset on {version.sunset_on}, "
            f"may be retired from {version.retire_on}",
        )
    if version.replacement:
        yield "Migrate to", version.replacement
    if version.deprecation_uri:
        yield "Plan", version.deprecation_uri
    if version.reason:
        yield "Reason", version.reason


def _render_fields(console: Console, contract: Contract) -> None:
    for schema_object in contract.schema:
        fields = list(_fields(schema_object.fields, FieldPath()))
        if not fields:
            continue
        console.print()
        console.print(text(schema_object.name, style="path"))
        console.print(
            listing(
                ("field", "type", "", "description"),
                (
                    (
                        text(str(path), style="accent"),
                        str(field.type or ""),
                        "key" if field.primary_key else "required" if field.is_required else "",
                        " ".join((field.description or "").split()),
                    )
                    for path, field in fields[:MAX_FIELDS]
                ),
            )
        )
        if len(fields) > MAX_FIELDS:
            console.print(text(f"and {len(fields) - MAX_FIELDS:,} more; print all with --as given", style="quiet"))


def _fields(fields: tuple[Field, ...], above: FieldPath) -> Iterator[tuple[FieldPath, Field]]:
    pending = [(above.field(field.name or "?"), field) for field in reversed(fields)]
    while pending:
        path, node = pending.pop()
        yield path, node
        inside = [(path.field(child.name or "?"), child) for child in node.properties or ()]
        inside += [(path.into(mark), child) for mark, child in node.children]
        pending += reversed(inside)


OWN = "this contract"


def render_effective_values(console: Console, answer: EffectiveAnswer) -> None:
    """Render each value of an effective contract with its origin."""
    from rich.table import Table

    title = text(answer.contract, style="path")
    title.append_text(text(f"  {answer.version}", style="accent"))
    title.append(f"  inherits from {', '.join(answer.policies)}" if answer.policies else "  no policy", style="quiet")
    console.print(title)
    console.print()
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    grid.add_column(style="quiet", overflow="fold")
    for value in answer.values:
        origin = f"from {value.origin}" if value.origin else OWN
        grid.add_row(text(value.path), text(abbreviate(value.value)), text(origin))
    console.print(grid)
