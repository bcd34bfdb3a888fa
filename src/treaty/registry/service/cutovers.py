"""Legacy feeds, and the cut-over of their consumers to the publications that replace them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from treaty.contracts.findings import Finding, Severity
from treaty.contracts.versions import parse_line
from treaty.errors import Conflict, InvalidDocument, NotFound, Refused
from treaty.legacy.cutover import (
    MAX_CLEAN_RUNS,
    Cutover,
    CutoverState,
    Gate,
    Step,
    StepTaken,
    reasons_against_retiring,
    state_after,
)
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.api import CutoversApi
from treaty.registry.documents import check_name
from treaty.registry.model import CutoverAnswer, DecisionAnswer, LegacyFeedAnswer, Page
from treaty.registry.model.consumer_answers import ReasonAnswer
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.not_found import no_line
from treaty.registry.service.confirmations import shown_consumer
from treaty.registry.service.context import Context
from treaty.registry.service.feed_consumers import FeedConsumer, FeedConsumers, cutover_answer, feed_answer
from treaty.registry.service.retired_feeds import check_retired_feeds
from treaty.registry.store import Connection, versions
from treaty.registry.store import legacy_feeds as store
from treaty.registry.store.legacy_feeds import StoredFeed
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Sight, Visibility

MAX_CONSUMERS = 500
MAX_NAMES = 50
_MAX_TEXT = 2_000
_ACTIONS = {
    Step.ACKNOWLEDGE: Action.SUBSCRIBE,
    Step.APPROVE: Action.ADVANCE,
    Step.CUT_OVER: Action.SUBSCRIBE,
    Step.ROLL_BACK: Action.SUBSCRIBE,
}
_HEADLINES = {
    Step.CUT_OVER: "{consumer} cut over from {feed} to {line}",
    Step.ROLL_BACK: "{consumer} was rolled back from {line} to {feed}",
}
_NOTICES = {Step.CUT_OVER: "cutover.done", Step.ROLL_BACK: "cutover.rolled_back"}


class Cutovers(CutoversApi):
    """The legacy feeds of a registry."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def declare(
        self,
        feed: str,
        line: str,
        owner: str,
        *,
        names: Sequence[str] = (),
        consumers: Sequence[str] = (),
        gate: Gate | None = None,
        produced: str | None = None,
    ) -> LegacyFeedAnswer:
        """Store what a project declares of a legacy feed; steps that consumers took stay."""
        context, named, required = self._context, parse_line(line), gate or Gate()
        _check_declaration(feed, owner, names, consumers, required, produced)

        def write(transaction: Transaction) -> LegacyFeedAnswer:
            connection = transaction.connection
            sight = context.sight(transaction)
            if not sight.sees(named.contract) or not versions.versions_in_line(connection, named):
                raise no_line(named)
            before = store.find_feed(connection, Visibility(), feed)
            for one in {named, before.line if before else named}:
                owners = versions.owners_of(connection, one)
                authorize(context.actor, Action.NOTIFY, Resource("contract", one.contract, owners))
            declared = StoredFeed(
                feed,
                named,
                owner.strip(),
                tuple(dict.fromkeys(names)) or (feed,),
                tuple(dict.fromkeys(consumers)),
                required,
                produced,
                before.declared_at if before else transaction.now,
                before.declared_by if before else context.actor.name,
                before.retired_at if before else None,
                before.retired_by if before else None,
            )
            if declared != before:
                details = {"feed": feed, "consumers": list(declared.consumers), "clean_runs": required.clean_runs}
                transaction.record(
                    context.actor.name, "legacy_feed.declare", str(named), after=details, details=details
                )
                store.put_feed(transaction, declared, is_new=before is None)
                check_retired_feeds(transaction, context.rules, named)
            return feed_answer(FeedConsumers(context, connection, sight), declared)

        return context.write(write)

    def list(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[LegacyFeedAnswer]:
        """List legacy feeds by name, with the state of their consumers."""
        check_limit(limit)
        start = str(after(cursor, "")[0]) if cursor else None

        def find(connection: Connection, visibility: Visibility) -> Page[LegacyFeedAnswer]:
            rows = store.page_of_feeds(connection, visibility, start, limit + 1)
            page = page_of(rows, limit, lambda row: (row.feed,))
            feeds = FeedConsumers(self._context, connection, visibility)
            return Page(items=[feed_answer(feeds, row) for row in page.items], next=page.next)

        return self._context.read(find)

    def get(self, feed: str) -> LegacyFeedAnswer:
        """Return a legacy feed with the state of its consumers."""
        context = self._context
        return context.read(
            lambda connection, visibility: feed_answer(
                FeedConsumers(context, connection, visibility), _find(connection, visibility, feed)
            )
        )

    def acknowledge(self, feed: str, consumer: str, *, note: str | None = None) -> CutoverAnswer:
        """Acknowledge the cut-over on behalf of a consumer."""
        return self._take(feed, consumer, Step.ACKNOWLEDGE, note)

    def approve(self, feed: str, consumer: str, *, note: str | None = None) -> CutoverAnswer:
        """Approve the cut-over as an owner of the consumer's team, which a critical consumer needs."""
        return self._take(feed, consumer, Step.APPROVE, note)

    def cut_over(self, feed: str, consumer: str) -> CutoverAnswer:
        """Move a consumer from the feed to the publication; raise Refused with the reasons if the gate is closed."""
        return self._take(feed, consumer, Step.CUT_OVER, None)

    def roll_back(self, feed: str, consumer: str, *, reason: str) -> CutoverAnswer:
        """Move a consumer back to the feed; earlier runs and acknowledgements no longer count."""
        if not reason.strip():
            raise InvalidDocument("say why the consumer is rolled back")
        return self._take(feed, consumer, Step.ROLL_BACK, reason)

    def retire(self, feed: str) -> LegacyFeedAnswer:
        """Retire a feed that its last consumer has left; raise Refused with the reasons otherwise."""
        context = self._context

        def write(transaction: Transaction) -> LegacyFeedAnswer:
            connection, sight = transaction.connection, context.sight(transaction)
            stored = _find_to_change(connection, sight, feed)
            owners = versions.owners_of(connection, stored.line)
            authorize(context.actor, Action.ADVANCE, Resource("contract", stored.line.contract, owners))
            if stored.retired_at is not None:
                raise Conflict(f"{feed} has been retired since {stored.retired_at:%Y-%m-%d}")
            cutovers = FeedConsumers(context, connection, Visibility()).cutovers(stored)
            if reasons := _reasons_against_retiring(cutovers, sight):
                raise _refused(f"{feed} cannot be retired", reasons)
            for consumer in cutovers:
                taken = StepTaken(Step.RETIRE, transaction.now, context.actor.name)
                details = {"feed": feed, "consumer": consumer, "step": Step.RETIRE.value}
                seq = transaction.record(context.actor.name, "cutover.step", str(stored.line), details=details)
                store.add_step(transaction, seq, feed, consumer, taken)
            retired = {"feed": feed, "consumers": sorted(cutovers)}
            transaction.record(
                context.actor.name, "legacy_feed.retire", str(stored.line), after=retired, details=retired
            )
            store.put_retirement(transaction, feed, context.actor.name)
            transaction.notify(
                "legacy_feed.retired",
                stored.line.contract,
                f"{feed} is retired; {stored.line} replaces it",
                details={"feed": feed},
                parties=owners | {stored.owner},
            )
            check_retired_feeds(transaction, context.rules, stored.line)
            return feed_answer(FeedConsumers(context, connection, sight), _find_to_change(connection, sight, feed))

        return context.write(write)

    def can_i_cut_over(self, consumer: str, *, feed: str | None = None) -> DecisionAnswer:
        """Decide whether a consumer may leave a feed, or every feed that it reads, with every reason."""
        context = self._context

        def decide(connection: Connection, visibility: Visibility) -> DecisionAnswer:
            feeds = FeedConsumers(context, connection, visibility)
            rows = (
                [_find(connection, visibility, feed)]
                if feed is not None
                else store.page_of_feeds(connection, visibility, None, store.MAX_FEEDS)
            )
            found = {row.feed: cutovers[consumer] for row in rows if consumer in (cutovers := feeds.cutovers(row))}
            if not found:
                raise _no_consumer(consumer, feed)
            reasons = [
                ReasonAnswer(kind="gate_closed", message=f"{name}: {reason}")
                for name, one in found.items()
                if not one.cutover.state.has_left
                for reason in one.cutover.reasons
            ]
            reasons += [
                ReasonAnswer(kind="gone", message=f"{consumer} has left {name} already", severity="warning")
                for name, one in found.items()
                if one.cutover.state.has_left
            ]
            return DecisionAnswer(
                question=f"can {consumer} cut over from {', '.join(found)}?",
                answer=not any(reason.severity == "error" for reason in reasons),
                reasons=reasons,
            )

        return context.read(decide, Action.CHECK)

    def _take(self, feed: str, consumer: str, step: Step, reason: str | None) -> CutoverAnswer:
        """Take a step of a consumer, if it is possible in its state."""
        if reason is not None and len(reason) > _MAX_TEXT:
            raise InvalidDocument(f"a note or reason has {_MAX_TEXT:,} characters at most")
        context = self._context

        def write(transaction: Transaction) -> CutoverAnswer:
            connection, sight = transaction.connection, context.sight(transaction)
            stored = _find_to_change(connection, sight, feed)
            feeds = FeedConsumers(context, connection, sight)
            before = feeds.cutovers(stored).get(consumer)
            if before is None:
                raise _no_consumer(consumer, feed)
            teams = frozenset({before.team}) if before.team else frozenset({consumer})
            authorize(context.actor, _ACTIONS[step], Resource("consumer", consumer, teams))
            _check_step(step, feed, consumer, before.cutover)
            taken = StepTaken(step, transaction.now, context.actor.name, reason.strip() if reason else None)
            details = {"feed": feed, "consumer": consumer, "step": step.value, "reason": taken.reason}
            seq = transaction.record(
                context.actor.name, "cutover.step", str(stored.line), after=details, details=details
            )
            store.add_step(transaction, seq, feed, consumer, taken)
            if step in _NOTICES:
                shown = shown_consumer(transaction, consumer)
                headline = _HEADLINES[step].format(consumer=shown, feed=feed, line=stored.line)
                owners = versions.owners_of(connection, stored.line)
                why = {"reason": taken.reason} if taken.reason else {}
                transaction.notify(
                    _NOTICES[step],
                    stored.line.contract,
                    headline,
                    details={"feed": feed, "consumer": shown, **why},
                    parties=owners | teams | {stored.owner, consumer},
                )
            return cutover_answer(stored, consumer, feeds.cutovers(stored)[consumer])

        return context.write(write)


def _reasons_against_retiring(cutovers: Mapping[str, FeedConsumer], sight: Sight) -> tuple[str, ...]:
    """Return why a feed cannot be retired, without the names of consumers that the actor may not see."""
    visible = {name: one.cutover for name, one in cutovers.items() if sight.sees(name)}
    hidden = {name: one.cutover for name, one in cutovers.items() if name not in visible}
    reasons = reasons_against_retiring(visible)
    if against := len(reasons_against_retiring(hidden)):
        noun = "consumer that you may not see blocks" if against == 1 else "consumers that you may not see block"
        reasons = (*reasons, f"{against} {noun} it")
    return reasons


def _check_step(step: Step, feed: str, consumer: str, before: Cutover) -> None:
    if state_after(before.state, step) is not None:
        return
    if step is Step.CUT_OVER and before.state in (CutoverState.LEGACY, CutoverState.PARALLEL):
        raise _refused(f"{consumer} cannot cut over from {feed}", before.reasons)
    words = {"roll_back": "be rolled back", "cut_over": "cut over again"}.get(step.value, f"be {step.value}d")
    raise Conflict(f"{consumer} cannot {words}: for {feed}, its state is {before.state.replace('_', ' ')}")


def _refused(what: str, reasons: Sequence[str]) -> Refused:
    findings = tuple(Finding("cutover_gate", Severity.ERROR, reason) for reason in reasons)
    return Refused(f"{what}: {'; '.join(reasons)}", findings)


def _find(connection: Connection, visibility: Visibility, feed: str) -> StoredFeed:
    stored = store.find_feed(connection, visibility, feed)
    if stored is None:
        raise _no_feed(feed)
    return stored


def _find_to_change(connection: Connection, sight: Sight, feed: str) -> StoredFeed:
    stored = store.find_feed(connection, Visibility(), feed)
    if stored is None or not sight.sees(stored.line.contract):
        raise _no_feed(feed)
    return stored


def _no_feed(feed: str) -> NotFound:
    return NotFound(
        f"the registry has no legacy feed {feed[:80]!r}", "declare it with: treaty cutover declare --project FOLDER"
    )


def _no_consumer(consumer: str, feed: str | None) -> NotFound:
    of = f"of {feed}" if feed else "of any legacy feed"
    return NotFound(f"{consumer[:80]!r} is not a consumer {of}", "see: treaty cutover status")


def _check_declaration(
    feed: str, owner: str, names: Sequence[str], consumers: Sequence[str], gate: Gate, produced: str | None
) -> None:
    check_name(feed, "feed")
    for consumer in consumers:
        check_name(consumer, "consumer")
    for name in names:
        check_name(name, "table")
    if len(names) > MAX_NAMES or len(consumers) > MAX_CONSUMERS:
        raise InvalidDocument(f"a feed has at most {MAX_NAMES} names and {MAX_CONSUMERS} consumers")
    for what, text in {"owner": owner, "produced": produced or "-"}.items():
        if not text.strip() or len(text) > _MAX_TEXT:
            raise InvalidDocument(f"{what} must have 1 to {_MAX_TEXT:,} characters")
    if not 1 <= gate.clean_runs <= MAX_CLEAN_RUNS or gate.absolute < 0 or gate.relative < 0:
        raise InvalidDocument(f"a gate has 1 to {MAX_CLEAN_RUNS} clean runs, and tolerances that are not negative")
