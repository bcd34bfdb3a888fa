"""Whom does this change hit, by field?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from treaty.compatibility import Breaks, Judged, Verdict
from treaty.consumers.subscriptions import Subscription
from treaty.contracts.paths import parse_path
from treaty.contracts.versions import Bump


class Effect(StrEnum):
    """What a change means for one consumer."""

    HIT = "hit"
    UNKNOWN = "unknown"
    SAFE = "safe"


@dataclass(frozen=True)
class Impact:
    """What a change means for one subscription, and which changes do it."""

    subscription: Subscription
    effect: Effect
    changes: tuple[Judged, ...] = ()


def breaking(verdict: Verdict) -> tuple[Judged, ...]:
    """Return the changes that ask consumers to act."""
    return tuple(
        item for item in verdict.judged if item.grade.bump is Bump.MAJOR or Breaks.EXISTING_READERS in item.breaks
    )


def impact(verdict: Verdict, subscriptions: Iterable[Subscription]) -> tuple[Impact, ...]:
    """Say for each subscription whether the change hits it; one that never said what it reads is never safe."""
    asking = breaking(verdict)
    found = [_on(subscription, asking) for subscription in subscriptions]
    return tuple(sorted(found, key=lambda one: (list(Effect).index(one.effect), one.subscription.consumer)))


def _on(subscription: Subscription, asking: tuple[Judged, ...]) -> Impact:
    if not asking:
        return Impact(subscription, Effect.SAFE)
    for_all = tuple(item for item in asking if item.change.field is None)
    if not subscription.fields_known:
        return Impact(subscription, Effect.HIT if for_all else Effect.UNKNOWN, for_all or asking)
    hits = tuple(item for item in asking if item.change.field is None or _reads(subscription, item.change.field))
    return Impact(subscription, Effect.HIT if hits else Effect.SAFE, hits)


def _reads(subscription: Subscription, changed: str) -> bool:
    """Tell whether a changed field is one that is read, is inside one, or has one inside it."""
    path = parse_path(changed)
    return any(path.covers(field) or field.covers(path) for field in subscription.fields)
