"""Random graphs of lines and consumers, and a simple search that the graph is compared with."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from treaty.consumers.dependencies import Consumer, FieldMapping, MadeFrom, Node
from treaty.consumers.graph import DependencyGraph
from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.paths import parse_path
from treaty.contracts.versions import Line

FIELDS = ("order_id", "ltv", "address", "address.city", "address.zip")
LINES = (Line("orders", 1), Line("orders", 2), Line("scores", 1), Line("stock", 1), Line("prices", 10))
CONSUMERS = ("dashboard", "ml", "scores", "stock")  # the last two are contracts themselves


@dataclass(frozen=True)
class Put:
    """A subscription that is put."""

    subscription: Subscription


@dataclass(frozen=True)
class Drop:
    """A subscription that is dropped."""

    consumer: str
    line: Line


@dataclass(frozen=True)
class Make:
    """New upstreams of a line."""

    line: Line
    upstreams: tuple[MadeFrom, ...]


Edit = Put | Drop | Make


def reads(consumer: str, line: Line, *fields: str) -> Subscription:
    """Write a subscription short."""
    return Subscription(consumer, line, ConsumerClass.OPERATIONAL_REPORTING, parse_fields(fields))


def made(line: Line, upstream: Line, *fields: str) -> MadeFrom:
    """Write a lineage short."""
    return MadeFrom(line, upstream, parse_fields(fields))


def mapped(line: Line, upstream: Line, *filters: str, **mappings: str) -> MadeFrom:
    """Write a lineage with mappings short: `score="ltv order_id"`."""
    columns = tuple(FieldMapping(parse_path(name), parse_fields(sources.split())) for name, sources in mappings.items())
    return MadeFrom(line, upstream, parse_fields(filters), columns)


def graph(*said: Subscription | MadeFrom) -> DependencyGraph:
    """Build a graph from what is said."""
    built = DependencyGraph()
    lineage: dict[Line, list[MadeFrom]] = {}
    for one in said:
        if isinstance(one, MadeFrom):
            lineage.setdefault(one.line, []).append(one)
    for line, upstreams in lineage.items():
        built.put_upstreams(line, upstreams)
    for one in said:
        if isinstance(one, Subscription):
            built.put_subscription(one)
    return built


def edited(edits: list[Edit]) -> DependencyGraph:
    """Make the edits one after the other."""
    built = DependencyGraph()
    for edit in edits:
        match edit:
            case Put(subscription):
                built.put_subscription(subscription)
            case Drop(consumer, line):
                built.drop_subscription(consumer, line)
            case Make(line, upstreams):
                built.put_upstreams(line, upstreams)
    return built


def what_remains(edits: list[Edit]) -> list[Edit]:
    """Return the edits that make the same world from nothing, the other way round."""
    subscriptions: dict[tuple[str, Line], Put] = {}
    lineage: dict[Line, Make] = {}
    for edit in edits:
        match edit:
            case Put(subscription):
                subscriptions[subscription.consumer, subscription.line] = edit
            case Drop(consumer, line):
                subscriptions.pop((consumer, line), None)
            case Make(line, _):
                lineage[line] = edit
    return [*reversed(lineage.values()), *reversed(subscriptions.values())]


def rests_on(edits: list[Edit]) -> dict[Node, set[Node]]:
    """Say plainly which node rests on which."""
    found: dict[Node, set[Node]] = {}
    for edit in what_remains(edits):
        if isinstance(edit, Put):
            found.setdefault(Consumer(edit.subscription.consumer), set()).add(edit.subscription.line)
            found.setdefault(edit.subscription.line, set())
        elif isinstance(edit, Make):
            found.setdefault(edit.line, set()).update(one.upstream for one in edit.upstreams)
            for one in edit.upstreams:
                found.setdefault(one.upstream, set())
    for node in found:
        if isinstance(node, Line) and Consumer(node.contract) in found:
            found[node].add(Consumer(node.contract))
    return found


def turned(arrows: dict[Node, set[Node]]) -> dict[Node, set[Node]]:
    """Turn every arrow round."""
    return {node: {other for other, targets in arrows.items() if node in targets} for node in arrows}


def distances(arrows: dict[Node, set[Node]], origin: Node) -> dict[Node, int]:
    """Walk from a node along the arrows, one step at a time."""
    found = {origin: 0}
    waiting = [origin]
    while waiting:
        here = waiting.pop(0)
        for there in arrows[here]:
            if there not in found:
                found[there] = found[here] + 1
                waiting.append(there)
    del found[origin]
    return found


_fields = st.sets(st.sampled_from(FIELDS), max_size=2)
_lines = st.sampled_from(LINES)
_consumers = st.sampled_from(CONSUMERS)


@st.composite
def _makes(draw: st.DrawFn) -> Make:
    line = draw(_lines)
    upstreams = draw(st.lists(st.tuples(_lines, _fields), max_size=3))
    return Make(line, tuple(made(line, upstream, *fields) for upstream, fields in upstreams))


def worlds() -> st.SearchStrategy[list[Edit]]:
    """Generate worlds, as the edits that make them: with cycles, parties and things said again."""
    puts = st.builds(lambda name, line, fields: Put(reads(name, line, *fields)), _consumers, _lines, _fields)
    return st.lists(st.one_of(puts, puts, _makes(), _makes(), st.builds(Drop, _consumers, _lines)), max_size=14)
