"""The rules of a stream in Spark SQL: one fold over the events of each key, in the order of their sequence.

It gives the same answers as `events.StateMachine`, and finds redeliveries, gaps and events out of order on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract
from treaty.contracts.sql_quoting import quote_identifier
from treaty.errors import InvalidDocument
from treaty.events.invariants import CURRENT, PREVIOUS, InvariantRule, invariant_rules
from treaty.events.state_machine import StateMachine
from treaty.events.streams import ProblemKind, Stream
from treaty.spark.columns import evaluate_once, quoted_col
from treaty.spark.schema import column_name, spark_type
from treaty.spark.value_checks import contains_map


class StreamFlag(IntEnum):
    """The bits of what the fold finds about an event; lower bits are left to the caller."""

    CONFLICT = 1 << 16
    SEQUENCE = 1 << 17
    GAP = 1 << 18
    PARTITION = 1 << 19
    DUPLICATE = 1 << 20
    MOVE = 1 << 21


_FIRST_INVARIANT_BIT = 22
MAX_INVARIANTS = 40
_NOT_ALLOWED = -2
_START = -1
_MAX_STATES = 60


@dataclass(frozen=True)
class EventColumns:
    """What the fold needs of an event besides its fields; `flags` are bits below those of `StreamFlag`."""

    sequence: Column
    arrival: Column
    digest: Column
    flags: Column
    partition: Column


@dataclass(frozen=True)
class StreamRules:
    """What the events of one key are judged by.

    Without a life cycle there are no states; without a counted sequence there are no gaps.
    """

    types: tuple[str, ...]
    machine: StateMachine | None = None
    invariants: tuple[InvariantRule, ...] = ()
    fields: Mapping[str, spark.DataType] | None = None
    """The columns that invariants read, of all event types."""
    is_counted: bool = False
    single: frozenset[str] = frozenset()
    """The event types that are delivered at most once."""
    has_partitions: bool = False

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The states, by their number."""
        return self.machine.states if self.machine else ()

    def rank(self, event_type: str) -> int:
        """Return the place of an event type among events with the same sequence."""
        return self.machine.ranks.get(event_type, 0) if self.machine else 0

    def bit(self, number: int) -> int:
        """Return the bit of an invariant."""
        return int(1 << (_FIRST_INVARIANT_BIT + number))

    @cached_property
    def refusing(self) -> int:
        """The bits of violations that refuse an event."""
        errors = (
            self.bit(number) for number, rule in enumerate(self.invariants) if rule.invariant.severity is Severity.ERROR
        )
        return int(StreamFlag.MOVE) | sum(errors)

    def broken(self, flags: int) -> Iterator[InvariantRule]:
        """Yield the invariants that an event with these flags violates."""
        for number, rule in enumerate(self.invariants):
            if flags & self.bit(number):
                yield rule

    def event(self, event_type: str, parts: EventColumns, columns: Sequence[str]) -> Column:
        """Return the struct that the fold reads of an event, in a frame with these columns of its contract."""
        order = F.struct(
            parts.sequence.alias("sequence"),
            F.lit(self.rank(event_type)).alias("rank"),
            F.lit(self.types.index(event_type)).alias("type"),
            parts.arrival.alias("arrival"),
        )
        built = [order.alias("o"), parts.digest.alias("digest"), parts.flags.cast("long").alias("flags")]
        if self.has_partitions:
            built.append(parts.partition.alias("partition"))
        if self.fields:
            values = [
                (quoted_col(name) if name in columns else F.lit(None)).cast(kind).alias(name)
                for name, kind in self.fields.items()
            ]
            built.append(F.struct(*values).alias("v"))
        return F.struct(*built)

    def fold(self, events: str, kind: spark.StructType) -> Column:
        """Return the result of the fold over a column with the events of a key, which need not be in order.

        `state` and `states` (a bit for each state that was reached), `duplicates`, and `found`: an entry with `type`,
        `flags`, `arrival`, `sequence`, `state` before it and `last` sequence for each event with something to report.
        """
        element = kind["o"].dataType
        assert isinstance(element, spark.StructType)  # noqa: S101  built above
        sql = _FoldSql(self, element, kind).render(f"array_sort({events})")
        return evaluate_once(F.expr(sql))


@dataclass(frozen=True)
class _FoldSql:
    """Renders the fold. Spark evaluates it by interpretation, so that values used several times are bound once."""

    rules: StreamRules
    order: spark.StructType
    event: spark.StructType

    def render(self, events: str) -> str:
        merge = f"(acc, e) -> element_at(transform(array({self._flags()}), f -> {self._next()}), 1)"
        return f"aggregate({events}, {self._start()}, {merge})"

    def _start(self) -> str:
        order, event = self.order, self.event
        nothing = "CAST(NULL AS {})"
        found = (
            f"ARRAY<STRUCT<type: INT, flags: BIGINT, arrival: {_sql_type(order['arrival'].dataType)}, "
            "sequence: STRING, state: INT, last: STRING>>"
        )
        last = f"STRUCT<sequence: {_sql_type(order['sequence'].dataType)}, type: INT, digest: BIGINT>"
        parts = [
            f"{_START} AS state",
            f"{nothing.format(last)} AS last",
            f"{nothing.format(_sql_type(order['arrival'].dataType))} AS newest",
            "0L AS duplicates",
            "0L AS states",
            f"CAST(array() AS {found}) AS found",
        ]
        if self.rules.has_partitions:
            parts.append(f"{nothing.format(_sql_type(event['partition'].dataType))} AS partition")
        if self.rules.fields:
            parts.append(f"{nothing.format(_sql_type(event['v'].dataType))} AS previous")
        return _struct(parts)

    def _flags(self) -> str:
        rules = self.rules
        same = f"if(e.digest = acc.last.digest, {int(StreamFlag.DUPLICATE)}L, {int(StreamFlag.CONFLICT)}L)"
        is_late = "acc.newest IS NOT NULL AND e.o.arrival < acc.newest"
        parts = []
        if rules.has_partitions:
            parts.append(f"if(e.partition <=> coalesce(acc.partition, e.partition), 0L, {int(StreamFlag.PARTITION)}L)")
            is_late += " AND e.partition <=> acc.partition"
        parts.append(f"if({is_late}, {int(StreamFlag.SEQUENCE)}L, 0L)")
        if rules.is_counted:
            parts.append(f"if(e.o.sequence > try_add(acc.last.sequence, 1), {int(StreamFlag.GAP)}L, 0L)")
        if rules.machine is not None:
            parts.append(f"if({self._target()} = {_NOT_ALLOWED}, {int(StreamFlag.MOVE)}L, 0L)")
        if rules.invariants:
            parts.append(self._broken())
        return f"CASE WHEN {_REPEATED} THEN {same} ELSE {' + '.join(parts)} END"

    def _target(self) -> str:
        """The state after the event if it is accepted, from a table of types and states."""
        machine = self.rules.machine
        assert machine is not None  # noqa: S101  only called with one
        states: list[str | None] = [None, *self.rules.states]
        codes = {state: code - 1 for code, state in enumerate(states)}
        table = [
            codes[machine.next_state(state, name)] if machine.allows(state, name) else _NOT_ALLOWED
            for name in self.rules.types
            for state in states
        ]
        return f"element_at(array({', '.join(map(str, table))}), e.o.type * {len(states)} + acc.state + 2)"

    def _broken(self) -> str:
        by_type: dict[str, list[str]] = {}
        for number, rule in enumerate(self.rules.invariants):
            by_type.setdefault(rule.event_type, []).append(f"if({rule.broken}, {self.rules.bit(number)}L, 0L)")
        cases = [f"WHEN {self.rules.types.index(name)} THEN {' + '.join(bits)}" for name, bits in by_type.items()]
        bits = f"CASE e.o.type {' '.join(cases)} ELSE 0L END"
        inner = f"element_at(transform(array(acc.previous), `{PREVIOUS}` -> {bits}), 1)"
        return f"element_at(transform(array(e.v), `{CURRENT}` -> {inner}), 1)"

    def _next(self) -> str:
        rules = self.rules
        repeats = int(StreamFlag.DUPLICATE | StreamFlag.CONFLICT)
        is_repeat = f"(f & {repeats}L) <> 0"
        is_kept = f"(f & {repeats | rules.refusing}L) <> 0"
        target = self._target() if rules.machine is not None else str(_START)
        reported = "f"
        if len(rules.single) < len(rules.types):  # an allowed redelivery is counted, but not reported
            single = ", ".join("true" if name in rules.single else "false" for name in rules.types)
            reported = f"if(element_at(array({single}), e.o.type + 1), f, f & ~{int(StreamFlag.DUPLICATE)}L)"
        entry = _struct(
            [
                "e.o.type AS type",
                "f AS flags",
                "e.o.arrival AS arrival",
                "CAST(e.o.sequence AS STRING) AS sequence",
                "acc.state AS state",
                "CAST(acc.last.sequence AS STRING) AS last",
            ]
        )
        last = _struct(["e.o.sequence AS sequence", "e.o.type AS type", "e.digest AS digest"])
        reached = f"acc.states | if({target} >= 0, shiftleft(1L, {target}), 0L)"
        parts = [
            f"if({is_kept}, acc.state, {target}) AS state",
            f"if({is_repeat}, acc.last, {last}) AS last",
            f"if({is_repeat} OR acc.newest > e.o.arrival, acc.newest, e.o.arrival) AS newest",
            f"acc.duplicates + if((f & {int(StreamFlag.DUPLICATE)}L) <> 0, 1L, 0L) AS duplicates",
            f"if({is_kept}, acc.states, {reached}) AS states" if rules.machine else "0L AS states",
            f"if({reported} = 0, acc.found, concat(acc.found, array({entry}))) AS found",
        ]
        if rules.has_partitions:
            parts.append("coalesce(acc.partition, e.partition) AS partition")
        if rules.fields:
            parts.append(f"if({is_kept}, acc.previous, e.v) AS previous")
        return _struct(parts)


_REPEATED = "acc.last.sequence <=> e.o.sequence AND acc.last.type = e.o.type"
"""Whether an event has the identity of the one before it; events of one identity follow each other."""


def _sql_type(kind: spark.DataType) -> str:
    """Return a type in SQL; `simpleString` does not quote names."""
    if isinstance(kind, spark.StructType):
        return f"STRUCT<{', '.join(f'{quote_identifier(one.name)}: {_sql_type(one.dataType)}' for one in kind)}>"
    return f"ARRAY<{_sql_type(kind.elementType)}>" if isinstance(kind, spark.ArrayType) else kind.simpleString()


def _struct(parts: Sequence[str]) -> str:
    return f"struct({', '.join(parts)})"


def stream_rules(
    contracts: Sequence[Contract],
    stream: Stream | None,
    *,
    is_counted: bool,
    single: frozenset[str] = frozenset(),
    has_partitions: bool = False,
) -> StreamRules:
    """Return the rules of contracts that share keys: those of a stream, or one event type without a life cycle."""
    types = tuple(sorted({type_name(contract) for contract in contracts}))
    if stream is None:
        return StreamRules(types, is_counted=is_counted, single=single, has_partitions=has_partitions)
    for problem in stream.problems():
        if problem.kind is not ProblemKind.UNREACHABLE:
            raise InvalidDocument(f"{problem.contract}: {problem.message}")
    if stream.machine.states and not stream.machine.reachable_states:
        raise InvalidDocument(
            f"no event type of {', '.join(types)} is the first of a key in the stream {stream.name}; "
            "name the contracts of all its event types"
        )
    invariants = tuple(invariant_rules(stream))
    machine = stream.machine
    if len(invariants) > MAX_INVARIANTS:
        raise InvalidDocument(f"the stream {stream.name} has {len(invariants)} invariants; at most {MAX_INVARIANTS}")
    if len(machine.states) > _MAX_STATES:
        raise InvalidDocument(f"the stream {stream.name} has {len(machine.states)} states; at most {_MAX_STATES}")
    fields = dict(_read_fields(stream, invariants))
    return StreamRules(types, machine, invariants, fields, is_counted, single, has_partitions)


def _read_fields(stream: Stream, invariants: Sequence[InvariantRule]) -> Iterator[tuple[str, spark.DataType]]:
    names = {name for rule in invariants for side in (CURRENT, PREVIOUS) for name in rule.reads(side)}
    for name, field in stream.fields.items():
        if name not in names:
            continue
        kind = spark_type(field) or spark.StringType()
        if contains_map(kind):
            raise InvalidDocument(f"an invariant of {stream.name} reads {name}, a map; invariants cannot compare maps")
        yield column_name(field), kind


def type_name(contract: Contract) -> str:
    """Return the event type of a contract; its id if it states none."""
    return contract.treaty.event.type if contract.treaty.event else contract.id
