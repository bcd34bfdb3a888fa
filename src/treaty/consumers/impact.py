"""Whom does this change hit, by field?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from treaty.compatibility import Breaks, Judged, Verdict
from treaty.consumers.subscriptions import Subscription
from treaty.contracts.paths import FieldPath, Step, parse_path
from treaty.contracts.versions import Bump


class Effect(StrEnum):
    """What a change means for one consumer."""

    HIT = "hit"
    UNKNOWN = "unknown"
    SAFE = "safe"


URGENCY = {effect: place for place, effect in enumerate(Effect)}


@dataclass(frozen=True)
class Impact:
    """What a change means for one subscription, and which changes do it."""

    subscription: Subscription
    effect: Effect
    changes: tuple[Judged, ...] = ()


class BreakingChanges:
    """The changes that ask consumers to act, found by the fields somebody reads; each path is read once."""

    def __init__(self, verdict: Verdict) -> None:
        self.all = breaking(verdict)
        self._for_everyone = tuple(i for i, item in enumerate(self.all) if item.change.field is None)
        self._paths = {
            i: parse_path(item.change.field) for i, item in enumerate(self.all) if item.change.field is not None
        }
        self._at: defaultdict[tuple[Step, ...], list[int]] = defaultdict(list)
        self._within: defaultdict[tuple[Step, ...], list[int]] = defaultdict(list)
        for i, path in self._paths.items():
            self._at[path.steps].append(i)
            for length in range(len(path.steps) + 1):
                self._within[path.steps[:length]].append(i)
        self._found: dict[FieldPath, tuple[int, ...]] = {}  # many consumers read the same fields

    def effect_on(self, fields: tuple[FieldPath, ...]) -> tuple[Effect, tuple[Judged, ...]]:
        """Say what the changes mean for who reads these fields, and which do it; without fields it is never safe."""
        if not self.all:
            return Effect.SAFE, ()
        if not fields:
            for_everyone = tuple(self.all[i] for i in self._for_everyone)
            return (Effect.HIT, for_everyone) if for_everyone else (Effect.UNKNOWN, self.all)
        found = set(self._for_everyone)
        for field in fields:
            hits = self._found.get(field)
            found.update(self._hitting(field) if hits is None else hits)
        return (Effect.HIT if found else Effect.SAFE), tuple(self.all[i] for i in sorted(found))

    def _hitting(self, field: FieldPath) -> tuple[int, ...]:
        """Find the changes of this field, of what it stands in, and of what stands in it."""
        near = list(self._within.get(field.steps, ()))
        for length in range(len(field.steps)):
            near += self._at.get(field.steps[:length], ())
        hits = tuple(i for i in near if self._paths[i].covers(field) or field.covers(self._paths[i]))
        self._found[field] = hits
        return hits


def breaking(verdict: Verdict) -> tuple[Judged, ...]:
    """Return the changes that ask consumers to act."""
    return tuple(
        item for item in verdict.judged if item.grade.bump is Bump.MAJOR or Breaks.EXISTING_READERS in item.breaks
    )


def impact(verdict: Verdict, subscriptions: Iterable[Subscription]) -> tuple[Impact, ...]:
    """Say for each subscription whether the change hits it; one that never said what it reads is never safe."""
    changes = BreakingChanges(verdict)
    found = [Impact(subscription, *changes.effect_on(subscription.fields)) for subscription in subscriptions]
    return tuple(sorted(found, key=lambda one: (URGENCY[one.effect], one.subscription.consumer)))
