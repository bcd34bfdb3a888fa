"""Actions on incidents: acknowledge."""

from __future__ import annotations

from treaty.catalog import links
from treaty.catalog.actions.page_action import ActionSubject, FormField, FormValues, PageAction
from treaty.catalog.formatting import format_datetime, pluralize
from treaty.catalog.source import Source
from treaty.registry.access.permissions import Action, Resource


def _subject(source: Source, values: FormValues) -> ActionSubject:
    incident = source.incidents.get(values.number("incident"))
    consumers = sum(map(len, incident.consumers.values()))
    facts = (
        ("Line", incident.line),
        ("Cause", incident.cause),
        ("First seen", f"{format_datetime(incident.first_seen)} UTC"),
        ("Owners", ", ".join(incident.owners) or "none"),
        ("Hits", f"{pluralize(consumers, 'consumer')}, blocks {pluralize(len(incident.blocked), 'line')}"),
    )
    closed = (f"Incident {incident.id} is closed.",) if incident.state == "closed" else ()
    return ActionSubject(
        f"incident {incident.id}",
        Action.NOTIFY,
        Resource("contract", incident.contract, frozenset(incident.owners)),
        links.incident(incident.id),
        facts,
        closed,
    )


def _acknowledge(source: Source, values: FormValues) -> str:
    incident = source.incidents.acknowledge(
        values.number("incident"), reason=values.required("reason", "What is being done")
    )
    return f"Incident {incident.id} is acknowledged."


INCIDENT_ACTIONS = (
    PageAction(
        "acknowledge-incident",
        "Acknowledge",
        "Say that this incident is being worked on. It is not escalated any more, and closes by itself when the "
        "promise is kept again.",
        "Acknowledge",
        Action.NOTIFY,
        ("incident",),
        _subject,
        _acknowledge,
        (FormField("reason", "What is being done", "long", required=True, hint="Shown with the incident."),),
    ),
)
