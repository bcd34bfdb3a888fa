"""The dependency map: scans, what people say of consumers, and both merged with subscriptions and observed usage."""

from __future__ import annotations

from collections.abc import Sequence

from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts import Contract
from treaty.contracts.model import locate_fields
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument, NotFound
from treaty.governance.near_duplicates import NearDuplicate, Shape, find_near_duplicates
from treaty.legacy.dependency_map import ConsumerProfile, MapEntry, MapInputs, build_map
from treaty.legacy.hidden_dependencies import HiddenDependency, RefusedRead, find_hidden_dependencies
from treaty.legacy.scanned_reads import ScannedRead
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.api import DependencyMapApi
from treaty.registry.documents import check_name
from treaty.registry.model import (
    ConsumerProfileAnswer,
    HiddenDependencyAnswer,
    MapEntryAnswer,
    NearDuplicateAnswer,
    Page,
    ScanReceiptAnswer,
)
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.service.context import Context
from treaty.registry.service.direct_reads import (
    critical_direct_reads,
    forbidden_by,
    notify_of_new_reads,
    notify_of_scanned_reads,
)
from treaty.registry.service.lifecycle import head_of
from treaty.registry.service.observed_usage import first_moment
from treaty.registry.service.retired_feeds import check_retired_feeds
from treaty.registry.store import Connection, lineage, versions
from treaty.registry.store import dependency_map as store
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility

MAX_READS = 20_000
MAX_SHAPES = 500
"""Publications that are compared with each other."""

_MAX_TEXT = 2_000
_MAX_COLUMNS = 2_000


class DependencyMap(DependencyMapApi):
    """The dependency map of a registry."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def entries(
        self,
        *,
        consumer: str | None = None,
        team: str | None = None,
        source: str | None = None,
        direct: bool | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[MapEntryAnswer]:
        """List consumers with their sources, critical consumers that read directly first."""
        check_limit(limit)
        start = after(cursor, 0, 0, "", "") if cursor is not None else None
        context = self._context

        def find(connection: Connection, visibility: Visibility) -> Page[MapEntryAnswer]:
            since = first_moment(context.today, context.rules.usage_window)
            entries = [
                entry
                for entry in build_map(store.map_inputs(connection, visibility, since))
                if (start is None or entry.rank > start)
                and (consumer is None or entry.consumer == consumer)
                and (team is None or entry.team == team)
                and (source is None or entry.source == source)
                and (direct is None or entry.is_direct is direct)
            ]
            page = page_of(entries, limit, lambda entry: entry.rank)
            return Page(
                items=[
                    _entry_answer(entry, forbidden_by(connection, context.rules, entry, context.today))
                    for entry in page.items
                ],
                next=page.next,
            )

        return context.read(find)

    def near_duplicates(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[NearDuplicateAnswer]:
        """List pairs of publications and edge contracts that are nearly the same, the most similar first."""
        check_limit(limit)
        start = after(cursor, 0, "", "") if cursor is not None else None

        def find(connection: Connection, visibility: Visibility) -> Page[NearDuplicateAnswer]:
            pairs = sorted(find_near_duplicates(publication_shapes(connection, visibility)), key=_rank)
            listed = [pair for pair in pairs if start is None or _rank(pair) > start]
            page = page_of(listed, limit, _rank)
            return Page(items=[_duplicate_answer(pair) for pair in page.items], next=page.next)

        return self._context.read(find)

    def hidden_dependencies(
        self, *, consumer: str | None = None, contract: str | None = None, cursor: str | None = None, limit: int = PAGE
    ) -> Page[HiddenDependencyAnswer]:
        """List what consumers read from publishers without a contract that promises it, the most serious first."""
        check_limit(limit)
        start = after(cursor, 0, "", "", "") if cursor is not None else None
        context = self._context

        def find(connection: Connection, visibility: Visibility) -> Page[HiddenDependencyAnswer]:
            since = first_moment(context.today, context.rules.usage_window)
            inputs = store.map_inputs(connection, visibility, since)
            refused = store.refused_reads(connection, visibility, since)
            found = [
                one
                for one in find_hidden_dependencies(inputs, _contracts(connection, inputs, refused, contract), refused)
                if (start is None or one.rank > start)
                and (consumer is None or one.consumer == consumer)
                and (contract is None or contract in (one.line.contract, str(one.line)))
            ]
            page = page_of(found, limit, lambda one: one.rank)
            return Page(items=[_hidden_answer(one) for one in page.items], next=page.next)

        return context.read(find)

    def record_scan(self, scan: str, reads: Sequence[ScannedRead]) -> ScanReceiptAnswer:
        """Store what a scan found in place of what the last scan of that name did."""
        context = self._context
        check_name(scan, "scan")
        if len(reads) > MAX_READS:
            raise InvalidDocument(
                f"the scan has {len(reads):,} pairs of consumer and source; scan at most {MAX_READS:,} under one name"
            )
        if len({(read.consumer, read.source) for read in reads}) < len(reads):
            raise InvalidDocument("the scan names a consumer and source twice; merge them")
        for read in reads:
            _check_read(read)

        def write(transaction: Transaction) -> ScanReceiptAnswer:
            teams = frozenset(grant.team for grant in context.actor.grants if grant.team is not None)
            authorize(context.actor, Action.NOTIFY, Resource("scan", scan, teams))
            known = store.scanned_pairs(transaction.connection)
            before = store.count_reads(transaction.connection, scan)
            details = {"reads": len(reads), "replaced": before}
            transaction.record(context.actor.name, "map.scan", scan, details=details)
            store.replace_reads(transaction, scan, reads, context.actor.name)
            check_retired_feeds(transaction, context.rules)
            notify_of_scanned_reads(
                transaction, context.rules, {(read.consumer, read.source) for read in reads} - known
            )
            return ScanReceiptAnswer(scan=scan, recorded=len(reads), replaced=before)

        return context.write(write)

    def describe_consumer(
        self,
        consumer: str,
        *,
        consumer_class: str | None = None,
        latency: str | None = None,
        decision: str | None = None,
        team: str | None = None,
    ) -> ConsumerProfileAnswer:
        """Say what a consumer of the map is; what is not given stays as it was said before."""
        given = {"latency": latency, "decision": decision, "team": team}
        said = {name: _checked_text(text, name) for name, text in given.items() if text is not None}
        parsed = parse_class(consumer_class)
        if not said and parsed is None:
            raise InvalidDocument("nothing is stated about the consumer; give its class, latency, decision or team")
        context = self._context

        def write(transaction: Transaction) -> ConsumerProfileAnswer:
            connection = transaction.connection
            if not context.sight(transaction).sees(consumer) or not store.is_known(connection, consumer):
                raise NotFound(f"there is no consumer {consumer!r} in the map", "list them with: treaty map")
            teams = store.teams_of_consumer(connection, consumer)
            authorize(context.actor, Action.SUBSCRIBE, Resource("consumer", consumer, teams))
            before = store.find_profile(connection, consumer)
            known = before or ConsumerProfile(consumer)
            after_ = ConsumerProfile(
                consumer,
                parsed or known.consumer_class,
                said.get("latency", known.latency),
                said.get("decision", known.decision),
                said.get("team", known.team),
            )
            if after_ != before:
                known_reads = critical_direct_reads(connection, context.rules, transaction.now.date())
                details = _answer(after_).model_dump(mode="json", exclude_none=True)
                transaction.record(context.actor.name, "map.describe", consumer, after=details, details=details)
                store.put_profile(transaction, after_, context.actor.name, is_new=before is None)
                notify_of_new_reads(transaction, context.rules, known_reads)
            return _answer(after_)

        return context.write(write)


def parse_class(text: str | None) -> ConsumerClass | None:
    """Parse the class of a consumer; None stays None."""
    if text is None:
        return None
    try:
        return ConsumerClass(text)
    except ValueError:
        raise InvalidDocument(
            f"unknown class {text[:40]!r} of a consumer; use one of: {', '.join(ConsumerClass)}"
        ) from None


def _check_read(read: ScannedRead) -> None:
    check_name(read.consumer, "consumer")
    check_name(read.source, "source")
    texts = (*read.places, *read.columns, *read.parsed, read.guess.reason, read.team, read.latency, read.decision)
    if (
        any(text is not None and len(text) > _MAX_TEXT for text in texts)
        or len(read.columns | read.parsed) > _MAX_COLUMNS
    ):
        raise InvalidDocument(
            f"what the scan says of {read.consumer!r} and {read.source!r} is too long; "
            f"send texts of at most {_MAX_TEXT:,} characters and {_MAX_COLUMNS:,} columns"
        )


def _checked_text(text: str, what: str) -> str:
    stripped = text.strip()
    if not stripped or len(stripped) > _MAX_TEXT:
        raise InvalidDocument(f"the {what} must have 1 to {_MAX_TEXT:,} characters")
    return stripped


def publication_shapes(connection: Connection, visibility: Visibility) -> list[Shape]:
    """Return the publications and edge contracts that the actor may read, as they are compared."""
    return [
        _shape(connection, line)
        for line in store.published_lines(connection)[:MAX_SHAPES]
        if visibility.sees(line.contract)
    ]


def _shape(connection: Connection, line: Line) -> Shape:
    contract = versions.contract_of(connection, head_of(versions.versions_in_line(connection, line)))
    fields = {str(path): str(field.type) if field.type else "any" for path, field, _ in locate_fields(contract)}
    sources = frozenset(
        f"{made.upstream} {path}" if path is not None else str(made.upstream)
        for made in lineage.upstreams_of(connection, line)
        for path in made.used_fields or (None,)
    )
    return Shape(line, fields, sources)


def _rank(pair: NearDuplicate) -> tuple[int, str, str]:
    """Return the place in the list; cursors have whole numbers."""
    return -round(pair.score * 1_000_000), str(pair.first), str(pair.second)


def _duplicate_answer(pair: NearDuplicate) -> NearDuplicateAnswer:
    return NearDuplicateAnswer(
        first=str(pair.first),
        second=str(pair.second),
        score=round(pair.score, 3),
        schema_share=round(pair.schema, 3),
        lineage_share=None if pair.lineage is None else round(pair.lineage, 3),
        shared=list(pair.shared),
    )


def _answer(profile: ConsumerProfile) -> ConsumerProfileAnswer:
    return ConsumerProfileAnswer(
        consumer=profile.consumer,
        consumer_class=profile.consumer_class,
        latency=profile.latency,
        decision=profile.decision,
        team=profile.team,
    )


def _contracts(
    connection: Connection, inputs: MapInputs, refused: Sequence[RefusedRead], wanted: str | None
) -> dict[Line, Contract]:
    """Return the contracts of lines that consumers read: all, or the wanted one and those inside of publishers."""
    lines = {line for _, line in inputs.read_lines()} | {one.line for one in refused}
    if wanted is not None:
        lines = {line for line in lines if wanted in (line.contract, str(line)) or line in inputs.layers}
    members = {line: versions.versions_in_line(connection, line) for line in lines}
    return {line: versions.contract_of(connection, head_of(found)) for line, found in members.items() if found}


def _hidden_answer(one: HiddenDependency) -> HiddenDependencyAnswer:
    return HiddenDependencyAnswer(
        kind=one.kind,
        consumer=one.consumer,
        team=one.team,
        line=str(one.line),
        subject=one.subject,
        message=one.message,
        hint=one.hint,
        evidence=[name for name in ("scanned", "observed", "refused") if name in one.evidence],
        places=list(one.places),
    )


def _entry_answer(entry: MapEntry, forbidden: str | None) -> MapEntryAnswer:
    return MapEntryAnswer(
        consumer=entry.consumer,
        team=entry.team,
        source=entry.source,
        line=str(entry.line) if entry.line else None,
        source_kind=entry.source_kind,
        direct=entry.is_direct,
        columns=list(entry.columns),
        consumer_class=entry.consumer_class,
        critical=entry.consumer_class.is_critical,
        class_confidence=entry.class_confidence,
        class_reason=entry.class_reason,
        latency=entry.latency,
        latency_is_stated=entry.latency_is_stated,
        latency_confidence=entry.latency_confidence,
        decision_confidence=entry.decision_confidence,
        decision=entry.decision,
        evidence=[name for name in ("declared", "scanned", "observed") if name in entry.evidence],
        last_read=entry.last_read,
        places=list(entry.places),
        served_by=str(entry.served_by) if entry.served_by else None,
        forbidden=forbidden,
    )
