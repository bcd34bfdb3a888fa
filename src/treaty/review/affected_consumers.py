"""Consumers and contracts that a change affects, as declared in the repository, and what they have to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property

from treaty.compatibility import Judged, Verdict
from treaty.compatibility.migration import MigrationPath, migration_path
from treaty.consumers.dependencies import Dependency, MadeFrom, Reads, parse_lineage
from treaty.consumers.impact import (
    WARNED,
    BreakingChanges,
    Effect,
    IndirectHit,
    announced_end,
    breaking_changes,
    follow,
)
from treaty.consumers.migration_guides import build_guides, line_of
from treaty.consumers.property_lineage import upstreams_of
from treaty.consumers.subscription_files import DeclaredSubscription
from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.blocks import Upstream
from treaty.contracts.model import Contract
from treaty.contracts.paths import FieldPath
from treaty.contracts.versions import Line
from treaty.errors import TreatyError
from treaty.review.branch import Document
from treaty.review.report import Affected, Step

_URGENCY = ("hit", "unknown", "warned", "exposed", "safe")


def affected_by(
    verdict: Verdict,
    before: Contract,
    declared: Iterable[DeclaredSubscription],
    documents: Iterable[Document],
    today: date,
) -> tuple[Affected, ...]:
    """Return the effect of a change on each subscriber and each contract derived from the changed one."""
    changes, way = BreakingChanges(verdict), ConsumerSteps(verdict)
    consumers = []
    for subscription in _readers(before, declared):
        reader = subscription.subscription
        effect, hits = changes.effect_on(reader.fields, reader.consumer)
        consumers.append(_consumer(subscription, effect, hits, way.steps(hits, subscription.subscription.fields)))
    for document, upstream in _made_from(before, documents):
        fields = _edge(document, upstream, before).used_fields
        effect, hits = changes.effect_on(fields)
        consumers.append(_line(document, effect, hits, way.steps(hits, fields)))
    end = announced_end(verdict, today)
    warned = [_warned(consumer, end) for consumer in consumers]
    return merge_affected([*warned, *_behind_other_lines(verdict, before, declared, documents)])


def _behind_other_lines(
    verdict: Verdict, before: Contract, declared: Iterable[DeclaredSubscription], documents: Iterable[Document]
) -> Iterator[Affected]:
    """Yield the consumers and contracts that read a field computed from a changed one, over two hops or more."""
    subscriptions = {(one.subscription.consumer, one.subscription.line): one for one in declared}
    by_line = {line: document for document in documents if (line := line_of(document.contract)) is not None}
    start = line_of(before)
    if start is None:
        return

    def dependents_of(line: Line) -> list[Dependency]:
        readers = [Reads(one.subscription) for one in subscriptions.values() if one.subscription.line == line]
        source = before if line == start else by_line[line].contract
        return [*readers, *(_edge(document, upstream, source) for document, upstream in _made_from(source, documents))]

    for hit in follow(verdict, start, dependents_of).hits:
        path = tuple(map(str, hit.path))
        if isinstance(hit.dependency, Reads):
            subscription = hit.dependency.subscription
            declaration = subscriptions[subscription.consumer, subscription.line]
            affected = _consumer(declaration, Effect.HIT, hit.changes, _indirect_steps(hit))
        else:
            affected = _line(by_line[hit.dependency.line], Effect.HIT, hit.changes, _indirect_steps(hit))
        yield replace(affected, path=path)


def _indirect_steps(hit: IndirectHit) -> tuple[Step, ...]:
    return tuple(Step(str(field), f"it is computed from what changes: {_texts(hit.changes)}") for field in hit.fields)


def _texts(changes: Iterable[Judged]) -> str:
    return "; ".join(change.message for change in changes)


def _edge(document: Document, upstream: Upstream, source: Contract) -> MadeFrom:
    """Return the lineage of a document; its version and that of its source may not be MAJOR.MINOR.PATCH."""
    line, behind = (line_of(contract) or Line(contract.id, 0) for contract in (document.contract, source))
    return MadeFrom(line, behind, *parse_lineage(upstream.fields, upstream.mappings))


def _warned(consumer: Affected, end: str | None) -> Affected:
    """Return a consumer that no change breaks as one to be warned, if the line comes to its end."""
    is_warned = end is not None and consumer.effect == Effect.SAFE
    return replace(consumer, effect=WARNED, steps=(Step(None, str(end)),)) if is_warned else consumer


def affected_by_removal(
    before: Contract, declared: Iterable[DeclaredSubscription], documents: Iterable[Document]
) -> tuple[Affected, ...]:
    """Return the consumers and contracts that depend on a removed contract."""
    gone = (Step(None, "move to another contract: this one was removed"),)
    consumers = [_consumer(subscription, Effect.HIT, (), gone) for subscription in _readers(before, declared)]
    consumers += [_line(document, Effect.HIT, (), gone) for document, _ in _made_from(before, documents)]
    return merge_affected(consumers)


def with_steps(affected: Iterable[Affected], verdict: Verdict | None) -> Iterator[Affected]:
    """Yield the consumers that a registry reports, with the steps that follow from the changes of the branch."""
    changes, way = (breaking_changes(verdict), ConsumerSteps(verdict)) if verdict else ((), None)
    for consumer in affected:
        hits = [change for change in changes if change.change.field in consumer.fields]
        if way is None or not hits or consumer.effect != Effect.HIT:
            yield consumer
            continue
        known = {hit.message for hit in hits}
        rest = (step for step in consumer.steps if step.action not in known)
        yield replace(consumer, steps=(*way.steps(hits, parse_fields(consumer.fields)), *rest))


def merge_affected(affected: Iterable[Affected]) -> tuple[Affected, ...]:
    """Merge entries of the same consumer or line; the most urgent effect counts."""
    parties: dict[tuple[str, str], Affected] = {}
    for consumer in affected:
        key = consumer.kind, consumer.name
        parties[key] = _joined(parties[key], consumer) if key in parties else consumer
    return tuple(sorted(parties.values(), key=lambda party: (_URGENCY.index(party.effect), party.kind, party.name)))


def _joined(affected: Affected, other: Affected) -> Affected:
    urgent = min(affected.effect, other.effect, key=_URGENCY.index)
    return Affected(
        affected.name,
        affected.kind,
        urgent,
        tuple(dict.fromkeys((*affected.fields, *other.fields))),
        tuple(dict.fromkeys((*affected.steps, *other.steps))),
        affected.consumer_class or other.consumer_class,
        affected.contact or other.contact,
        affected.critical or other.critical,
        ", ".join(dict.fromkeys(part for part in (affected.known_from, other.known_from) if part)),
        affected.path if affected.effect == urgent else other.path,
    )


def _readers(before: Contract, declared: Iterable[DeclaredSubscription]) -> list[DeclaredSubscription]:
    """Return the subscriptions to the line, or to any line if the version is not MAJOR.MINOR.PATCH."""
    return [
        subscription
        for subscription in declared
        if subscription.subscription.line.contract == before.id
        and before.line in (None, str(subscription.subscription.line))
    ]


def _made_from(before: Contract, documents: Iterable[Document]) -> Iterator[tuple[Document, Upstream]]:
    names = (before.id, before.line)
    for document in documents:
        for upstream in upstreams_of(document.contract, lambda name: before if name in names else None):
            if upstream.contract in names and document.contract.id != before.id:
                yield document, upstream


def _consumer(
    declaration: DeclaredSubscription, effect: Effect, hits: Sequence[Judged], steps: tuple[Step, ...]
) -> Affected:
    subscription = declaration.subscription
    return Affected(
        subscription.consumer,
        "consumer",
        effect.value,
        _names(hits),
        steps if effect is Effect.HIT else (),
        subscription.consumer_class.value,
        subscription.contact,
        subscription.consumer_class.is_critical,
        str(declaration.place),
    )


def _line(document: Document, effect: Effect, hits: Sequence[Judged], steps: tuple[Step, ...]) -> Affected:
    name = document.contract.line or document.contract.id
    owner = next((owner.contact or owner.team for owner in document.contract.owners), None)
    required = steps if effect is Effect.HIT else ()
    return Affected(name, "line", effect.value, _names(hits), required, contact=owner, known_from=document.path)


def _names(hits: Sequence[Judged]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(hit.change.field for hit in hits if hit.change.field))


class ConsumerSteps:
    """The steps for consumers of a change; the migration path is computed once, when it is first needed."""

    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict

    def steps(self, hits: Sequence[Judged], fields: tuple[FieldPath, ...]) -> tuple[Step, ...]:
        """Return a step for each affected field: from the migration guide, else the message of the change."""
        if not hits:
            return ()
        guided = dict(self._guided(fields))
        named = {step.field for step in guided.values()}
        rest = [Step(hit.change.field, hit.message) for hit in hits if hit.change.field not in (*guided, *named)]
        return tuple(dict.fromkeys((*guided.values(), *rest)))

    def _guided(self, fields: tuple[FieldPath, ...]) -> Iterator[tuple[str, Step]]:
        path, before = self._path, self._verdict.before
        if path is None or before is None or not fields:
            return
        version = before.semantic_version
        line = Line(before.id, version.major if version else 0)
        subscription = Subscription("consumer", line, ConsumerClass.OPERATIONAL_REPORTING, fields)
        (guide,) = build_guides(path, [subscription], verdict=self._verdict)
        for field in guide.fields:
            yield field.before, Step(field.before, "; ".join(field.todo))

    @cached_property
    def _path(self) -> MigrationPath | None:
        verdict = self._verdict
        try:
            return migration_path(verdict.before, verdict.after) if verdict.before else None
        except TreatyError:  # an invalid plan is reported by another check
            return None
