"""Incidents: the list of open and closed ones, and one incident with its evidence and the consumers that it hits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from treaty.catalog import links
from treaty.catalog.links import Link
from treaty.catalog.pages.contract.service_levels import Chart, measure_chart
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source, iterate_pages
from treaty.contracts.versions import parse_line
from treaty.errors import NotFound
from treaty.observability import amounts
from treaty.observability.evidence import EXPECTED, FIELDS, REFUSED
from treaty.observability.measures import Bound, measure_kind
from treaty.registry.model import IncidentAnswer

ASSETS = ("health.css", "incidents.css")
PAGE_SIZE = 50
STATES = {"open": "Open", "closed": "Closed"}
_MAX_DETAILS = 30
_MAX_DETAIL_LENGTH = 400
_SHOWN_ELSEWHERE = frozenset({REFUSED, EXPECTED, FIELDS})
_SIGNS = {Bound.AT_MOST: "≤", Bound.AT_LEAST: "≥"}


@dataclass(frozen=True)
class IncidentFilter:
    """Filter of the list, from the query string."""

    state: str | None = None
    contract: str | None = None
    team: str | None = None
    cursor: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is filtered."""
        return not (self.state or self.contract or self.team)


@dataclass(frozen=True, slots=True)
class Section:
    """Incidents of one state, the newest first."""

    state: str
    title: str
    incidents: tuple[IncidentAnswer, ...]
    more: Link | None
    """The next page, or the first page of this state alone."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the evidence."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule that an audit found broken."""

    rule: str
    value: str
    limit: str


@dataclass(frozen=True, slots=True)
class BlockedLine:
    """A line that waits for the one with the incident."""

    line: str
    contract: str


def incidents_page(source: Source, incident_filter: IncidentFilter | None = None, limit: int = PAGE_SIZE) -> Page:
    """Return the list of incidents: the open ones, then those that were closed."""
    incident_filter = incident_filter or IncidentFilter()
    states = [incident_filter.state] if incident_filter.state in STATES else list(STATES)
    return Page(
        links.incidents(**asdict(incident_filter)),
        "incidents/incidents.html",
        "Incidents",
        "health",
        {
            "filter": incident_filter,
            "states": STATES,
            "sections": tuple(_section(source, incident_filter, state, limit) for state in states),
            "first_page": links.incidents(**asdict(replace(incident_filter, cursor=None))),
        },
        ASSETS,
    )


def _section(source: Source, incident_filter: IncidentFilter, state: str, limit: int) -> Section:
    found = source.incidents.list(
        contract=incident_filter.contract,
        team=incident_filter.team,
        state=state,
        cursor=incident_filter.cursor if incident_filter.state else None,
        limit=limit,
    )
    more = links.incidents(**asdict(replace(incident_filter, state=state, cursor=found.next))) if found.next else None
    return Section(state, STATES[state], tuple(found.items), more)


def incident_page(source: Source, number: int, now: datetime | None = None) -> Page:
    """Return one incident: cause, evidence, what it blocks, and the consumers that it hits by class."""
    incident = source.incidents.get(number)
    return Page(
        links.incident(number),
        "incidents/incident.html",
        f"Incident {number}: {incident.line}",
        "health",
        {
            "incident": incident,
            "facts": tuple(evidence_facts(incident)),
            "rules": broken_rules(incident.evidence),
            "fields": _fields(incident.evidence),
            "root": _root(source, incident),
            "blocked": tuple(BlockedLine(line, parse_line(line).contract) for line in incident.blocked),
            "consumers": sum(map(len, incident.consumers.values())),
            "chart": _chart(source, incident, now),
        },
        ASSETS,
    )


def incident_numbers(source: Source) -> Iterator[int]:
    """Return the incidents that have a page."""
    incidents = iterate_pages(lambda cursor, limit: source.incidents.list(cursor=cursor, limit=limit))
    return (incident.id for incident in incidents)


def evidence_facts(incident: IncidentAnswer) -> Iterator[Fact]:
    """Yield what was measured and promised, and the details of the measure that people can read."""
    evidence = incident.evidence
    kind = measure_kind(incident.measure, str(evidence.get("unit") or "") or None)
    value, promise = evidence.get("value"), evidence.get("promise")
    unit = str(evidence["unit"]) if evidence.get("unit") else None
    if isinstance(value, (int, float)):
        yield Fact("Measured", amounts.format_measured(kind, float(value), unit))
    if isinstance(promise, (int, float)):
        yield Fact("Promised", amounts.format_promise(kind, float(promise), unit))
    details = evidence.get("details")
    details = details if isinstance(details, Mapping) else {}
    expected = details.get(EXPECTED)
    if isinstance(expected, Mapping) and {"low", "high"} <= expected.keys():
        yield Fact("Usual at this time", f"{_text(expected['low'])} to {_text(expected['high'])}")
    others = {name: value for name, value in evidence.items() if name not in ("value", "unit", "promise", "details")}
    for name, detail in list({**others, **details}.items())[:_MAX_DETAILS]:
        if name not in _SHOWN_ELSEWHERE:
            yield Fact(str(name).replace("_", " ").capitalize(), _text(detail))


def broken_rules(evidence: Mapping[str, Any]) -> tuple[RuleRow, ...]:
    """Return the rules that an audit found broken."""
    details = evidence.get("details")
    refused = details.get(REFUSED) if isinstance(details, Mapping) else None
    rules = refused.get("rules") if isinstance(refused, Mapping) else None
    return tuple(_rule(rule) for rule in rules if isinstance(rule, Mapping)) if isinstance(rules, list) else ()


def _rule(rule: Mapping[str, Any]) -> RuleRow:
    unit = str(rule.get("unit", "%"))
    sign = _SIGNS[Bound.AT_LEAST if rule.get("bound") == Bound.AT_LEAST else Bound.AT_MOST]
    value, limit = rule.get("value"), rule.get("limit")
    return RuleRow(
        str(rule.get("rule", "")),
        amounts.format_amount(float(value), unit) if isinstance(value, (int, float)) else "—",
        f"{sign} {amounts.format_amount(float(limit), unit)}" if isinstance(limit, (int, float)) else "—",
    )


def _fields(evidence: Mapping[str, Any]) -> tuple[str, ...]:
    details = evidence.get("details")
    fields = details.get(FIELDS) if isinstance(details, Mapping) else None
    return tuple(map(str, fields[:_MAX_DETAILS])) if isinstance(fields, list) else ()


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.10g}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_DETAIL_LENGTH else f"{text[:_MAX_DETAIL_LENGTH]}…"


def _root(source: Source, incident: IncidentAnswer) -> IncidentAnswer | None:
    """Return the incident that caused this one; its evidence may have been deleted since."""
    if incident.root is None:
        return None
    try:
        return source.incidents.get(incident.root)
    except NotFound:
        return None


def _chart(source: Source, incident: IncidentAnswer, now: datetime | None) -> Chart | None:
    return measure_chart(source, incident.line, incident.measure, now)
