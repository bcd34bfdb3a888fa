"""Comparison of two histograms: how much moved, and whether chance and the usual differences of runs explain it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from treaty.events.drift.profile import add_counts

Counts = Mapping[int, int]

MIN_EVENTS = 500
"""Events on both sides that a comparison needs."""
MIN_REFERENCES = 3
"""Profiles from which it is known how much runs differ usually."""
MIN_MOVED = 0.02
"""The share of the events that must have moved, where the differences between runs are known."""
MIN_MOVED_OF_FEW = 0.05
"""The same if there are too few runs to know them."""
_MIN_SHIFT_EXPLAINS = 0.5
"""The share of a difference that a shift must explain."""
_MIN_EXPECTED = 5
"""Bins with fewer expected events are counted together."""
_ROBUST_FROM = 8
"""With so many references, the one that differs most does not count as usual."""
_SIGNIFICANT = 6.0
"""Standard deviations of the statistic beyond its mean."""
_SIGNIFICANT_AT_LEAST = 12.0
_USUAL_FACTOR = 1.5
_MAX_DESIGN = 10.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """A histogram beside the sum of its references."""

    before: Counts
    now: Counts
    moved: float
    """The share of the events that are in another bin, beyond what chance explains."""
    is_unusual: bool

    def share_before(self, code: int) -> float:
        """Return the share of a bin before."""
        return share_of(self.before, code)

    def share_now(self, code: int) -> float:
        """Return the share of a bin now."""
        return share_of(self.now, code)

    def change_of(self, code: int) -> float:
        """Return by how much the share of a bin changed."""
        return abs(self.share_now(code) - self.share_before(code))

    @property
    def most_changed(self) -> int:
        """The bin whose share changed most."""
        return max(self.now.keys() | self.before.keys(), key=self.change_of)


def compare(
    now: Counts,
    references: Sequence[Counts],
    *,
    min_moved: float,
    design: float = 1.0,
    min_events: int = MIN_EVENTS,
) -> Comparison | None:
    """Compare a histogram with its references; None if there are too few events.

    `design` is the number of events that depend on each other, such as those of one key.
    """
    before = add_counts(references)
    if sum(now.values()) < min_events or sum(before.values()) < min_events:
        return None
    distance = _distance(now, before)
    spread = max(1.0, min(design, _MAX_DESIGN))
    usual = 0.0
    if len(references) >= MIN_REFERENCES:
        others = [_distance(one, _others(before, one)) for one in references if one]
        spread = max(spread, _usual_most([one.statistic / max(one.bins, 1) for one in others]))
        usual = _usual_most([one.excess for one in others])
    limit = distance.bins + _SIGNIFICANT * math.sqrt(2 * distance.bins) + _SIGNIFICANT_AT_LEAST
    is_unusual = (
        distance.statistic / spread > limit
        and distance.excess >= min_moved
        and distance.excess >= _USUAL_FACTOR * usual
    )
    return Comparison(before, now, distance.excess, is_unusual)


def _usual_most(values: Sequence[float]) -> float:
    ordered = sorted(values, reverse=True)
    return ordered[1 if len(ordered) >= _ROBUST_FROM else 0] if ordered else 0.0


def _others(total: Counts, one: Counts) -> dict[int, int]:
    return {code: count - one.get(code, 0) for code, count in total.items()}


@dataclass(frozen=True, slots=True)
class _Distance:
    statistic: float
    bins: int
    """Degrees of freedom."""
    excess: float


def _distance(now: Counts, before: Counts) -> _Distance:
    """Return the chi-squared statistic of two histograms, and the share that moved beyond chance."""
    events, events_before = sum(now.values()), sum(before.values())
    if not events or not events_before:
        return _Distance(0.0, 1, 0.0)
    share = events / (events + events_before)
    pairs: list[tuple[int, int]] = []
    rare = [0, 0]
    for code in now.keys() | before.keys():
        pair = now.get(code, 0), before.get(code, 0)
        if min(share, 1 - share) * sum(pair) < _MIN_EXPECTED:
            rare = [rare[0] + pair[0], rare[1] + pair[1]]
        else:
            pairs.append(pair)
    if sum(rare):
        pairs.append((rare[0], rare[1]))
    statistic, moved, chance = 0.0, 0.0, 0.0
    for one, other in pairs:
        total = one + other
        expected, expected_before = share * total, (1 - share) * total
        statistic += (one - expected) ** 2 / expected + (other - expected_before) ** 2 / expected_before
        moved += abs(one / events - other / events_before)
        pooled = total / (events + events_before)
        chance += math.sqrt(2 / math.pi * pooled * (1 - pooled) * (1 / events + 1 / events_before))
    return _Distance(statistic, max(len(pairs) - 1, 1), max(0.0, (moved - chance) / 2))


def moved_share(now: Counts, before: Counts) -> float:
    """Return the share that is in another bin."""
    events, events_before = max(sum(now.values()), 1), max(sum(before.values()), 1)
    codes = now.keys() | before.keys()
    return sum(abs(now.get(code, 0) / events - before.get(code, 0) / events_before) for code in codes) / 2


@dataclass(frozen=True, slots=True)
class Shift:
    """A move of all bins by the same number, and the share that it does not explain."""

    bins: int
    left: float

    def explains(self, now: Counts, before: Counts) -> bool:
        """Return whether the shift explains most of a difference."""
        return bool(self.bins) and self.left <= (1 - _MIN_SHIFT_EXPLAINS) * moved_share(now, before)


def best_shift(now: Counts, before: Counts, move: Callable[[int, int], int | None], shifts: Sequence[int]) -> Shift:
    """Return the shift that explains a difference best; `move` gives the bin that another one becomes, if any."""
    found = Shift(0, moved_share(now, before))
    for bins in shifts:
        moved: dict[int, int] = {}
        for code, count in before.items():
            to = move(code, bins)
            if to is not None:
                moved[to] = moved.get(to, 0) + count
        left = moved_share(now, moved)
        if left < found.left:
            found = Shift(bins, left)
    return found


def share_of(counts: Counts, code: int) -> float:
    """Return the share of a bin."""
    return counts.get(code, 0) / max(sum(counts.values()), 1)
