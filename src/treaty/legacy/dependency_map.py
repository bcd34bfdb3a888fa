"""The dependency map: consumers and what they read, declared, scanned or observed, the most critical first."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date

from treaty.consumers.dependencies import DataLayer
from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts.versions import Line
from treaty.legacy.consumer_guess import DECISION_CONFIDENCE, DEFAULT_CONFIDENCE, LATENCY_CONFIDENCE, ClassGuess
from treaty.legacy.serving_lines import Derivation, ReplacedFeed, find_feed, serving_line
from treaty.legacy.sql_reads import ALL_COLUMNS

LEGACY = "legacy"

UNKNOWN_KIND = "table"
"""The kind of a source of which nothing but its name is known."""

_KIND_BY_WORD = {
    **dict.fromkeys(("raw", "landing", "bronze", "ingest", "ingestion", "staging", "stg"), DataLayer.RAW.value),
    **dict.fromkeys(("cdc", "debezium", "changes", "events"), DataLayer.CHANGE_FEED.value),
    **dict.fromkeys(("product", "products"), DataLayer.PRODUCT.value),
    "reconciliation": DataLayer.RECONCILIATION.value,
    **dict.fromkeys(("publication", "publications"), DataLayer.PUBLICATION.value),
    "legacy": LEGACY,
}
_DIRECT_KINDS = frozenset({*(layer.value for layer in DataLayer if layer.is_internal), LEGACY})
_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class DeclaredRead:
    """A subscription."""

    consumer: str
    line: Line
    consumer_class: ConsumerClass
    columns: frozenset[str]
    latency: str | None = None
    purpose: str | None = None
    team: str | None = None


@dataclass(frozen=True, slots=True)
class ObservedRead:
    """What lineage events say about a consumer."""

    consumer: str
    line: Line
    columns: frozenset[str]
    last_read: date
    team: str | None = None


@dataclass(frozen=True, slots=True)
class FoundRead:
    """What a scan found, with the line that its table belongs to, if there is one."""

    consumer: str
    table: str
    columns: frozenset[str]
    guess: ClassGuess
    line: Line | None = None
    latency: str | None = None
    decision: str | None = None
    team: str | None = None
    places: tuple[str, ...] = ()
    kind: str = ""
    """What it was found in, such as `airflow`."""
    parsed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ConsumerProfile:
    """What people said of a consumer; None where they said nothing."""

    consumer: str
    consumer_class: ConsumerClass | None = None
    latency: str | None = None
    decision: str | None = None
    team: str | None = None


@dataclass(frozen=True, slots=True)
class MapInputs:
    """All that is known."""

    declared: tuple[DeclaredRead, ...] = ()
    observed: tuple[ObservedRead, ...] = ()
    found: tuple[FoundRead, ...] = ()
    profiles: Mapping[str, ConsumerProfile] = field(default_factory=dict)
    layers: Mapping[Line, DataLayer] = field(default_factory=dict)
    feeds: tuple[ReplacedFeed, ...] = ()
    derivations: Mapping[Line, Collection[Derivation]] = field(default_factory=dict)
    """The publications that are derived from each line."""

    def read_lines(self) -> Iterator[tuple[str, Line]]:
        """Yield consumers with the lines that they read, by any evidence."""
        yield from ((one.consumer, one.line) for one in self.declared)
        yield from ((one.consumer, one.line) for one in self.observed)
        yield from ((one.consumer, one.line) for one in self.found if one.line is not None)


@dataclass(frozen=True, slots=True)
class MapEntry:
    """A consumer and a source that it reads."""

    consumer: str
    source: str
    """A line such as `orders@1`, or the name of a table that belongs to no contract."""
    line: Line | None
    source_kind: str
    """The layer of the line, what the name of the table says about it, or `table`."""
    columns: tuple[str, ...]
    """Empty: every column may be read."""
    consumer_class: ConsumerClass
    class_confidence: float | None
    """None: people said it."""
    class_reason: str
    latency: str | None
    latency_is_stated: bool
    decision: str | None
    team: str | None
    evidence: tuple[str, ...]
    """`declared`, `scanned` and `observed`, as far as they apply."""
    last_read: date | None
    places: tuple[str, ...]
    latency_confidence: float | None = None
    """Of a latency that a scan found; None if people said it, or none is known."""
    decision_confidence: float | None = None
    served_by: Line | None = None
    """The publication that would serve a direct reader, if there is one."""

    @property
    def is_direct(self) -> bool:
        """Whether it reads raw data, a change feed, a product or a legacy feed, and no contract made for consumers."""
        return self.source_kind in _DIRECT_KINDS

    @property
    def rank(self) -> tuple[int, int, str, str]:
        """The place in the map: critical consumers first, of these the ones that read directly, then by name."""
        return 1 - self.consumer_class.is_critical, 1 - self.is_direct, self.consumer, self.source


def build_map(inputs: MapInputs) -> tuple[MapEntry, ...]:
    """Merge what is declared, scanned and observed into one entry for each consumer and source, by rank."""
    reads: dict[tuple[str, str], _Reads] = {}
    for declared in inputs.declared:
        _reads(reads, declared.consumer, str(declared.line), declared.line).declared = declared
    for observed in inputs.observed:
        _reads(reads, observed.consumer, str(observed.line), observed.line).observed = observed
    for found in inputs.found:
        source = found.table if found.line is None else str(found.line)
        _reads(reads, found.consumer, source, found.line).found.append(found)
    guesses = _best_guesses(inputs.found)
    stated = _declared_classes(inputs.declared)
    entries = (_entry(one, inputs, guesses, stated) for one in reads.values())
    return tuple(sorted(entries, key=lambda entry: entry.rank))


def kind_of_table(table: str) -> str:
    """Return the kind of a table that belongs to no contract, by the words of its name."""
    parts = table.lower().split(".")
    for part in (*parts[:-1], parts[-1].partition("_")[0]):
        for word in _WORD.findall(part):
            if word in _KIND_BY_WORD:
                return _KIND_BY_WORD[word]
    return UNKNOWN_KIND


@dataclass(slots=True)
class _Reads:
    consumer: str
    source: str
    line: Line | None
    declared: DeclaredRead | None = None
    observed: ObservedRead | None = None
    found: list[FoundRead] = field(default_factory=list)

    def columns(self) -> Iterator[frozenset[str]]:
        """Yield the columns by each kind of evidence; an empty set means that they are not known."""
        if self.declared is not None:
            yield self.declared.columns
        if self.observed is not None:
            yield self.observed.columns
        for found in self.found:
            yield frozenset() if ALL_COLUMNS in found.columns else found.columns


def _reads(reads: dict[tuple[str, str], _Reads], consumer: str, source: str, line: Line | None) -> _Reads:
    return reads.setdefault((consumer, source), _Reads(consumer, source, line))


def _best_guesses(found: Iterable[FoundRead]) -> dict[str, ClassGuess]:
    best: dict[str, ClassGuess] = {}
    for one in found:
        if one.consumer not in best or best[one.consumer].confidence < one.guess.confidence:
            best[one.consumer] = one.guess
    return best


def _declared_classes(declared: Iterable[DeclaredRead]) -> dict[str, DeclaredRead]:
    """Return the most demanding subscription of each consumer."""
    order = list(ConsumerClass)
    chosen: dict[str, DeclaredRead] = {}
    for one in declared:
        before = chosen.get(one.consumer)
        if before is None or order.index(before.consumer_class) < order.index(one.consumer_class):
            chosen[one.consumer] = one
    return chosen


def _entry(
    one: _Reads, inputs: MapInputs, guesses: Mapping[str, ClassGuess], stated: Mapping[str, DeclaredRead]
) -> MapEntry:
    profile = inputs.profiles.get(one.consumer, ConsumerProfile(one.consumer))
    declared, observed = one.declared or stated.get(one.consumer), one.observed
    consumer_class, confidence, reason = _class_of(profile, declared, guesses.get(one.consumer))
    said = profile.latency or (declared.latency if declared else None)
    decided = profile.decision or (declared.purpose if declared else None)
    timed = next((found for found in one.found if found.latency), None)
    described = next((found for found in one.found if found.decision), None)
    known = [columns for columns in one.columns() if columns]
    evidence = (("declared", one.declared), ("scanned", one.found or None), ("observed", observed))
    kind = _source_kind(one, inputs)
    columns = tuple(sorted(frozenset().union(*known))) if len(known) == len(list(one.columns())) else ()
    return MapEntry(
        consumer=one.consumer,
        source=one.source,
        line=one.line,
        source_kind=kind,
        columns=columns,
        consumer_class=consumer_class,
        class_confidence=confidence,
        class_reason=reason,
        latency=said or (timed.latency if timed else None),
        latency_is_stated=said is not None,
        decision=decided or (described.decision if described else None),
        latency_confidence=None if said or timed is None else LATENCY_CONFIDENCE.get(timed.kind, DEFAULT_CONFIDENCE),
        decision_confidence=None
        if decided or described is None
        else DECISION_CONFIDENCE.get(described.kind, DEFAULT_CONFIDENCE),
        team=profile.team
        or (declared.team if declared else None)
        or next((found.team for found in one.found if found.team), None)
        or (observed.team if observed else None),
        evidence=tuple(name for name, there in evidence if there is not None),
        last_read=observed.last_read if observed else None,
        places=tuple(dict.fromkeys(place for found in one.found for place in found.places)),
        served_by=serving_line(one.source, one.line, columns, inputs.derivations, inputs.feeds)
        if kind in _DIRECT_KINDS
        else None,
    )


def _class_of(
    profile: ConsumerProfile, declared: DeclaredRead | None, guess: ClassGuess | None
) -> tuple[ConsumerClass, float | None, str]:
    if profile.consumer_class is not None:
        return profile.consumer_class, None, "set by people"
    if declared is not None:
        return declared.consumer_class, None, "declared in a subscription"
    if guess is not None:
        return guess.consumer_class, guess.confidence, guess.reason
    return ConsumerClass.EXPLORATORY_ANALYTICS, 0.2, "known from lineage events only"


def _source_kind(one: _Reads, inputs: MapInputs) -> str:
    if one.line is not None and one.line in inputs.layers:
        return inputs.layers[one.line].value
    if find_feed(one.source, one.line, inputs.feeds) is not None:
        return LEGACY
    tables = [found.table for found in one.found] or ([one.line.contract] if one.line else [])
    return next((kind for kind in map(kind_of_table, tables) if kind != UNKNOWN_KIND), UNKNOWN_KIND)
