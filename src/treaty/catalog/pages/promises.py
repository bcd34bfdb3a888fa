"""What a contract promises, and how that is kept today, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from treaty.catalog.pages.behaviour import Chart, anchor_of, behaviour_of
from treaty.catalog.sources import Source
from treaty.contracts.model import Contract
from treaty.observability import known, words
from treaty.observability.known import KNOWN, Kind, kind_of
from treaty.observability.promises import promise_of
from treaty.registry.answers import MeasureAnswer

__all__ = ["Chart", "Promise", "behaviour_of", "promises_of"]
_MOST = 1_000


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise of a contract, in words, and how it is kept."""

    name: str
    promised: str
    kept: str | None = None
    """As it was last measured; None where nothing ever was."""
    state: str = "none"
    at: datetime | None = None
    anchor: str | None = None
    """Of the chart that shows it over time, among those of `behaviour_of`."""
    statement: str | None = None
    measurable: bool = True
    """Whether there is a measure for it; other promises are only told."""


def promises_of(source: Source, contract: Contract) -> tuple[Promise, ...]:
    """Return what a contract promises and how it is kept today; what can be measured comes first."""
    measured = {one.name: one for one in source.measures.current(contract=contract.id, limit=_MOST).items}
    found = [*_levels(contract, measured), *_told(contract)]
    return tuple(sorted(found, key=lambda one: not one.measurable))


def _levels(contract: Contract, measured: Mapping[str, MeasureAnswer]) -> Iterator[Promise]:
    by_word = {word: kind for kind in KNOWN.values() for word in kind.promised_as}
    seen: set[str] = set()
    for level in contract.sla or ():
        name = str(level.get("property", "")).strip()
        kind = by_word.get(name.lower()) or (kind_of(name.lower()) if name.lower() in measured else None)
        if kind is None:
            yield Promise(_title_of(name), _said(level), statement=_statement(level), measurable=False)
        elif kind.name not in seen:
            seen.add(kind.name)
            yield _kept(contract, kind, level, measured.get(kind.name))
    latency = contract.treaty.latency
    if known.LATENCY not in seen and latency and latency.within:
        within = {"value": latency.within, "description": latency.statement}
        yield _kept(contract, KNOWN[known.LATENCY], within, measured.get(known.LATENCY))


def _kept(contract: Contract, kind: Kind, level: Mapping[str, Any], one: MeasureAnswer | None) -> Promise:
    limit = promise_of(contract, kind)
    promised = _said(level) if limit is None else words.promise(kind, limit)
    if one is None:
        return Promise(kind.title, promised, statement=_statement(level))
    return Promise(
        kind.title,
        promised,
        words.measured(kind, one.value, one.unit),
        one.state or "none",
        one.at,
        anchor_of(kind.name),
        _statement(level),
    )


def _told(contract: Contract) -> Iterator[Promise]:
    """Yield what Treaty's own blocks promise: these are kept by how a contract is run, not measured."""
    blocks = contract.treaty
    if blocks.ordering is not None:
        keys = ", ".join(blocks.ordering.key)
        by = f"by {keys}" + (f", following {blocks.ordering.sequence}" if blocks.ordering.sequence else "")
        yield _statement_of("Ordering", by if blocks.ordering.is_guaranteed else "none", blocks.ordering.statement)
    if blocks.delivery is not None:
        over = f", as {', '.join(blocks.delivery.channels)}" if blocks.delivery.channels else ""
        guarantee = blocks.delivery.guarantee.replace("_", " ")
        yield _statement_of("Delivery", f"{guarantee}{over}", blocks.delivery.statement)
    if (policy := blocks.change_policy) is not None:
        parts = [
            policy.compatibility and f"{policy.compatibility} compatible",
            policy.notice and f"{policy.notice} notice",
        ]
        yield _statement_of("Changes", ", ".join(filter(None, parts)) or "as stated", policy.statement)


def _statement_of(name: str, promised: str, statement: str | None) -> Promise:
    return Promise(name, promised, statement=statement, measurable=False)


def _said(level: Mapping[str, Any]) -> str:
    return f"{level.get('value', '')} {level.get('unit') or ''}".strip()


def _statement(level: Mapping[str, Any]) -> str | None:
    text = level.get("description")
    return str(text) if text else None


def _title_of(name: str) -> str:
    return (name[:1].upper() + name[1:]).replace("_", " ") or "Service level"
