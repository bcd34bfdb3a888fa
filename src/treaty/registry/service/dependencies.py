"""The dependency graph, updated incrementally, and the impact of a candidate.

A consumer depends on the lines that it subscribed to, and on those that it was seen reading.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice
from typing import Literal, TypeVar

from treaty.compatibility import Judged, Verdict
from treaty.consumers.dependencies import Consumer, MadeFrom, Node, Reach, Reached, Reads
from treaty.consumers.graph import DependencyGraph
from treaty.consumers.impact import (
    WARNED,
    Effect,
    Exposure,
    Impact,
    IndirectHit,
    LineImpact,
    announced_end,
    compute_exposure,
)
from treaty.consumers.subscriptions import Subscription
from treaty.contracts.versions import Line, parse_line, try_parse_line
from treaty.errors import InvalidDocument, NotFound
from treaty.registry.model import AffectedAnswer, GraphAnswer, ImpactAnswer, NodeAnswer
from treaty.registry.rules import RegistryRules
from treaty.registry.service.judgement import Judgement
from treaty.registry.service.observed_usage import (
    as_subscription,
    first_moment,
    usage_of,
    with_observed_fields,
)
from treaty.registry.store import Connection, audit_log, lineage, observed_usage, subscriptions, versions
from treaty.registry.store.lifecycle_status import day_of
from treaty.registry.store.observed_usage import ObservedReads, Reader
from treaty.registry.store.visibility import EVERYTHING_VISIBLE, Visibility

T = TypeVar("T")

_MAX_NODES = 1_000


class Dependencies:
    """The dependency graph of one registry; each query first applies the changes since the last one."""

    def __init__(self, window: timedelta = RegistryRules.usage_window) -> None:
        self.window = window
        self._graph = DependencyGraph()
        self._revision = 0
        self._day: date | None = None
        self._declared: dict[Reader, Subscription] = {}
        self._observed: dict[Reader, ObservedReads] = {}
        self._lock = threading.Lock()

    def ask(self, connection: Connection, visibility: Visibility, question: Callable[[DependencyGraph], T]) -> T:
        """Run a query on the graph under its lock, without the contracts that the actor may not see."""
        with self._lock:
            self._catch_up(connection)
            return question(self._graph.without(visibility.hidden))

    def reach(
        self, connection: Connection, visibility: Visibility, node: Node, direction: str, depth: int | None
    ) -> Reach:
        """Return what a node depends on, or what depends on it."""

        def find(graph: DependencyGraph) -> Reach:
            if node not in graph:
                return Reach(node)
            return graph.upstream_of(node, depth) if direction == "upstream" else graph.downstream_of(node, depth)

        return self.ask(connection, visibility, find)

    def exposure(self, connection: Connection, visibility: Visibility, verdict: Verdict, line: Line) -> Exposure:
        """Return the consumers and lines that a change of a line reaches."""

        def find(graph: DependencyGraph) -> Exposure:
            return compute_exposure(verdict, graph, line) if line in graph else Exposure(line, (), (), Reach(line))

        return self.ask(connection, visibility, find)

    def _catch_up(self, connection: Connection) -> None:
        newest, day = audit_log.newest_number(connection), day_of(connection)
        if newest == self._revision and day == self._day:
            return
        rows = lineage.rows_between(connection, self._revision, newest)
        changed: set[Reader] = set()
        for subscriber in subscriptions.rows_between(connection, self._revision, newest):
            reader = subscriber.subscription.consumer, subscriber.subscription.line
            changed.add(reader)
            if subscriber.active:
                self._declared[reader] = subscriber.subscription
            else:
                self._declared.pop(reader, None)
        if day != self._day or observed_usage.has_changed(connection, self._revision, newest):
            changed |= self._reload_observed(connection, day)
        self._put_readers(changed, day)
        if self._revision == 0:
            self._put_all(rows)
        else:
            for line in dict.fromkeys(Line(row.contract, row.major) for row in rows):
                self._graph.put_upstreams(line, lineage.upstreams_of(connection, line))
        self._revision, self._day = newest, day

    def _reload_observed(self, connection: Connection, day: date) -> set[Reader]:
        """Read who was seen reading what within the window, and return the readers of which that changed."""
        since = first_moment(day, self.window)
        recent = {reads.reader: reads for reads in observed_usage.recent(connection, since)}
        changed = recent.keys() ^ self._observed.keys()
        changed |= {
            reader for reader in recent.keys() & self._observed.keys() if recent[reader] != self._observed[reader]
        }
        self._observed = recent
        return changed

    def _put_readers(self, readers: Iterable[Reader], day: date) -> None:
        since = day - self.window
        for reader in readers:
            declared, reads = self._declared.get(reader), self._observed.get(reader)
            if declared is not None:
                self._graph.put_subscription(with_observed_fields(declared, reads, since))
            elif reads is not None:
                self._graph.put_subscription(as_subscription(reads, since))
            else:
                self._graph.drop_subscription(*reader)

    def _put_all(self, rows: list[lineage.UpstreamRow]) -> None:
        by_line: dict[Line, list[MadeFrom]] = {}
        for row in rows:
            upstreams = by_line.setdefault(Line(row.contract, row.major), [])
            if (made_from := lineage.made_from_row(row)) is not None:
                upstreams.append(made_from)
        for line, upstreams in by_line.items():
            self._graph.put_upstreams(line, upstreams)


def node_named(connection: Connection, visibility: Visibility, name: str) -> Node:
    """Find a node by name: a line, a contract (its highest line), or a consumer."""
    try:
        line = parse_line(name)
    except InvalidDocument:
        line = None
    if line is not None and visibility.sees(line.contract) and versions.versions_in_line(connection, line):
        return line
    highest = versions.highest(connection, name) if visibility.sees(name) else None
    if highest is not None:
        return highest.line
    if subscriptions.subscriptions_of(connection, name, visibility):
        return Consumer(name)
    if observed_usage.page_of_readers(connection, visibility, None, name, None, 1):
        return Consumer(name)
    raise NotFound(f"neither a line nor a consumer is called {name!r}; find one with: treaty search")


def graph_answer(connection: Connection, reach: Reach, direction: str, window: timedelta) -> GraphAnswer:
    """Return the API model of a reach, with who reads what."""
    shown = list(islice(reach, _MAX_NODES))
    readers = {one.node: reader for one in shown if (reader := _reader(one, direction)) is not None}
    usages = usage_of(connection, set(readers.values()), window)
    nodes = []
    for reached in shown:
        usage = usages[readers[reached.node]] if reached.node in readers else None
        nodes.append(
            NodeAnswer(
                name=str(reached.node),
                kind=_kind(reached.node),
                distance=reached.distance,
                path=[str(node) for node in reach.path_to(reached.node)],
                usage=usage.state if usage else None,
                last_read=usage.last_read if usage else None,
            )
        )
    return GraphAnswer(
        node=str(reach.origin),
        direction="upstream" if direction == "upstream" else "downstream",
        nodes=nodes,
        more=max(0, len(reach) - _MAX_NODES),
    )


def _reader(reached: Reached, direction: str) -> Reader | None:
    """Return the consumer and the line that it reads, if that is the last step to a node."""
    near, far = (reached.node, reached.via) if direction == "upstream" else (reached.via, reached.node)
    return (far.name, near) if isinstance(far, Consumer) and isinstance(near, Line) else None


@dataclass(frozen=True)
class SeenExposure:
    """What a candidate reaches as far as an actor may see it, and what it reaches besides."""

    seen: Exposure
    hits: int = 0
    """Consumers and lines that are affected, or may be, and that the actor may not see."""
    hidden: int = 0
    """All that it reaches and the actor may not see, or only by a way that the actor may not see."""


def impact_answer(judgement: Judgement, exposed: SeenExposure) -> ImpactAnswer:
    """Return the API model of the impact of a candidate."""
    contract, verdict, exposure = judgement.candidate.contract, judgement.verdict, exposed.seen
    end = announced_end(verdict, judgement.today)
    return ImpactAnswer(
        contract=contract.id,
        line=str(exposure.line),
        before=judgement.before.version if judgement.before else None,
        after=contract.version,
        compatible=verdict.compatible,
        required_version=verdict.required_version,
        affected=[_warned(one, end) for one in islice(_affected(exposure), _MAX_NODES)],
        more=max(0, _size(exposure) - _MAX_NODES),
        hidden=exposed.hidden,
    )


def _size(exposure: Exposure) -> int:
    return len(exposure.consumers) + len(exposure.lines) + len(exposure.exposed)


def exposure_of(
    connection: Connection, visibility: Visibility, dependencies: Dependencies, judgement: Judgement
) -> SeenExposure:
    """Return what a candidate reaches: the dependents of the line that it follows."""
    line = judgement.before.line if judgement.before else judgement.candidate.line
    seen = dependencies.exposure(connection, visibility, judgement.verdict, line)
    if not visibility.hidden or not visibility.sees(line.contract):
        return SeenExposure(seen)
    everything = dependencies.exposure(connection, EVERYTHING_VISIBLE, judgement.verdict, line)
    return SeenExposure(
        seen, len(affected_answers(everything)) - len(affected_answers(seen)), _size(everything) - _size(seen)
    )


def impact_of(
    connection: Connection, visibility: Visibility, dependencies: Dependencies, judgement: Judgement
) -> ImpactAnswer:
    """Return the impact of a candidate, by field."""
    answer = impact_answer(judgement, exposure_of(connection, visibility, dependencies, judgement))
    return answer.model_copy(update={"affected": with_usage(connection, answer.affected, dependencies.window)})


def with_usage(connection: Connection, affected: Sequence[AffectedAnswer], window: timedelta) -> list[AffectedAnswer]:
    """Return affected consumers with whether they read the line that they depend on, and its fields."""
    readers = {place: (one.name, line) for place, one in enumerate(affected) if (line := _line_read(one)) is not None}
    usages = usage_of(connection, set(readers.values()), window)
    marked = list(affected)
    for place, reader in readers.items():
        usage = usages[reader]
        marked[place] = affected[place].model_copy(
            update={
                "usage": usage.state,
                "last_read": usage.last_read,
                "unread_fields": usage.unread_fields,
                "undeclared_fields": usage.undeclared_fields,
            }
        )
    return marked


def _line_read(affected: AffectedAnswer) -> Line | None:
    is_reader = affected.kind == "consumer" and len(affected.path) > 1
    return try_parse_line(affected.path[-2]) if is_reader else None


def affected_answers(exposure: Exposure) -> list[AffectedAnswer]:
    """Return all consumers and lines that a change affects, or may affect: directly, or through fields of others."""
    consumers = [_consumer(impact) for impact in exposure.consumers if impact.effect is not Effect.SAFE]
    lines = [_line(impact) for impact in exposure.lines if impact.effect is not Effect.SAFE]
    return consumers + lines + [_indirect(hit) for hit in exposure.hits]


def _warned(affected: AffectedAnswer, end: str | None) -> AffectedAnswer:
    """Return what a change means for a consumer that it does not break, if the line comes to its end."""
    if end is None or affected.effect != "safe":
        return affected
    return affected.model_copy(update={"effect": WARNED, "reasons": [end]})


def _affected(exposure: Exposure) -> Iterator[AffectedAnswer]:
    for consumer in exposure.consumers:
        yield _consumer(consumer)
    for line in exposure.lines:
        yield _line(line)
    yield from map(_indirect, exposure.hits)
    hit = {hit.node for hit in exposure.hits}
    for node in exposure.exposed:
        if node not in hit:
            yield _exposed(exposure, node)


def _indirect(hit: IndirectHit) -> AffectedAnswer:
    """Return a consumer or line that is hit through the fields of another line."""
    if isinstance(hit.dependency, Reads):
        answer = _consumer(Impact(hit.dependency.subscription, Effect.HIT, hit.changes))
    else:
        answer = _line(LineImpact(hit.dependency, Effect.HIT, hit.changes))
    return answer.model_copy(update={"path": [str(node) for node in hit.path]})


def _exposed(exposure: Exposure, node: Node) -> AffectedAnswer:
    """Return a node that a change reaches through lines of which the fields are not known."""
    path = [str(step) for step in exposure.path_to(node)]
    subscription = exposure.subscriptions.get(node)
    if subscription is None:
        return AffectedAnswer(name=str(node), kind=_kind(node), effect="exposed", path=path)
    return _consumer(Impact(subscription, Effect.UNKNOWN)).model_copy(update={"effect": "exposed", "path": path})


def _consumer(impact: Impact) -> AffectedAnswer:
    subscription = impact.subscription
    return AffectedAnswer(
        name=subscription.consumer,
        kind="consumer",
        effect=impact.effect.value,
        consumer_class=None if subscription.is_observed else subscription.consumer_class.value,
        usage="unsubscribed" if subscription.is_observed else None,
        contact=subscription.contact,
        critical=subscription.consumer_class.is_critical,
        confirmed=subscription.is_confirmed,
        confirm_by=subscription.confirm_by,
        fields=_fields(impact.changes),
        reasons=_reasons(impact.changes),
        path=[str(subscription.line), subscription.consumer],
    )


def _line(impact: LineImpact) -> AffectedAnswer:
    return AffectedAnswer(
        name=str(impact.made_from.line),
        kind="line",
        effect=impact.effect.value,
        fields=_fields(impact.changes),
        reasons=_reasons(impact.changes),
        path=[str(impact.made_from.upstream), str(impact.made_from.line)],
    )


def _fields(changes: tuple[Judged, ...]) -> list[str]:
    return list(dict.fromkeys(change.change.field for change in changes if change.change.field))


def _reasons(changes: tuple[Judged, ...]) -> list[str]:
    return list(dict.fromkeys(change.message for change in changes))


def _kind(node: Node) -> Literal["line", "consumer"]:
    return "line" if isinstance(node, Line) else "consumer"
