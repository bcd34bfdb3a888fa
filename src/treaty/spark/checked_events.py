"""Events of one contract on Spark: checked one by one, and given a struct each for the fold of their key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, reduce

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.findings import Severity
from treaty.contracts.quantities import parse_seconds
from treaty.errors import InvalidDocument
from treaty.events.certification import Coverage, CoverageKind, Violations
from treaty.events.checks import CLOCK_TOLERANCE_S, CheckId, CheckTarget, identity_of
from treaty.events.event_times import event_time_field
from treaty.spark.columns import MALFORMED_COLUMN, any_of, quoted_col
from treaty.spark.enforcement import Enforcement, enforce
from treaty.spark.event_records import ARRIVAL, ARRIVED_AT, CODE, PARTITION, Records, TypeSurvey
from treaty.spark.field_paths import reached_fields
from treaty.spark.parsed_events import EXCLUDED, TRANSPORTED, UNDECLARED, WITHOUT_OFFSET, parse_events
from treaty.spark.rules import Kind, Policy, Rule, Scope, UnknownFields
from treaty.spark.schema import column_name, is_classified, select_object
from treaty.spark.stream_rules import EventColumns, StreamRules, type_name
from treaty.spark.type_conversion import ColumnFunction
from treaty.spark.uniqueness import content_hash
from treaty.spark.violations import MASKED_VALUE

_POLICY = Policy(unknown_fields=UnknownFields.ALLOWED, scope=Scope.ROWS)
_FOUND_COLUMNS = {
    CheckId.CLOSED: (UNDECLARED, "must not have fields that are not in the contract"),
    CheckId.EXCLUSIONS: (EXCLUDED, "must not contain what the contract excludes"),
    CheckId.TIME_ZONE: (WITHOUT_OFFSET, "must state its offset from UTC"),
}
"""Checks by what parsing found: the column, which is null in events that pass, and the requirement."""
_RULE_KINDS = frozenset({Kind.SQL, Kind.NULL_VALUES, Kind.MISSING_VALUES, Kind.INVALID_VALUES})
ROW_CHECKS = (
    *(CheckId.READABLE, CheckId.FIELDS, CheckId.TIME_ZONE, CheckId.RULES, CheckId.CLOSED, CheckId.EXCLUSIONS),
    *(CheckId.IDENTITY, CheckId.LATENCY, CheckId.CLOCK),
)
"""Checks of single events; each is a bit of the flags, and warnings of quality rules have one of their own."""
WARNING_BIT = 1 << len(ROW_CHECKS)
KEY, EVENT, AT = "_key", "_event", "_at"
SALT = "_salt"
"""Spreads the events without an identity, which would all end up in one partition."""
_SALTS = 1024
_SEPARATOR = "\x1f"
_BITS = 62
_MAX_VALUE_CHARACTERS = 200


def check_bit(check: CheckId) -> int:
    """Return the bit of a check of single events."""
    return 1 << ROW_CHECKS.index(check)


@dataclass(frozen=True)
class _Covered:
    """An optional field or enum value, and whether an event has it."""

    kind: CoverageKind
    name: str
    seen: Column


class CheckedEvents:
    """The events of one contract: parsed and checked one by one, with a struct of each for the fold."""

    def __init__(
        self,
        target: CheckTarget,
        code: int,
        found: TypeSurvey | None,
        typed: DataFrame,
        records: Records,
        now: datetime,
    ):
        self.now = now
        self.target, self.contract, self.code = target, target.contract, code
        self.name = type_name(self.contract)
        self.schema = select_object(self.contract)
        self.found, self.records, self.typed = found, records, typed
        self.columns = {field.name: column_name(field) for field in self.schema.fields}
        self.identity = tuple(self.columns[name] for name in identity_of(target) if name in self.columns)
        unknown = [name for name in identity_of(target) if name not in self.columns]
        if unknown:
            raise InvalidDocument(
                f"{self.contract.id} is identified by {unknown[0]!r}, which is not a field of it; "
                f"it has: {', '.join(map(str, self.columns))}"
            )

    @cached_property
    def enforcement(self) -> Enforcement:
        """The events under the rules of the contract on single rows."""
        structure = self.found.structure if self.found else spark.StructType()
        own = self.typed.where(F.col(CODE) == F.lit(self.code))
        parsed = parse_events(own, self.contract, self.schema, structure, self.records.transport.type_field)
        carried = [*TRANSPORTED, UNDECLARED, EXCLUDED, WITHOUT_OFFSET]
        return enforce(parsed, self.contract, object_name=self.schema.name, policy=_POLICY, carry=carried)

    def with_events(self, rules: StreamRules, *more: Column) -> DataFrame:
        """Return the key, the struct for the fold, the time of the event, what was covered, and more, of each event."""
        frame = self.enforcement.masked
        sequence = self._sequence(rules)
        has_identity = self._has_identity
        digest = content_hash(frame.select(*map(quoted_col, self.enforcement.layout.typed)))
        columns = EventColumns(sequence, F.col(ARRIVAL), digest, self._flags(), F.col(PARTITION))
        event = rules.event(self.name, columns, self.enforcement.layout.typed)
        salt = F.when(~has_identity, F.pmod(F.xxhash64(F.struct(ARRIVAL)), F.lit(_SALTS)))
        return frame.select(
            F.when(has_identity, self._key_text).alias(KEY),
            salt.alias(SALT),
            event.alias(EVENT),
            self._event_time.alias(AT),
            *self._coverage_masks(),
            *more,
        )

    @property
    def _key_columns(self) -> tuple[str, ...]:
        return self.identity[:-1] if self.target.ordering else self.identity

    @property
    def _key_text(self) -> Column:
        return F.concat_ws(_SEPARATOR, *[quoted_col(name).cast("string") for name in self._key_columns])

    def rows_of(self, key: str, sequence: str | None) -> DataFrame:
        """Return the checked rows of one event, by the texts of its key and sequence."""
        found = self.enforcement.masked.where(self._has_identity & (self._key_text == F.lit(key)))
        if self.target.ordering is None or sequence is None:
            return found
        return found.where(quoted_col(self.identity[-1]).cast("string") == F.lit(sequence))

    @property
    def _has_identity(self) -> Column:
        if not self.identity:
            return F.lit(False)
        return reduce(Column.__and__, [quoted_col(name).isNotNull() for name in self.identity])

    def _sequence(self, rules: StreamRules) -> Column:
        if self.target.ordering is None:
            return F.lit(0).cast("long")  # all events of an identity are deliveries of one event
        column = quoted_col(self.columns[self.target.ordering[1]])
        return column.cast("long") if rules.is_counted else column

    @property
    def _event_time(self) -> Column:
        field = event_time_field(self.contract)
        return F.lit(None).cast("timestamp") if field is None else quoted_col(column_name(field)).cast("timestamp")

    @cached_property
    def rules_by_check(self) -> Mapping[CheckId, list[int]]:
        """The positions of the rules of the contract, by the check that they belong to."""
        found: dict[CheckId, list[int]] = defaultdict(list)
        for position, rule in enumerate(self.enforcement.masks.rules):
            if rule.threshold.tolerates_none:
                found[self._check_of(rule)].append(position)
        return found

    def _check_of(self, rule: Rule) -> CheckId:
        if rule.kind is Kind.MALFORMED:
            return CheckId.READABLE
        if rule.kind is Kind.REQUIRED and rule.field in identity_of(self.target):
            return CheckId.IDENTITY
        return CheckId.RULES if rule.kind in _RULE_KINDS else CheckId.FIELDS

    def _flags(self) -> Column:
        masks = self.enforcement.masks
        errors: dict[int, list[Column]] = defaultdict(list)
        for check, positions in self.rules_by_check.items():
            for position in positions:
                is_error = masks.rules[position].severity is Severity.ERROR
                errors[check_bit(check) if is_error else WARNING_BIT].append(masks.is_set(position))
        readable = quoted_col(dict(self.enforcement.layout.inputs)[MALFORMED_COLUMN]).isNull()
        malformed = errors.pop(check_bit(CheckId.READABLE), [])
        if self.identity:
            read = [quoted_col(dict(self.enforcement.layout.inputs)[name]) for name in self.identity]
            errors[check_bit(CheckId.IDENTITY)].append(any_of(column.isNull() for column in read))
        for check, (column, _) in _FOUND_COLUMNS.items():
            errors[check_bit(check)].append(F.col(column).isNotNull())
        for check, condition in self._timeliness():
            errors[check_bit(check)].append(condition)
        none = F.expr("0L")
        bits = [
            F.when(any_of(conditions), F.lit(bit).cast("long")).otherwise(none) for bit, conditions in errors.items()
        ]
        others = reduce(Column.bitwiseOR, bits, none)
        broken = F.when(any_of(malformed), F.lit(check_bit(CheckId.READABLE)).cast("long")).otherwise(none)
        return F.when(readable, others).otherwise(broken)

    def _timeliness(self) -> Iterator[tuple[CheckId, Column]]:
        if event_time_field(self.contract) is None:
            return
        arrived = F.coalesce(F.col(ARRIVED_AT), F.lit(self.now))
        lag = F.unix_micros(arrived) - F.unix_micros(self._event_time)
        yield CheckId.CLOCK, lag < F.lit(-CLOCK_TOLERANCE_S * 1_000_000)
        if self.promised_seconds is not None and self.records.transport.has_arrival_times:
            yield CheckId.LATENCY, lag > F.lit(int(self.promised_seconds * 1_000_000))

    @cached_property
    def promised_seconds(self) -> float | None:
        """The time within which events have to arrive."""
        latency = self.contract.treaty.latency
        seconds = parse_seconds(latency.within) if latency and latency.within else None
        return None if seconds is None else float(seconds)

    @cached_property
    def covered(self) -> tuple[_Covered, ...]:
        """The optional fields and the enum values outside of lists and maps."""
        typed = self.enforcement.masked.select(*map(quoted_col, self.enforcement.layout.typed)).schema
        found = []
        for one in reached_fields(self.schema.fields, typed):
            if one.is_repeated:
                continue
            if not one.field.is_required:
                found.append(_Covered(CoverageKind.FIELD, one.path, one.any_value(Column.isNotNull)))
            for entry in one.field.enum or ():
                if entry["value"] is not None:
                    seen = one.any_value(_equals(str(entry["value"])))
                    found.append(_Covered(CoverageKind.VALUE, f"{one.path} = {entry['value']}", seen))
        return tuple(found)

    def _coverage_masks(self) -> Iterator[Column]:
        for number in range(0, len(self.covered), _BITS):
            chunk = self.covered[number : number + _BITS]
            bits = [
                F.when(one.seen, F.lit(1 << place).cast("long")).otherwise(F.expr("0L"))
                for place, one in enumerate(chunk)
            ]
            yield reduce(Column.bitwiseOR, bits).alias(self._mask_name(number // _BITS))

    def _mask_name(self, number: int) -> str:
        return f"_seen_{self.code}_{number}"

    @cached_property
    def mask_names(self) -> tuple[str, ...]:
        """The columns with a bit for each thing that an event covers."""
        return tuple(self._mask_name(number) for number in range((len(self.covered) + _BITS - 1) // _BITS))

    def coverage(self, totals: Row | None) -> Iterator[Coverage]:
        """Yield what was and was not seen of this event type."""
        yield Coverage(CoverageKind.EVENT_TYPE, self.name, self.name, bool(self.found and self.found.records))
        for number, one in enumerate(self.covered):
            mask = (totals[self._mask_name(number // _BITS)] or 0) if totals is not None else 0
            yield Coverage(one.kind, self.name, one.name, bool(mask >> (number % _BITS) & 1))

    def details(self, failed: Iterable[CheckId]) -> Iterator[tuple[CheckId, Violations]]:
        """Yield the violations of the rules on single events, each with the first event that violates it."""
        wanted = set(failed)
        conditions = list(self._described(wanted))
        if not conditions:
            return
        entries = F.array_compact(
            F.array(
                *[
                    F.when(condition, F.struct(F.lit(number).alias("number"), value.cast("string").alias("value")))
                    for number, (_, _, condition, value) in enumerate(conditions)
                ]
            )
        )
        names = [f"_id_{place}" for place in range(len(self.identity))]
        key = [quoted_col(column).cast("string").alias(name) for column, name in zip(self.identity, names, strict=True)]
        rows = (
            self.enforcement.masked.select(ARRIVAL, *key, F.explode(entries).alias("entry"))
            .groupBy(F.col("entry.number").alias("number"))
            .agg(
                F.count(F.lit(1)).alias("rows"),
                F.min(F.struct(ARRIVAL, F.col("entry.value").alias("value"), *names)).alias("first"),
            )
            .collect()
        )
        for row in sorted(rows, key=lambda row: row["number"]):
            check, rule, _, _ = conditions[row["number"]]
            identity = [row["first"][name] for name in names]
            key_text, sequence = self._shown_identity(identity)
            value = row["first"]["value"]
            yield (
                check,
                Violations(
                    self.name,
                    row["rows"],
                    rule.requirement,
                    rule.severity,
                    rule.id,
                    value if check in (CheckId.CLOSED, CheckId.TIME_ZONE) else rule.field or None,
                    key_text,
                    sequence,
                    None
                    if value is None or check in (CheckId.CLOSED, CheckId.TIME_ZONE)
                    else str(value)[:_MAX_VALUE_CHARACTERS],
                ),
            )

    def _shown_identity(self, values: Sequence[str | None]) -> tuple[str | None, str | None]:
        if not values:
            return None, None
        key, sequence = (values[:-1], values[-1]) if self.target.ordering else (values, None)
        return self.show_key(_SEPARATOR.join(value or "" for value in key)), sequence

    def show_key(self, key: str | None) -> str | None:
        """Return a key for people; a classified one is masked."""
        if not key:
            return None
        names = identity_of(self.target)[: -1 if self.target.ordering else None]
        fields = [field for field in self.schema.fields if field.name in names]
        return MASKED_VALUE if any(map(is_classified, fields)) else key.replace(_SEPARATOR, ", ")

    def _described(self, wanted: set[CheckId]) -> Iterator[tuple[CheckId, Rule, Column, Column]]:
        """Yield check, rule, condition and value of each rule on single events of the checks that failed."""
        readable = quoted_col(dict(self.enforcement.layout.inputs)[MALFORMED_COLUMN]).isNull()
        for check, positions in self.rules_by_check.items():
            if check not in wanted:
                continue
            for position in positions:
                rule = self.enforcement.rule_set.rows[position]
                condition = self.enforcement.masks.is_set(position)
                if check is not CheckId.READABLE:
                    condition = readable & condition
                value = F.lit(None) if check is CheckId.READABLE else rule.shown_value
                yield check, rule.definition, condition, F.lit(MASKED_VALUE) if rule.is_secret else value
        for check, (column, requirement) in _FOUND_COLUMNS.items():
            if check in wanted:
                rule_of_check = Rule(check.value, Kind.UNKNOWN_FIELD, "", requirement)
                yield check, rule_of_check, F.col(column).isNotNull(), F.col(column)


def _equals(text: str) -> ColumnFunction:
    return lambda value: value.cast("string") == F.lit(text)
