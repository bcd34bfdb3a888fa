"""Life cycles in products: a key whose events break the life cycle of their stream is set apart, with the reasons.

All events of an affected key are judged again in the order of their sequence, so that an event which arrives late
releases the key, and a rebuild gives the same rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract
from treaty.events.state_machine import ViolationKind, broken_invariant, refused_move
from treaty.events.streams import Stream, streams_of
from treaty.pipeline.layers.events.event_table import ARRIVAL, contract_columns
from treaty.pipeline.layers.keys import join_by_key
from treaty.pipeline.layers.products.late_events import SourceEvents, ordering_columns, sequence_of
from treaty.pipeline.layers.products.product_table import GIVEN, OUTCOME, Outcome
from treaty.spark.columns import INTERNAL_PREFIX, VIOLATIONS_COLUMN, quoted_col
from treaty.spark.stream_rules import EventColumns, StreamFlag, StreamRules, stream_rules, type_name
from treaty.spark.violations import VIOLATIONS_TYPE

LIFECYCLE = "lifecycle"
"""The kind of the violations."""
_BROKEN, _REFUSED = f"{INTERNAL_PREFIX}broken", f"{INTERNAL_PREFIX}refused"
_EVENT, _EVENTS, _FOUND = f"{INTERNAL_PREFIX}event", f"{INTERNAL_PREFIX}events", f"{INTERNAL_PREFIX}found"


def set_apart(rows: DataFrame, sources: Sequence[SourceEvents], key: Sequence[str]) -> DataFrame:
    """Return the rows of a product; those of keys whose events violate an error are quarantined, warnings recorded.

    A life cycle is judged if the product reads an event type of its stream that begins a key, and has a row for each
    key of the events.
    """
    for members, stream in _judged_streams(sources):
        rows = _with_violations(rows, _broken_keys(members, stream, key), key)
    return rows


def _judged_streams(sources: Sequence[SourceEvents]) -> Iterator[tuple[list[SourceEvents], Stream]]:
    by_stream: dict[str, list[SourceEvents]] = defaultdict(list)
    for source in sources:
        lifecycle = source.contract.treaty.lifecycle
        is_by_key = source.key == ordering_columns(source.contract) and sequence_of(source.contract)
        if lifecycle is not None and is_by_key:
            by_stream[lifecycle.stream].append(source)
    for name, members in by_stream.items():
        stream = streams_of([member.contract for member in members])[name]
        if stream.machine.reachable_states or not stream.machine.states:
            yield members, stream


def _broken_keys(members: Sequence[SourceEvents], stream: Stream, key: Sequence[str]) -> DataFrame:
    """Return the keys whose events violate the life cycle, with the violations and whether one is an error."""
    contracts = [member.contract for member in members]
    rules = stream_rules(contracts, stream, is_counted=False)
    rows = reduce(DataFrame.unionByName, [_events(member, rules, key) for member in members])
    kind = rows.schema[_EVENT].dataType
    assert isinstance(kind, spark.StructType)  # noqa: S101  built above
    folded = (
        rows.groupBy(*map(quoted_col, key))
        .agg(F.collect_list(_EVENT).alias(_EVENTS))
        .select(*map(quoted_col, key), rules.fold(_EVENTS, kind).getField("found").alias(_FOUND))
    )
    described = _violations(rules, {type_name(contract): contract for contract in contracts})
    found = F.flatten(F.transform(quoted_col(_FOUND), described)).cast(VIOLATIONS_TYPE)
    is_error = F.exists(quoted_col(_BROKEN), lambda one: one["severity"] == F.lit(Severity.ERROR.value))
    return (
        folded.select(*map(quoted_col, key), found.alias(_BROKEN))
        .where(F.size(_BROKEN) > F.lit(0))
        .withColumn(_REFUSED, is_error)
    )


def _events(member: SourceEvents, rules: StreamRules, key: Sequence[str]) -> DataFrame:
    (sequence,) = sequence_of(member.contract)
    parts = EventColumns(
        quoted_col(sequence).cast(_sequence_type(member, sequence)),
        F.struct(*map(quoted_col, ARRIVAL)),
        F.xxhash64(*map(quoted_col, ARRIVAL)),
        F.lit(0),
        F.lit(None).cast("string"),
    )
    columns = contract_columns(member.events.columns)
    named = [quoted_col(column).alias(name) for column, name in zip(member.key, key, strict=True)]
    return member.events.select(*named, rules.event(type_name(member.contract), parts, columns).alias(_EVENT)).where(
        quoted_col(sequence).isNotNull()
    )


def _sequence_type(member: SourceEvents, sequence: str) -> spark.DataType:
    kind = member.events.schema[sequence].dataType
    return spark.LongType() if isinstance(kind, spark.IntegralType) else kind


def _violations(rules: StreamRules, contracts: Mapping[str, Contract]) -> Callable[[Column], Column]:
    """Return a function from what the fold found about an event to its violations."""
    reasons: list[tuple[int, str, str, Severity]] = []
    for number, rule in enumerate(rules.invariants):
        name = f"{ViolationKind.INVARIANT}.{rule.invariant.name}"
        reasons.append((rules.bit(number), name, broken_invariant(rule.invariant), rule.invariant.severity))
    names = F.array(*map(F.lit, rules.types))
    ids = F.array(*[F.lit(contracts[name].id) for name in rules.types])
    versions = F.array(*[F.lit(contracts[name].version) for name in rules.types])
    moves = F.array(*map(F.lit, _move_messages(rules)))

    def entry(one: Column, rule: str, message: Column, severity: Severity) -> Column:
        code = one["type"]
        return F.struct(
            F.lit(rule).alias("rule"),
            F.lit(LIFECYCLE).alias("kind"),
            F.get(names, code).alias("field"),
            one["sequence"].alias("value"),
            message.alias("message"),
            F.lit(severity.value).alias("severity"),
            F.get(ids, code).alias("contract"),
            F.get(versions, code).alias("version"),
        )

    def describe(one: Column) -> Column:
        flags, width = one["flags"], len(rules.states) + 1
        move = F.get(moves, one["type"] * F.lit(width) + one["state"] + F.lit(1))
        entries = [
            F.when(
                flags.bitwiseAND(F.lit(int(StreamFlag.MOVE))) != F.lit(0),
                entry(one, ViolationKind.MOVE.value, move, Severity.ERROR),
            )
        ]
        entries += [
            F.when(flags.bitwiseAND(F.lit(bit)) != F.lit(0), entry(one, rule, F.lit(message), severity))
            for bit, rule, message, severity in reasons
        ]
        return F.array_compact(F.array(*entries))

    return describe


def _move_messages(rules: StreamRules) -> Iterator[str]:
    """Yield why each event type is refused in each state, as the fold numbers them."""
    machine = rules.machine
    for name in rules.types:
        event_type = machine.find_type(name) if machine else None
        for state in (None, *rules.states):
            yield refused_move(event_type, state) if event_type and event_type.moves else ""


def _with_violations(rows: DataFrame, broken: DataFrame, key: Sequence[str]) -> DataFrame:
    """Add violations to the rows of their keys; without its fields, a quarantined row has what was given instead."""
    joined = join_by_key(rows, broken, key)
    is_refused = F.coalesce(quoted_col(_REFUSED), F.lit(False))
    platform = (OUTCOME, VIOLATIONS_COLUMN, GIVEN)
    fields = [name for name in rows.columns if name not in platform]
    none = F.array().cast(VIOLATIONS_TYPE)
    all_violations = F.concat(F.coalesce(quoted_col(VIOLATIONS_COLUMN), none), quoted_col(_BROKEN))
    given = F.coalesce(quoted_col(GIVEN), F.to_json(F.struct(*map(quoted_col, fields))))
    return joined.select(
        *[quoted_col(name) if name in key else F.when(~is_refused, quoted_col(name)).alias(name) for name in fields],
        F.when(is_refused, F.lit(Outcome.QUARANTINED.value)).otherwise(quoted_col(OUTCOME)).alias(OUTCOME),
        F.when(quoted_col(_BROKEN).isNotNull(), all_violations)
        .otherwise(quoted_col(VIOLATIONS_COLUMN))
        .alias(VIOLATIONS_COLUMN),
        F.when(is_refused, given).otherwise(quoted_col(GIVEN)).alias(GIVEN),
    )
