"""What the front page answers before it lists contracts: what is broken, what is changing, what ends soon."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.catalog.source import Source
from treaty.observability.health import Health
from treaty.registry.model import IncidentAnswer, MigrationAnswer, UpcomingAnswer

DAYS_AHEAD = 60
_SHOWN = 5
_COUNTED = 100


@dataclass(frozen=True, slots=True)
class FrontSummary:
    """The first of each kind, and how many there are; a count of 100 means at least 100."""

    incidents: tuple[IncidentAnswer, ...]
    open_incidents: int
    blocked: int
    migrations: tuple[MigrationAnswer, ...]
    open_migrations: int
    proposals: int
    ends: tuple[UpcomingAnswer, ...]
    upcoming: int
    days_ahead: int = DAYS_AHEAD


def front_summary(source: Source) -> FrontSummary:
    """Return the summary of the front page: failing incidents first, the nearest dates first."""
    incidents = source.incidents.list(state="open", limit=_COUNTED).items
    blocked = source.incidents.overview(state=Health.BLOCKED, limit=_COUNTED).items
    migrations = [
        migration
        for state in ("open", "proposed")
        for migration in source.migrations.list(state=state, limit=_COUNTED).items
    ]
    upcoming = source.upcoming(days=DAYS_AHEAD, limit=_COUNTED).items
    worst_first = sorted(incidents, key=lambda incident: (incident.severity != "failing", -len(incident.blocked)))
    proposals = source.governance.proposals(state="open", limit=_COUNTED).items
    return FrontSummary(
        tuple(worst_first[:_SHOWN]),
        len(incidents),
        len(blocked),
        tuple(migrations[:_SHOWN]),
        len(migrations),
        len(proposals),
        tuple(upcoming[:_SHOWN]),
        len(upcoming),
    )
