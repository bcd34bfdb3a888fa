"""The consumers that a version affects: of the line it follows, and behind the lines that are derived from it."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.consumers.dependencies import Dependency, MadeFrom, Reads
from treaty.consumers.impact import Effect, Impact, IndirectHit, follow
from treaty.contracts.versions import Line
from treaty.registry.service.judgement import Judgement
from treaty.registry.store import Connection, lineage, subscriptions
from treaty.registry.store.subscriptions import Subscribed


@dataclass(frozen=True)
class AffectedConsumer:
    """A consumer and the impact of a version on it."""

    subscribed: Subscribed
    impact: Impact
    path: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the consumer."""
        return self.subscribed.subscription.consumer

    @property
    def via(self) -> Line | None:
        """The line it reads, if the change reaches it through that line."""
        return self.subscribed.subscription.line if len(self.path) > 2 else None

    @property
    def is_affected(self) -> bool:
        """Whether the version affects it, or may affect it."""
        return self.impact.effect is not Effect.SAFE

    @property
    def must_acknowledge(self) -> bool:
        """Whether the version needs its acknowledgement."""
        return self.is_affected and self.subscribed.subscription.is_awaited

    @property
    def is_unconfirmed(self) -> bool:
        """Whether the version would need its acknowledgement if its team had confirmed it."""
        subscription = self.subscribed.subscription
        return self.is_affected and subscription.consumer_class.is_critical and not subscription.is_confirmed

    @property
    def parties(self) -> set[str]:
        """The consumer and its team."""
        return {self.name} | ({self.subscribed.team} if self.subscribed.team else set())


@dataclass(frozen=True)
class Affected:
    """The consumers of a line, affected or not, those behind other lines that are hit, and the affected lines."""

    consumers: tuple[AffectedConsumer, ...] = ()
    lines: tuple[Line, ...] = ()

    @property
    def count(self) -> int:
        """The number of affected consumers."""
        return sum(consumer.is_affected for consumer in self.consumers)


def find_affected(connection: Connection, judgement: Judgement) -> Affected:
    """Return what a version affects; nothing for the first version of a contract."""
    if judgement.before is None:
        return Affected()
    line = judgement.before.line
    rows: dict[tuple[str, Line], Subscribed] = {}

    def dependents_of(line: Line) -> list[Dependency]:
        subscribed = subscriptions.subscribers(connection, line)
        rows.update({(row.subscription.consumer, line): row for row in subscribed})
        return [*(Reads(row.subscription) for row in subscribed), *lineage.made_from(connection, line)]

    spread = follow(judgement.verdict, line, dependents_of)
    direct = [
        AffectedConsumer(rows[impact.subscription.consumer, line], impact, (str(line), impact.subscription.consumer))
        for impact in spread.consumers
    ]
    behind = [
        AffectedConsumer(rows[hit.dependency.subscription.consumer, hit.dependency.subscription.line], *_impact(hit))
        for hit in spread.hits
        if isinstance(hit.dependency, Reads)
    ]
    lines = [impact.made_from.line for impact in spread.lines if impact.effect is not Effect.SAFE]
    lines += [hit.dependency.line for hit in spread.hits if isinstance(hit.dependency, MadeFrom)]
    known = {consumer.name for consumer in direct if consumer.is_affected}
    behind = [consumer for consumer in behind if consumer.name not in known]
    return Affected((*direct, *behind), tuple(dict.fromkeys(lines)))


def _impact(hit: IndirectHit) -> tuple[Impact, tuple[str, ...]]:
    assert isinstance(hit.dependency, Reads)  # noqa: S101 - only consumers are asked for
    return Impact(hit.dependency.subscription, Effect.HIT, hit.changes), tuple(map(str, hit.path))
