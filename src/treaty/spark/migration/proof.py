"""Prove a migration path: apply its shims to rows in both directions, and count the differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.compatibility.migration import (
    Fidelity,
    MigrationDirection,
    MigrationPath,
    ObjectPath,
    Shim,
    Step,
    projection,
)
from treaty.compatibility.migration.proof import FieldProof, Proof, Rows, ShimProof, shims_digest
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.errors import InvalidDocument
from treaty.spark import enforce
from treaty.spark.columns import quoted_col
from treaty.spark.migration.generated_rows import generate_rows, row_schema
from treaty.spark.schema import column_name
from treaty.spark.value_checks import contains_map

ReportStep = Callable[[str], None]


@dataclass(frozen=True)
class GivenRows:
    """Rows of a line given by the user, and the name of their source."""

    frame: DataFrame
    name: str


@dataclass(frozen=True)
class _Line:
    contract: Contract
    schema: SchemaObject


def prove(
    spark: SparkSession,
    path: MigrationPath,
    now: datetime,
    *,
    given: Mapping[MigrationDirection, GivenRows] | None = None,
    rows: int = 500,
    report: ReportStep = lambda step: None,
) -> Proof:
    """Apply every shim both ways, enforce the target contract on the result, and compare rows that return.

    `given` are the rows to convert, by direction: rows of the new line for the way back, rows of the old line for the
    way forward. Missing rows are generated from the contract. Rows that violate their own contract are left out.
    """
    if given and len(path.objects) != 1:
        raise InvalidDocument(
            "rows can be given only for a contract with one object; this one is proven on generated rows"
        )
    proofs: list[ShimProof] = []
    for object_path in path.objects:
        proofs += _ObjectProof(spark, path, object_path, given or {}, rows, report).proofs()
    return Proof(path.before, path.after, now, tuple(proofs), shims_digest(path))


class _ObjectProof:
    """Proves one object of a migration path."""

    def __init__(
        self,
        spark: SparkSession,
        path: MigrationPath,
        object_path: ObjectPath,
        given: Mapping[MigrationDirection, GivenRows],
        rows: int,
        report: ReportStep,
    ) -> None:
        self.spark = spark
        self.given = given
        self.row_count = rows
        self.report = report
        old, new = _Line(path.before, object_path.before), _Line(path.after, object_path.after)
        self.ends = {MigrationDirection.BACK: (new, old), MigrationDirection.FORWARD: (old, new)}
        self.shims = {MigrationDirection.BACK: object_path.back, MigrationDirection.FORWARD: object_path.forward}

    def proofs(self) -> tuple[ShimProof, ...]:
        """Convert rows both ways; count violations of the result and differences after the round trip."""
        runs = {
            way: self._run(way)
            for way in (MigrationDirection.BACK, MigrationDirection.FORWARD)
            if not self.shims[way].blocked
        }
        return tuple(self._proof(way, runs) for way in (MigrationDirection.BACK, MigrationDirection.FORWARD))

    def _run(self, way: MigrationDirection) -> _Run:
        source, target = self.ends[way]
        rows, origin = self._rows(way, source)
        valid_rows = enforce(rows, source.contract, object_name=source.schema.name).valid.persist()
        try:
            self.report(f"converting rows: {way.meaning}")
            converted = apply_shim(valid_rows, self.shims[way])
            measures = enforce(converted, target.contract, object_name=target.schema.name).measures()
            violations: Counter[str] = Counter()
            for result in measures.results:
                if result.violating_rows:
                    violations[result.rule.field or ""] += result.violating_rows
            returned = {}
            other = self.shims[_other(way)]
            if not other.blocked:
                self.report(f"comparing rows after the round trip of {source.contract.id} {source.contract.version}")
                returned = count_differences(valid_rows, self.shims[way], other)
            counted = Rows(
                f"{source.contract.id} {source.contract.version}",
                origin,
                rows.count() if way in self.given else self.generated_rows,
                measures.rows,
            )
            return _Run(counted, measures.valid, violations, returned)
        finally:
            valid_rows.unpersist()

    def _rows(self, way: MigrationDirection, source: _Line) -> tuple[DataFrame, str]:
        if way in self.given:
            return self.given[way].frame, self.given[way].name
        self.report(f"generating rows of {source.contract.id} {source.contract.version}")
        generated = generate_rows(source.schema, self.row_count, f"{source.contract.id}@{source.contract.version}")
        self.generated_rows = len(generated)
        return self.spark.createDataFrame(generated, row_schema(source.schema)), "generated from the contract"

    def _proof(self, way: MigrationDirection, runs: Mapping[MigrationDirection, _Run]) -> ShimProof:
        shim, run = self.shims[way], runs.get(way)
        there = runs.get(_other(way))
        fields = []
        for step in shim.walk():
            if step.inside:
                continue
            name, own = str(step.target), str(FieldPath(step.target.steps))
            back = None if there is None else there.returned.get(own)
            fields.append(
                FieldProof(
                    name,
                    step.fidelity,
                    step.reason or None,
                    None if run is None else run.violations.get(own, 0),
                    back,
                    back is not None and must_round_trip(step, shim, self.shims[_other(way)]),
                )
            )
        blocked = tuple(str(step.target) for step in shim.blocked)
        name = shim.target.name
        if run is None:
            return ShimProof(way, name, None, None, 0, blocked, tuple(fields))
        return ShimProof(way, name, run.rows, run.conforming, run.violations.get("", 0), blocked, tuple(fields))


@dataclass(frozen=True)
class _Run:
    """The result of converting rows one way."""

    rows: Rows
    conforming: int
    violations: Mapping[str, int]
    returned: Mapping[str, int]


def _other(way: MigrationDirection) -> MigrationDirection:
    return MigrationDirection.FORWARD if way is MigrationDirection.BACK else MigrationDirection.BACK


_SENT = "__treaty_sent"


def count_differences(frame: DataFrame, there: Shim, back: Shim) -> dict[str, int]:
    """Send rows through one shim and back through the other; count the differing rows by field."""
    sent = F.struct(*map(quoted_col, frame.columns)).alias(_SENT)
    middle = frame.select("*", sent).selectExpr(*projection(there), _SENT)
    returned = middle.selectExpr(*projection(back), _SENT)
    apply_shim(frame, there)  # raises a clear error if Spark rejects the shim
    fields = list(_comparable(there.source.fields, FieldPath(), frame.schema))
    if not fields:
        return {}
    counts = [
        F.count_if(~_same(_at(quoted_col(names[0]), names[1:]), _at(quoted_col(_SENT), names), kind)).alias(f"c{place}")
        for place, (_, names, kind) in enumerate(fields)
    ]
    row = returned.agg(*counts).first()
    return {path: int(row[place]) for place, (path, _, _) in enumerate(fields)} if row is not None else {}


def must_round_trip(step: Step, back: Shim, there: Shim) -> bool:
    """Whether a field must survive the round trip: it is exact and made only from exact fields.

    A field in a list or map is compared with the entire list or map, so all of it must be exact.
    """
    together = [other for other in back.walk() if not other.inside and _container(step).covers(other.target)]
    return all(
        other.fidelity is Fidelity.EXACT and other.sources and all(_is_exact(source, there) for source in other.sources)
        for other in together
    )


def _container(step: Step) -> FieldPath:
    """Return the path that a field is compared at: its own, or that of the outermost list or map around it."""
    steps = step.target.steps
    marks = [index for index, part in enumerate(steps) if part.is_mark]
    return FieldPath(steps[: marks[0]], step.target.object) if marks else step.target


def _is_exact(path: FieldPath, shim: Shim) -> bool:
    """Whether all of a field was converted exactly."""
    touching = [
        step for step in shim.walk() if not step.inside and (path.covers(step.target) or step.target.covers(path))
    ]
    return bool(touching) and all(step.fidelity is Fidelity.EXACT for step in touching)


def _comparable(
    fields: tuple[Field, ...], parent: FieldPath, schema: spark.StructType, above: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...], spark.DataType]]:
    """Yield every field that can be compared; lists and maps are compared entirely, under each of their leaves."""
    kinds = {column.name: column.dataType for column in schema.fields}
    for field in fields:
        name, path = column_name(field), parent.field(field.name or "")
        kind = kinds.get(name)
        if kind is None:
            continue
        if isinstance(kind, spark.StructType) and field.properties:
            yield from _comparable(field.properties, path, kind, (*above, name))
        else:
            yield from ((str(leaf), (*above, name), kind) for leaf in _leaves(field, path))


def _leaves(field: Field, path: FieldPath) -> Iterator[FieldPath]:
    inside = [(path.field(child.name or ""), child) for child in field.properties or ()]
    inside += [(path.into(mark), child) for mark, child in field.children]
    if not inside:
        yield path
    for at, child in inside:
        yield from _leaves(child, at)


def _at(column: Column, names: tuple[str, ...]) -> Column:
    for name in names:
        column = column.getField(name)
    return column


def _same(left: Column, right: Column, kind: spark.DataType) -> Column:
    """Compare two values, with null equal to null; maps are compared as JSON."""
    if contains_map(kind):
        return F.to_json(F.struct(left.alias("v"))).eqNullSafe(F.to_json(F.struct(right.alias("v"))))
    return left.eqNullSafe(right)


def apply_shim(frame: DataFrame, shim: Shim) -> DataFrame:
    """Return rows of one line in the shape of the other, lazily."""
    try:
        return frame.selectExpr(*projection(shim))
    except PySparkException as error:
        reason = str(error).splitlines()[0]
        raise InvalidDocument(f"Spark cannot compute {shim.way.meaning}: {reason}") from None
