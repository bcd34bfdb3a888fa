"""Rendering of incidents, health and service levels."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from treaty.cli.render.console import text
from treaty.cli.render.tables import facts, format_time, listing
from treaty.registry.model import ContractHealthAnswer, HealthAnswer, IncidentAnswer, ServiceLevelAnswer

_STYLES = {"healthy": "good", "warning": "warning", "blocked": "warning", "failing": "error"}


def render_incidents(console: Console, incidents: Sequence[IncidentAnswer]) -> None:
    """Render incidents, one in each row."""
    console.print(
        listing(
            ("id", "state", "line", "measure", "cause", "first seen (UTC)", "last seen (UTC)"),
            (
                (
                    str(one.id),
                    _state_text(one),
                    one.line,
                    one.measure,
                    one.cause,
                    format_time(one.first_seen),
                    format_time(one.last_seen),
                )
                for one in incidents
            ),
        )
    )


def render_incident(console: Console, incident: IncidentAnswer) -> None:
    """Render one incident with everything that is known about it."""
    console.print(text(f"incident {incident.id} of {incident.line}", style="path"))
    rows: list[tuple[str, str | Text]] = [
        ("State", _state_text(incident)),
        ("Cause", incident.cause),
        ("Measure", incident.measure),
        ("Owners", ", ".join(incident.owners) or "none"),
        ("First seen", f"{format_time(incident.first_seen)} UTC"),
        ("Last seen", f"{format_time(incident.last_seen)} UTC"),
    ]
    if incident.escalated_at:
        rows.append(("Escalated", f"{format_time(incident.escalated_at)} UTC"))
    if incident.acknowledged_at:
        by = f"{format_time(incident.acknowledged_at)} UTC by {incident.acknowledged_by}: {incident.reason}"
        rows.append(("Acknowledged", by))
    if incident.closed_at:
        rows.append(("Closed", f"{format_time(incident.closed_at)} UTC: {incident.resolution}"))
    if incident.root:
        rows.append(("Root cause", f"incident {incident.root}"))
    if incident.blocked:
        rows.append(("Blocked", ", ".join(incident.blocked)))
    for consumer_class, names in incident.consumers.items():
        rows.append((f"Consumers ({consumer_class.replace('_', ' ')})", ", ".join(names)))
    if incident.hidden:
        rows.append(("Hidden", f"{incident.hidden} that you may not see"))
    console.print(facts(rows))


def render_healths(console: Console, healths: Sequence[HealthAnswer]) -> None:
    """Render the health of contracts, one in each row."""
    console.print(
        listing(
            ("contract", "health", "cause", "since (UTC)"),
            (
                (one.contract, _health_text(one), one.cause, format_time(one.since) if one.since else "")
                for one in healths
            ),
        )
    )


def render_contract_health(console: Console, health: ContractHealthAnswer) -> None:
    """Render the health of one contract with its incidents and service levels."""
    style = _STYLES.get(health.state or "", "quiet")
    console.print(text(health.contract, style="path"))
    console.print(text(health.sentence, style=style))
    if len(health.lines) > 1:
        console.print()
        console.print(
            listing(
                ("line", "health", "cause"), ((one.line or "", _health_text(one), one.cause) for one in health.lines)
            )
        )
    if health.incidents:
        console.print()
        render_incidents(console, health.incidents)
    if health.service_levels:
        console.print()
        _render_service_levels(console, health.service_levels, health.window_days)


def _render_service_levels(console: Console, levels: Sequence[ServiceLevelAnswer], days: int) -> None:
    console.print(
        listing(
            (f"service level, {days} days", "promise", "state", "kept", "objective", "error budget left", ""),
            (
                (
                    level.property,
                    level.promise,
                    text(level.state or "not measured", style=_STYLES.get(level.state or "", "quiet")),
                    _percent(level.kept),
                    _percent(level.objective),
                    _percent(level.budget),
                    level.reason or "",
                )
                for level in levels
            ),
        )
    )


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}".rstrip("0").rstrip(".") + " %"


def _health_text(health: HealthAnswer) -> Text:
    return text(health.state or "not measured", style=_STYLES.get(health.state or "", "quiet"))


def _state_text(incident: IncidentAnswer) -> Text:
    if incident.state == "closed":
        return text("closed", style="quiet")
    acknowledged = ", acknowledged" if incident.acknowledged_at else ", escalated" if incident.escalated_at else ""
    return text(f"{incident.severity}{acknowledged}", style=_STYLES[incident.severity])
