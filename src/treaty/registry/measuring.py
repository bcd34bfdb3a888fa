"""Keep what was measured, held to what the contracts promise."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from treaty.contracts.text import Limits, check_plain
from treaty.errors import InvalidDocument
from treaty.observability.measures import KNOWN, PLAIN, Measure, State, judged, state_of
from treaty.registry.access.actors import Actor
from treaty.registry.access.rules import Action, Resource, authorize
from treaty.registry.answers import DayAnswer, GridRowAnswer, MeasureAnswer, RecordedAnswer
from treaty.registry.names import check_name
from treaty.registry.store import kept, measuring
from treaty.registry.store.measuring import GridRow
from treaty.registry.store.transaction import Transaction

LARGEST_BATCH = 1_000
KEPT = timedelta(days=400)
"""How long measures are kept: a year to compare with, and some weeks."""

_AHEAD = timedelta(hours=1)
"""How far the clock of whoever measures may be ahead of ours."""

_LARGEST = 1e15
"""Numbers beyond it are no measures, and floats no longer count one by one there."""

_LONGEST_UNIT = 40
_DEEPEST = 8
_LARGEST_DETAILS = 4_000


def record(transaction: Transaction, actor: Actor, found: Sequence[Measure]) -> RecordedAnswer:
    """Keep measures; one that is known already is not kept twice, so that a batch can be sent again."""
    if len(found) > LARGEST_BATCH:
        raise InvalidDocument(
            f"{len(found):,} measures at once; send {LARGEST_BATCH:,} at most, and the rest after them"
        )
    now = transaction.now
    checked = [_checked(one, now) for one in found]
    by_contract: dict[str, list[Measure]] = {}
    for one in checked:
        by_contract.setdefault(one.contract, []).append(one)
    kept_ones: list[Measure] = []
    unknown: list[str] = []
    for contract, ones in sorted(by_contract.items()):
        version = kept.highest(transaction.connection, contract)
        if version is None:
            unknown.append(contract)
            continue
        authorize(actor, Action.NOTIFY, Resource("contract", contract, version.teams))
        promised = kept.contract_of(transaction.connection, version)
        kept_ones += [judged(one, promised) for one in ones]
    recorded = measuring.add(transaction, kept_ones, actor.name, now - KEPT) if kept_ones else 0
    return RecordedAnswer(recorded=recorded, unknown=unknown)


def measure_of(said: Mapping[str, Any]) -> Measure:
    """Read a measure as a request says it."""
    state = said.get("state")
    return Measure(**{**said, "state": State(state) if state else None})


def measure_answer(one: Measure) -> MeasureAnswer:
    """Return a measure in the words of the API."""
    return MeasureAnswer(
        contract=one.contract,
        name=one.name,
        at=one.at,
        value=one.value,
        unit=one.unit or "",
        promise=one.promise,
        state=one.state.value if one.state else None,
        details=dict(one.details),
    )


def row_answer(row: GridRow) -> GridRowAnswer:
    """Return a row of the grid in the words of the API."""
    health = state_of(row.rank)
    days = [DayAnswer(day=one.day, state=one.state.value, by=list(one.by)) for one in row.days if one.state]
    return GridRowAnswer(
        contract=row.contract,
        name=row.name,
        domain=row.domain,
        health=health.value if health else None,
        days=days,
    )


def first_day(today: date, since: date | None, days: int = 30) -> date:
    """Return where a grid begins: where it is asked to, at most as far back as measures are kept."""
    return max(today - timedelta(days=days - 1) if since is None else since, today - KEPT)


def _checked(one: Measure, now: datetime) -> Measure:
    """Refuse what cannot be kept, or would stand before everything that is measured later."""
    check_name(one.name, "measure")
    if not math.isfinite(one.value) or not math.isfinite(one.promise or 0.0):
        raise InvalidDocument(f"{one.name} of {one.contract[:80]} is no finite number; leave it out")
    if max(abs(one.value), abs(one.promise or 0.0)) > _LARGEST:
        raise InvalidDocument(
            f"{one.name} of {one.contract[:80]} is larger than {_LARGEST:,.0f}; check how it is counted"
        )
    if one.at.tzinfo is None:
        raise InvalidDocument(f"{one.name} of {one.contract[:80]} was measured at {one.at}, in no time zone; add one")
    if not now - KEPT <= one.at <= now + _AHEAD:
        raise InvalidDocument(
            f"{one.name} of {one.contract[:80]} was measured at {one.at:%Y-%m-%d %H:%M %Z}, "
            f"not within the last {KEPT.days} days; check the clock"
        )
    if len(one.unit or "") > _LONGEST_UNIT or not (one.unit or "").isprintable():
        raise InvalidDocument(f"the unit of {one.name} is longer than {_LONGEST_UNIT} characters, or cannot be printed")
    _check_unit(one)
    details = dict(one.details)
    check_plain(details, "details", Limits(depth=_DEEPEST))
    if len(json.dumps(details)) > _LARGEST_DETAILS:
        raise InvalidDocument(
            f"the details of {one.name} have more than {_LARGEST_DETAILS:,} characters; link the rest"
        )
    return replace(one, value=float(one.value), details=details)


def _check_unit(one: Measure) -> None:
    """Refuse a known measure in another unit than its own: nobody converts it, so it would be judged wrongly."""
    kind = KNOWN.get(one.name)
    if kind is not None and one.unit not in (None, kind.unit):
        due = "has no unit" if kind.unit == PLAIN else f"is counted in {kind.unit!r}"
        raise InvalidDocument(
            f"{one.name} of {one.contract[:80]} {due}, and is given in {one.unit!r}; "
            "convert value and promise, or give the measure a name of your own"
        )
