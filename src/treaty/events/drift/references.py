"""The profiles before that a new one is compared with: of the same weekday and hours if there are enough of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treaty.events.drift.comparison import MIN_EVENTS, MIN_REFERENCES
from treaty.events.drift.profile import Profile

MAX_REFERENCES = 28
_HOUR_RANGE = 1


@dataclass(frozen=True)
class Reference:
    """The profiles that a new one is compared with."""

    profiles: tuple[Profile, ...]
    has_season: bool
    """Whether the days of the profiles are comparable with the day of the new one."""

    @property
    def events(self) -> int:
        """The number of events in the profiles."""
        return sum(one.events for one in self.profiles)


def choose_reference(new: Profile, references: Sequence[Profile]) -> Reference | None:
    """Return the profiles of comparable days; None if there are too few events. The profiles come oldest first."""
    usable = [one for one in references if one.events][-MAX_REFERENCES:]
    if sum(one.events for one in usable) < MIN_EVENTS:
        return None
    same_hours = [one for one in usable if _has_same_hours(new, one)]
    for is_alike in (_is_same_weekday, _is_same_kind_of_day):
        alike = [one for one in same_hours if is_alike(new, one)]
        if len(alike) >= MIN_REFERENCES:
            return Reference(tuple(alike), has_season=True)
    has_season = any(_is_same_kind_of_day(new, one) for one in same_hours)
    return Reference(tuple(same_hours if has_season else usable), has_season)


def _has_same_hours(new: Profile, other: Profile) -> bool:
    if new.covers_day or other.covers_day:
        return new.covers_day and other.covers_day
    apart = abs(new.day.hour - other.day.hour)
    return min(apart, 24 - apart) <= _HOUR_RANGE


def _is_same_weekday(new: Profile, other: Profile) -> bool:
    return new.day.weekday() == other.day.weekday()


def _is_same_kind_of_day(new: Profile, other: Profile) -> bool:
    return new.is_weekend == other.is_weekend
