"""The impact of a change: consumers and lines that are affected, by field and over several hops."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from treaty.compatibility import Breaks, Judged, Verdict
from treaty.consumers.dependencies import Consumer, MadeFrom, Node, Reach
from treaty.consumers.subscriptions import Subscription
from treaty.contracts.paths import FieldPath, Step, parse_path
from treaty.contracts.versions import Bump, Line

if TYPE_CHECKING:
    from treaty.consumers.graph import DependencyGraph


class Effect(StrEnum):
    """The effect of a change on a consumer."""

    HIT = "hit"
    UNKNOWN = "unknown"
    SAFE = "safe"


URGENCY = {effect: place for place, effect in enumerate(Effect)}


@dataclass(frozen=True)
class Impact:
    """The effect of a change on one subscription, and the changes that cause it."""

    subscription: Subscription
    effect: Effect
    changes: tuple[Judged, ...] = ()


class BreakingChanges:
    """The changes that require consumers to act, indexed by field."""

    def __init__(self, verdict: Verdict) -> None:
        self.all = breaking_changes(verdict)
        self._for_everyone = tuple(i for i, change in enumerate(self.all) if change.change.field is None)
        self._paths = {
            i: parse_path(change.change.field) for i, change in enumerate(self.all) if change.change.field is not None
        }
        self._at: defaultdict[tuple[Step, ...], list[int]] = defaultdict(list)
        self._within: defaultdict[tuple[Step, ...], list[int]] = defaultdict(list)
        for i, path in self._paths.items():
            self._at[path.steps].append(i)
            for length in range(len(path.steps) + 1):
                self._within[path.steps[:length]].append(i)
        self._found: dict[FieldPath, tuple[int, ...]] = {}  # many consumers read the same fields

    def effect_on(self, fields: tuple[FieldPath, ...]) -> tuple[Effect, tuple[Judged, ...]]:
        """Return the effect on a reader of some fields, and the changes that cause it; never safe without fields."""
        if not self.all:
            return Effect.SAFE, ()
        if not fields:
            for_everyone = tuple(self.all[i] for i in self._for_everyone)
            return (Effect.HIT, for_everyone) if for_everyone else (Effect.UNKNOWN, self.all)
        positions = set(self._for_everyone)
        for field in fields:
            hits = self._found.get(field)
            positions.update(self._hitting(field) if hits is None else hits)
        return (Effect.HIT if positions else Effect.SAFE), tuple(self.all[i] for i in sorted(positions))

    def _hitting(self, field: FieldPath) -> tuple[int, ...]:
        """Return the changes of a field, of its parents and of its children."""
        near = list(self._within.get(field.steps, ()))
        for length in range(len(field.steps)):
            near += self._at.get(field.steps[:length], ())
        hits = tuple(i for i in near if self._paths[i].covers(field) or field.covers(self._paths[i]))
        self._found[field] = hits
        return hits


def breaking_changes(verdict: Verdict) -> tuple[Judged, ...]:
    """Return the changes that require consumers to act."""
    return tuple(
        judged
        for judged in verdict.judged
        if judged.grade.bump is Bump.MAJOR or Breaks.EXISTING_READERS in judged.breaks
    )


def compute_impact(verdict: Verdict, subscriptions: Iterable[Subscription]) -> tuple[Impact, ...]:
    """Return the effect of a change on each subscription; one without declared fields is never safe."""
    changes = BreakingChanges(verdict)
    impacts = [Impact(subscription, *changes.effect_on(subscription.fields)) for subscription in subscriptions]
    return tuple(sorted(impacts, key=lambda impact: (URGENCY[impact.effect], impact.subscription.consumer)))


@dataclass(frozen=True)
class LineImpact:
    """The effect of a change on a line derived from the changed one, and the changes that cause it."""

    made_from: MadeFrom
    effect: Effect
    changes: tuple[Judged, ...] = ()


@dataclass(frozen=True)
class Exposure:
    """The consumers and lines that a change reaches: directly by field, and indirectly through affected nodes.

    A node that is safe by its own fields is still exposed if another path leads to it.
    """

    line: Line
    consumers: tuple[Impact, ...]
    lines: tuple[LineImpact, ...]
    reach: Reach  # at distance 1 the affected nodes, beyond that the nodes that depend on them

    @property
    def exposed(self) -> tuple[Node, ...]:
        """Nodes that are reached only through others, the nearest first; `path_to` returns the path."""
        return self.reach.nodes[bisect_right(self.reach.distances, 1) :]

    @property
    def safe(self) -> tuple[Node, ...]:
        """Nodes that depend on the changed line but are not reached."""
        direct: list[Node] = [Consumer(consumer.subscription.consumer) for consumer in self.consumers]
        direct += [line.made_from.line for line in self.lines]
        return tuple(node for node in dict.fromkeys(direct) if node not in self.reach)

    def path_to(self, node: Node) -> tuple[Node, ...]:
        """Return a shortest path along which the change reaches a node."""
        return self.reach.path_to(node)


def compute_exposure(verdict: Verdict, graph: DependencyGraph, line: Line) -> Exposure:
    """Return the nodes that a change of a line reaches; it does not spread beyond safe nodes."""
    consumers = compute_impact(verdict, graph.readers_of(line))
    lines = _on_lines(verdict, tuple(source for source in graph.made_from(line) if source.line != line))
    affected: set[Node] = {
        Consumer(consumer.subscription.consumer) for consumer in consumers if consumer.effect is not Effect.SAFE
    }
    affected |= {one.made_from.line for one in lines if one.effect is not Effect.SAFE}
    return Exposure(line, consumers, lines, graph.downstream_of(line, through=affected))


def _on_lines(verdict: Verdict, made: tuple[MadeFrom, ...]) -> tuple[LineImpact, ...]:
    changes = BreakingChanges(verdict)
    impacts = [LineImpact(source, *changes.effect_on(source.fields)) for source in made]
    return tuple(sorted(impacts, key=lambda impact: (URGENCY[impact.effect], impact.made_from.line)))
