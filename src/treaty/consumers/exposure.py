"""How far does this change reach: who reads what breaks, what is made from it, and who stands behind those?"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treaty.compatibility import Judged, Verdict
from treaty.consumers.dependencies import Consumer, MadeFrom, Node, Reach
from treaty.consumers.impact import URGENCY, BreakingChanges, Effect, Impact, impact
from treaty.consumers.subscriptions import Line

if TYPE_CHECKING:
    from treaty.consumers.graph import DependencyGraph


@dataclass(frozen=True)
class LineImpact:
    """What a change means for a line made from the changed one, and which changes do it."""

    made_from: MadeFrom
    effect: Effect
    changes: tuple[Judged, ...] = ()


@dataclass(frozen=True)
class Exposure:
    """Whom a change of a line reaches: directly by field, and indirectly whoever rests on one that is not safe.

    A consumer or line that is safe by what it takes from the changed line itself is still exposed
    where another way leads to it.
    """

    line: Line
    consumers: tuple[Impact, ...]
    lines: tuple[LineImpact, ...]
    reach: Reach  # one step away those that are not safe, further on those behind them

    @property
    def exposed(self) -> tuple[Node, ...]:
        """Who is reached only through others, the nearest first; `path_to` says how."""
        return self.reach.nodes[bisect_right(self.reach.distances, 1) :]

    @property
    def safe(self) -> tuple[Node, ...]:
        """Who depends on the changed line and is reached in no way."""
        direct: list[Node] = [Consumer(one.subscription.consumer) for one in self.consumers]
        direct += [one.made_from.line for one in self.lines]
        return tuple(node for node in dict.fromkeys(direct) if node not in self.reach)

    def path_to(self, node: Node) -> tuple[Node, ...]:
        """Return one shortest path along which the change reaches a node."""
        return self.reach.path_to(node)


def exposure(verdict: Verdict, graph: DependencyGraph, line: Line) -> Exposure:
    """Say whom a change of a line reaches; behind what is safe the change does not go on."""
    consumers = impact(verdict, graph.readers_of(line))
    lines = _on_lines(verdict, tuple(one for one in graph.made_from(line) if one.line != line))
    struck: set[Node] = {Consumer(one.subscription.consumer) for one in consumers if one.effect is not Effect.SAFE}
    struck |= {one.made_from.line for one in lines if one.effect is not Effect.SAFE}
    return Exposure(line, consumers, lines, graph.downstream_of(line, through=struck))


def _on_lines(verdict: Verdict, made: tuple[MadeFrom, ...]) -> tuple[LineImpact, ...]:
    changes = BreakingChanges(verdict)
    found = [LineImpact(one, *changes.effect_on(one.fields)) for one in made]
    return tuple(sorted(found, key=lambda one: (URGENCY[one.effect], one.made_from.line)))
