"""The impact of a change: consumers and lines that are affected, by field and over several hops."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from treaty.compatibility import Breaks, Judged, Verdict
from treaty.consumers.dependencies import (
    Consumer,
    Dependency,
    MadeFrom,
    Node,
    Reach,
    Reads,
    dependent,
    node_sort_key,
)
from treaty.consumers.subscriptions import Subscription
from treaty.contracts.blocks import Deprecation
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


WARNED = "warned"
"""The effect on consumers that no change breaks while the line they read comes to its end."""


def announced_end(verdict: Verdict, today: date) -> str | None:
    """Return how the new version announces the end of its line, if it deprecates it; None otherwise."""
    contract = verdict.after
    notice = contract.treaty.deprecation or Deprecation()
    is_ending = contract.status in ("deprecated", "sunset")
    if not is_ending and notice.announced is None and notice.sunset_date is None:
        return None
    is_later = notice.announced is not None and notice.announced > today.isoformat()
    start = f"will be deprecated on {notice.announced}" if is_later else "is deprecated"
    text = f"{contract.line or contract.id} {start}"
    text += f"; sunset on {notice.sunset_date}" if notice.sunset_date else ""
    text += f". Migrate to: {notice.replacement}" if notice.replacement else ""
    return text + (f". See {notice.migration_guide}" if notice.migration_guide else "")


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
        self.by_path: defaultdict[FieldPath, set[int]] = defaultdict(set)
        for i, path in self._paths.items():
            self.by_path[path].add(i)

    def effect_on(
        self, fields: tuple[FieldPath, ...], consumer: str | None = None
    ) -> tuple[Effect, tuple[Judged, ...]]:
        """Return the effect on a reader of some fields, and the changes that cause it; never safe without fields.

        A change of an effective view hits only the consumers that it names.
        """
        effect, changes = self._effect_on(fields)
        concerned = tuple(one for one in changes if not one.change.consumers or consumer in one.change.consumers)
        if any(one.change.consumers for one in concerned):
            return Effect.HIT, concerned
        return (effect if concerned else Effect.SAFE), concerned

    def _effect_on(self, fields: tuple[FieldPath, ...]) -> tuple[Effect, tuple[Judged, ...]]:
        if not self.all:
            return Effect.SAFE, ()
        if not fields:
            for_everyone = tuple(self.all[i] for i in self._for_everyone)
            return (Effect.HIT, for_everyone) if for_everyone else (Effect.UNKNOWN, self.all)
        positions = set(self._for_everyone)
        for path in fields:
            hits = self._found.get(path)
            positions.update(self._hitting(path) if hits is None else hits)
        return (Effect.HIT if positions else Effect.SAFE), tuple(self.all[i] for i in sorted(positions))

    def _hitting(self, field: FieldPath) -> tuple[int, ...]:
        """Return the changes of a field, of its parents and of its children."""
        near = list(self._within.get(field.steps, ()))
        for length in range(len(field.steps)):
            near += self._at.get(field.steps[:length], ())
        hits = tuple(i for i in near if field.touches(self._paths[i]))
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
    impacts = [
        Impact(subscription, *changes.effect_on(subscription.fields, subscription.consumer))
        for subscription in subscriptions
    ]
    return tuple(sorted(impacts, key=lambda impact: (URGENCY[impact.effect], impact.subscription.consumer)))


@dataclass(frozen=True)
class LineImpact:
    """The effect of a change on a line derived from the changed one, and the changes that cause it."""

    made_from: MadeFrom
    effect: Effect
    changes: tuple[Judged, ...] = ()


@dataclass(frozen=True)
class IndirectHit:
    """A consumer or line that reads a field computed from a changed one, over two hops or more."""

    dependency: Reads | MadeFrom
    fields: tuple[FieldPath, ...]
    """The fields of the line before it that carry the change."""
    changes: tuple[Judged, ...]
    path: tuple[Node, ...]

    @property
    def node(self) -> Node:
        """The consumer or line."""
        return dependent(self.dependency)


@dataclass(frozen=True)
class Exposure:
    """The consumers and lines that a change reaches: directly by field, and indirectly through affected nodes.

    A node that is safe by its own fields is still exposed if another path leads to it.
    """

    line: Line
    consumers: tuple[Impact, ...]
    lines: tuple[LineImpact, ...]
    reach: Reach  # at distance 1 the affected nodes, beyond that the nodes that depend on them
    hits: tuple[IndirectHit, ...] = ()
    """The nodes beyond distance 1 that are affected by field; of the others it is not known."""
    subscriptions: Mapping[Node, Subscription] = field(default_factory=dict)
    """The subscriptions through which consumers beyond distance 1 are reached."""

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
    spread = follow(verdict, line, graph.dependents_of)
    reach = graph.spread_from(line, spread.reached, spread.passing)
    exposure = Exposure(line, spread.consumers, spread.lines, reach, spread.hits)
    return replace(exposure, subscriptions=graph.subscriptions_on(reach, exposure.exposed))


@dataclass(frozen=True)
class Spread:
    """How far a change can be followed by field: what it hits, and where it spreads without known fields."""

    consumers: tuple[Impact, ...]
    lines: tuple[LineImpact, ...]
    hits: tuple[IndirectHit, ...]
    reached: Mapping[Node, tuple[int, Node]]
    """The distance of each reached node, and the node before it."""
    passing: Mapping[Node, tuple[int, Node]]
    """The same for nodes of which it is not known which fields are affected: all that depends on them is exposed."""


def follow(verdict: Verdict, line: Line, dependents_of: Callable[[Line], Iterable[Dependency]]) -> Spread:
    """Follow a change from line to line, as long as the lineage states which field is computed from which."""
    return _Trail(verdict, line, dependents_of).spread()


_Carried: TypeAlias = dict[FieldPath, set[int]]  # the fields of a line that carry changes, by their positions


class _Trail:
    """The search of `follow`, one layer of lines after the other."""

    def __init__(self, verdict: Verdict, line: Line, dependents_of: Callable[[Line], Iterable[Dependency]]) -> None:
        self._changes = BreakingChanges(verdict)
        self._line = line
        self._dependents = dependents_of
        self._reached: dict[Node, tuple[int, Node]] = {}
        self._passing: dict[Node, tuple[int, Node]] = {}
        self._carried: dict[Line, _Carried] = {}
        self._cause: dict[tuple[Line, FieldPath], tuple[Line, FieldPath] | None] = {}
        self._hits: dict[Node, IndirectHit] = {}

    def spread(self) -> Spread:
        """Run the search."""
        dependents = [edge for edge in self._dependents(self._line) if dependent(edge) != self._line]
        consumers = [
            Impact(
                edge.subscription,
                *self._changes.effect_on(edge.subscription.fields, edge.subscription.consumer),
            )
            for edge in dependents
            if isinstance(edge, Reads)
        ]
        lines = [
            LineImpact(edge, *self._changes.effect_on(edge.used_fields))
            for edge in dependents
            if isinstance(edge, MadeFrom)
        ]
        consumers.sort(key=lambda impact: (URGENCY[impact.effect], impact.subscription.consumer))
        lines.sort(key=lambda impact: (URGENCY[impact.effect], impact.made_from.line, _texts(impact.made_from.fields)))
        layer = self._first_layer(consumers, lines)
        distance = 1
        while layer:
            distance += 1
            layer = self._next_layer(layer, distance)
        return Spread(tuple(consumers), tuple(lines), tuple(self._hits.values()), self._reached, self._passing)

    def _first_layer(self, consumers: Iterable[Impact], lines: Iterable[LineImpact]) -> dict[Line, _Carried]:
        for consumer in consumers:
            if consumer.effect is not Effect.SAFE:
                self._pass(Consumer(consumer.subscription.consumer), 1, self._line)
        layer: dict[Line, _Carried] = {}
        for impact in lines:
            if impact.effect is Effect.SAFE:
                continue
            line = impact.made_from.line
            if impact.effect is Effect.UNKNOWN or any(change.change.field is None for change in impact.changes):
                self._pass(line, 1, self._line)
            for path, positions in self._changes.by_path.items():
                self._pass_on(impact.made_from, path, positions, 1, layer)
        return layer

    def _next_layer(self, layer: Mapping[Line, _Carried], distance: int) -> dict[Line, _Carried]:
        following: dict[Line, _Carried] = {}
        for line in sorted(layer):
            dependents = sorted(self._dependents(line), key=lambda edge: node_sort_key(dependent(edge)))
            for edge in dependents:
                if dependent(edge) == self._line:
                    continue
                if isinstance(edge, Reads):
                    self._read(edge, line, layer[line], distance)
                elif isinstance(edge, MadeFrom):
                    for path, positions in layer[line].items():
                        if self._pass_on(edge, path, positions, distance, following):
                            self._hit(edge, line, {path: positions})
        return following

    def _read(self, edge: Reads, line: Line, carried: _Carried, distance: int) -> None:
        fields = edge.subscription.fields
        hit = {path: carried[path] for path in carried if any(field.touches(path) for field in fields)}
        if hit:
            self._hit(edge, line, hit)
        if hit or not fields:
            self._pass(Consumer(edge.subscription.consumer), distance, line)

    def _pass_on(
        self, edge: MadeFrom, path: FieldPath, positions: set[int], distance: int, layer: dict[Line, _Carried]
    ) -> bool:
        """Carry the changes of a field on to the fields computed from it; return whether they are known."""
        targets, others = edge.targets_of(path)
        if others:
            self._pass(edge.line, distance, edge.upstream)
        elif targets:
            self._reached.setdefault(edge.line, (distance, edge.upstream))
        for target in targets:
            known = self._carried.setdefault(edge.line, {}).setdefault(target, set())
            if not positions <= known:
                known |= positions
                layer.setdefault(edge.line, {}).setdefault(target, set()).update(positions)
            source = None if edge.upstream == self._line else (edge.upstream, path)
            self._cause.setdefault((edge.line, target), source)
        return bool(targets)

    def _hit(self, edge: Reads | MadeFrom, line: Line, carried: _Carried) -> None:
        node = dependent(edge)
        if self._is_direct(node):
            return
        known = self._hits.get(node)
        positions = sorted(set().union(*carried.values()))
        changes = tuple(self._changes.all[position] for position in positions)
        if known is None:
            path = (*self._path((line, next(iter(carried)))), node)
            self._hits[node] = IndirectHit(edge, tuple(carried), changes, path)
            return
        fields = known.fields if known.path[-2] != line else tuple(dict.fromkeys((*known.fields, *carried)))
        self._hits[node] = replace(known, fields=fields, changes=tuple(dict.fromkeys((*known.changes, *changes))))

    def _is_direct(self, node: Node) -> bool:
        return 1 in (self._reached.get(node, (0,))[0], self._passing.get(node, (0,))[0])

    def _path(self, state: tuple[Line, FieldPath]) -> tuple[Node, ...]:
        backwards: list[Node] = []
        step: tuple[Line, FieldPath] | None = state
        while step is not None:
            backwards.append(step[0])
            step = self._cause[step]
        return (self._line, *reversed(backwards))

    def _pass(self, node: Node, distance: int, via: Node) -> None:
        self._passing.setdefault(node, (distance, via))


def _texts(fields: Iterable[FieldPath]) -> list[str]:
    return [str(field) for field in fields]
