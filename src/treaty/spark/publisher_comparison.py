"""Compare two publishers on Spark: the events of each key side by side, and the distributions of optional fields."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Contract
from treaty.events.certification import Certification
from treaty.events.checks import identity_of
from treaty.events.comparison import Comparison, Difference, DifferenceKind, Side, distributions_differ
from treaty.events.event_times import event_time_field
from treaty.spark.certification import published_events
from treaty.spark.checked_events import EVENT, KEY, CheckedEvents
from treaty.spark.columns import evaluate_once
from treaty.spark.event_records import Records
from treaty.spark.field_paths import ReachedField, reached_fields
from treaty.spark.readers.read_errors import explain_errors
from treaty.spark.schema import is_classified
from treaty.spark.stream_rules import StreamRules
from treaty.spark.value_checks import contains_map
from treaty.spark.violations import MASKED_VALUE

_BUCKETS = 16
_FACTS = "facts"
_MAX_VALUE_CHARACTERS = 200


@dataclass(frozen=True)
class _ComparedType:
    """The events of one contract of one publisher, with their facts and optional fields."""

    checked: CheckedEvents

    @property
    def _leaves(self) -> Iterator[tuple[ReachedField, bool]]:
        """Yield the fields without fields inside, outside of lists and maps, and whether an event must have them."""
        frame = self.checked.enforcement.masked
        typed = frame.select(*self.checked.enforcement.layout.typed).schema
        needed: dict[tuple[str, ...], bool] = {(): True}
        for one in reached_fields(self.checked.schema.fields, typed):
            needed[one.names] = one.field.is_required and needed.get(one.names[:-1], False)
            if not one.is_repeated and not one.field.properties and not contains_map(one.kind):
                yield one, needed[one.names]

    @property
    def facts(self) -> list[ReachedField]:
        """The required fields that the contract does not leave open."""
        time = event_time_field(self.checked.contract)
        left_open = {time.name if time else None, *identity_of(self.checked.target)}
        return [one for one, required in self._leaves if required and one.names[0] not in left_open]

    @property
    def optional(self) -> list[ReachedField]:
        """The optional fields."""
        return [one for one, required in self._leaves if not required]

    def with_facts(self, rules: StreamRules) -> DataFrame:
        """Return the key of each event, its struct for the fold, with a hash of each fact."""
        hashes = [one.any_value(F.xxhash64) for one in self.facts]
        facts = F.array(*hashes) if hashes else F.array().cast("array<bigint>")
        frame = self.checked.with_events(rules, facts.alias(_FACTS))
        return frame.where(F.col(KEY).isNotNull()).select(
            KEY, F.col(EVENT).withField(_FACTS, F.col(_FACTS)).alias(EVENT)
        )

    def buckets(self, side: int) -> DataFrame | None:
        """Return the bucket of each optional field of each event; events without the field are in the bucket -1."""
        if not self.optional:
            return None
        values = [
            F.coalesce(one.any_value(_bucket), F.lit(-1)).cast("int").alias(str(place))
            for place, one in enumerate(self.optional)
        ]
        code = F.lit(self.checked.code).alias("code")
        fields = F.posexplode(F.array(*values)).alias("field", "bucket")
        return self.checked.enforcement.masked.select(F.lit(side).alias("side"), code, fields)

    def value_of(self, key: str, sequence: str | None, fact: ReachedField) -> str | None:
        """Return the value of a fact of one event, for people."""
        if is_classified(fact.field):
            return MASKED_VALUE
        frame = self.checked.rows_of(key, sequence)
        shown = fact.any_value(lambda value: F.to_json(F.struct(value.alias("value"))))
        row = frame.select(F.get_json_object(shown, "$.value").alias("value")).first()
        return None if row is None or row["value"] is None else str(row["value"])[:_MAX_VALUE_CHARACTERS]


def _bucket(value: Column) -> Column:
    return F.when(value.isNotNull(), F.pmod(F.xxhash64(value), F.lit(_BUCKETS)))


@dataclass(frozen=True)
class _ComparedGroup:
    """The types that share keys, of both publishers."""

    rules: StreamRules
    left: Sequence[_ComparedType]
    right: Sequence[_ComparedType]

    def differences(self) -> Iterator[Difference]:
        """Yield how the publishers differ: by keys, the most frequent first, then by distributions."""
        rows = self._different_keys().collect()
        for row in sorted(rows, key=lambda row: (-row["keys"], row["first"]["key"])):
            yield self._described(row)
        counts = self._bucket_counts()
        for one in self.left:
            yield from _distributions(one, counts)

    def _bucket_counts(self) -> dict[tuple[int, int, int], dict[int, int]]:
        """Return the number of events by bucket, for each side, contract and optional field, in one job."""
        parts = [one.buckets(side) for side, types in enumerate((self.left, self.right)) for one in types]
        rows = [part for part in parts if part is not None]
        found: dict[tuple[int, int, int], dict[int, int]] = defaultdict(dict)
        if rows:
            counted = reduce(DataFrame.unionByName, rows).groupBy("side", "code", "field", "bucket").count()
            for row in counted.collect():
                found[row["side"], row["code"], row["field"]][row["bucket"]] = row["count"]
        return found

    def _keys(self, types: Sequence[_ComparedType], side: str) -> DataFrame:
        rows = reduce(DataFrame.unionByName, [one.with_facts(self.rules) for one in types])
        kind = rows.schema[EVENT].dataType
        assert isinstance(kind, spark.StructType)  # noqa: S101  built above
        keys = rows.groupBy(KEY).agg(F.array_sort(F.collect_list(EVENT)).alias("all"))
        folded = keys.select(KEY, "all", self.rules.fold("all", kind).alias("fold"))
        single = F.filter(
            F.col("all"),
            lambda one, place: (place == F.lit(0)) | ~_is_repeat(one, F.get(F.col("all"), place - F.lit(1))),
        )
        events = F.transform(
            single,
            lambda one: F.struct(
                one["o"]["type"].alias("type"),
                one["o"]["sequence"].cast("string").alias("sequence"),
                one[_FACTS].alias(_FACTS),
            ),
        )
        return folded.select(
            F.col(KEY).alias(f"{side}_key"),
            evaluate_once(events).alias(side),
            F.col("fold.state").alias(f"{side}_state"),
        )

    def _different_keys(self) -> DataFrame:
        left, right = self._keys(self.left, "l"), self._keys(self.right, "r")
        both = left.join(right, F.col("l_key") == F.col("r_key"), "full")
        same = F.expr("zip_with(l, r, (x, y) -> x.type <=> y.type AND x.facts <=> y.facts)")
        place = F.array_position(same, F.lit(False)).cast("int")
        placed = both.withColumn("place", evaluate_once(place))
        at = placed.select("*", F.expr("get(l, place - 1)").alias("x"), F.expr("get(r, place - 1)").alias("y"))
        field = F.expr("array_position(zip_with(x.facts, y.facts, (a, b) -> a <=> b), false)").cast("int")
        kind = (
            F.when(F.col("r_key").isNull(), F.lit(DifferenceKind.KEY_MISSING.value))
            .when(F.col("l_key").isNull(), F.lit(DifferenceKind.KEY_EXTRA.value))
            .when(
                F.col("place") == F.lit(0),
                F.when(~F.col("l_state").eqNullSafe(F.col("r_state")), F.lit(DifferenceKind.STATE.value)),
            )
            .when(F.col("y").isNull(), F.lit(DifferenceKind.EVENT_MISSING.value))
            .when(F.col("x").isNull(), F.lit(DifferenceKind.EVENT_EXTRA.value))
            .when(F.col("x.type") != F.col("y.type"), F.lit(DifferenceKind.EVENT_TYPE.value))
            .otherwise(F.lit(DifferenceKind.FIELD.value))
        )
        described = at.select(
            kind.alias("kind"),
            F.col("x.type").alias("left_type"),
            F.col("y.type").alias("right_type"),
            F.when(kind == F.lit(DifferenceKind.FIELD.value), field).alias("field"),
            F.struct(
                F.coalesce("l_key", "r_key").alias("key"),
                F.col("place"),
                F.col("x.sequence").alias("left_sequence"),
                F.col("y.sequence").alias("right_sequence"),
                F.col("l_state").alias("left_state"),
                F.col("r_state").alias("right_state"),
            ).alias("at"),
        )
        return (
            described.where(F.col("kind").isNotNull())
            .groupBy("kind", "left_type", "right_type", "field")
            .agg(F.count(F.lit(1)).alias("keys"), F.min("at").alias("first"))
        )

    def _described(self, row: Row) -> Difference:
        kind, first = DifferenceKind(row["kind"]), row["first"]
        types = [None if code is None else self.rules.types[code] for code in (row["left_type"], row["right_type"])]
        left, right, field = types[0], types[1], None
        name = types[0] or types[1]
        shown = self._find(self.left, name) if name else self.left[0]
        if kind is DifferenceKind.STATE:
            left, right = (self._state(first[f"{side}_state"]) for side in ("left", "right"))
        if kind is DifferenceKind.FIELD and name is not None:
            fact = shown.facts[row["field"] - 1]
            field = fact.path
            left = shown.value_of(first["key"], first["left_sequence"], fact)
            right = self._find(self.right, name).value_of(first["key"], first["right_sequence"], fact)
        position = first["place"] or None
        return Difference(
            kind,
            row["keys"],
            _MESSAGES[kind],
            name if kind is not DifferenceKind.STATE else None,
            field,
            shown.checked.show_key(first["key"]),
            position if kind not in (DifferenceKind.KEY_MISSING, DifferenceKind.KEY_EXTRA) else None,
            left,
            right,
        )

    def _state(self, code: int) -> str:
        return self.rules.states[code] if code >= 0 else "none"

    @staticmethod
    def _find(types: Sequence[_ComparedType], name: str) -> _ComparedType:
        return next(one for one in types if one.checked.name == name)


_MESSAGES = {
    DifferenceKind.KEY_MISSING: "only the first publisher has the key",
    DifferenceKind.KEY_EXTRA: "only the second publisher has the key",
    DifferenceKind.EVENT_MISSING: "only the first publisher has the event",
    DifferenceKind.EVENT_EXTRA: "only the second publisher has the event",
    DifferenceKind.EVENT_TYPE: "the events have different types",
    DifferenceKind.FIELD: "the values differ",
    DifferenceKind.STATE: "the key ends in different states",
    DifferenceKind.DISTRIBUTION: "the distributions differ",
}


def _is_repeat(one: Column, before: Column) -> Column:
    same_sequence = one["o"]["sequence"].eqNullSafe(before["o"]["sequence"])
    return same_sequence & (one["o"]["type"] == before["o"]["type"])


def _distributions(
    left: _ComparedType, counts: Mapping[tuple[int, int, int], Mapping[int, int]]
) -> Iterator[Difference]:
    """Yield the optional fields whose presence or values are distributed differently."""
    for place, one in enumerate(left.optional):
        sides = [counts.get((side, left.checked.code, place), {}) for side in (0, 1)]
        samples = [[side.get(bucket, 0) for bucket in range(-1, _BUCKETS)] for side in sides]
        if not all(map(sum, samples)) or not distributions_differ(*samples):
            continue
        shares = [f"{100 * (1 - sample[0] / sum(sample)):.1f} % have it" for sample in samples]
        yield Difference(
            DifferenceKind.DISTRIBUTION,
            1,
            _MESSAGES[DifferenceKind.DISTRIBUTION],
            left.checked.name,
            one.path,
            left=shares[0],
            right=shares[1],
        )


def compare_publishers(
    left: Records, right: Records, contracts: Sequence[Contract], names: tuple[str, str], compared_at: datetime
) -> Comparison:
    """Certify two publishers and compare the events of each key."""
    events = [published_events(records, contracts, compared_at) for records in (left, right)]
    sides = [one.certify(name, compared_at) for one, name in zip(events, names, strict=True)]
    differences: list[Difference] = []
    with explain_errors(f"{left.transport.source} and {right.transport.source}"):
        for one, other in zip(events[0].groups, events[1].groups, strict=True):
            compared = _ComparedGroup(
                one.rules, [_ComparedType(each) for each in one.types], [_ComparedType(each) for each in other.types]
            )
            differences += compared.differences()
    versions = tuple(f"{contract.id} {contract.version}" for contract in contracts)
    return Comparison(_side(sides[0]), _side(sides[1]), versions, compared_at, tuple(differences))


def _side(found: Certification) -> Side:
    failed = tuple(result.id.value for result in found.failures)
    return Side(found.publisher, found.evidence.source, found.evidence.events, found.evidence.keys, failed)
