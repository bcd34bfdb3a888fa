"""Guessing how fresh data are kept, from the newest moment in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from treaty.contracts.paths import FieldPath
from treaty.spark.profile.facts import Facts, Profile
from treaty.spark.profile.guesses import Confidence, Guess
from treaty.spark.profile.names import freshness_rank

_LADDER = (1, 2, 7, 31)
_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Freshness:
    """The moment to measure freshness by, what it says now, and the days that could be promised, if any."""

    column: str
    days: int | None
    guess: Guess


def guess_freshness(
    profile: Profile, moments: Iterable[str], apart: Collection[FieldPath], now: datetime
) -> Freshness | None:
    """Guess from the timestamp that says when rows were changed, or else when they happened."""
    names = set(moments)
    ranked = [
        (rank, item)
        for item in profile.facts
        if item.name in names and item.is_column and item.path not in apart and item.newest is not None
        if (rank := freshness_rank(item.name)) is not None
    ]
    return _from(min(ranked, key=lambda pair: pair[0])[1], now) if ranked else None


def _from(facts: Facts, now: datetime) -> Freshness | None:
    try:
        newest = _EPOCH + timedelta(microseconds=facts.newest or 0)
    except OverflowError:  # a year that Python does not know
        return None
    age = now - newest
    seen = f"the newest {facts.name} is {newest:%Y-%m-%d %H:%M} UTC"
    if age < timedelta():
        return Freshness(facts.name, None, Guess("freshness", Confidence.LOW, f"{seen}, in the future: look at it"))
    days = next((days for days in _LADDER if age * 2 <= days * _DAY), None)
    if days is None:
        note = f"{seen}, too long ago to tell how often rows come: not drafted"
        return Freshness(facts.name, None, Guess("freshness", Confidence.LOW, note))
    return Freshness(facts.name, days, Guess("freshness", Confidence.LOW, seen))
