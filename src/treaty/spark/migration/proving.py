"""Running the shims of a path on rows, there and back, and counting what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import DataFrame, SparkSession

from treaty.compatibility.migration import MigrationPath, ObjectPath, Way
from treaty.compatibility.migration.proof import FieldProof, Proof, Rows, ShimProof, shims_digest
from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.errors import InvalidDocument
from treaty.spark import enforce
from treaty.spark.migration.returning import differences, must_return
from treaty.spark.migration.rows import rows_of, schema_of
from treaty.spark.migration.serving import served

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Given:
    """Rows of a line that somebody gave, and what they are called."""

    frame: DataFrame
    name: str


@dataclass(frozen=True)
class _Line:
    contract: Contract
    item: SchemaObject


def prove(
    spark: SparkSession,
    path: MigrationPath,
    now: datetime,
    *,
    given: Mapping[Way, Given] | None = None,
    rows: int = 500,
    tell: Tell = lambda said: None,
) -> Proof:
    """Run every shim both ways: the result is held to its contract, and rows that return are compared.

    `given` are rows to serve a way from: those of the new line for the way back, those of the old one for the way
    forward. Where none are given they are made from the contract. Rows that break their own contract are left out.
    """
    if given and len(path.objects) != 1:
        raise InvalidDocument(
            "rows can be given for a contract with one object; this one is proven on rows made for it"
        )
    proofs: list[ShimProof] = []
    for item in path.objects:
        proofs += _Proving(spark, path, item, given or {}, rows, tell).proofs()
    return Proof(path.before, path.after, now, tuple(proofs), shims_digest(path))


class _Proving:
    """Proves one object of a path."""

    def __init__(
        self,
        spark: SparkSession,
        path: MigrationPath,
        item: ObjectPath,
        given: Mapping[Way, Given],
        rows: int,
        tell: Tell,
    ) -> None:
        self.spark = spark
        self.item = item
        self.given = given
        self.wanted = rows
        self.tell = tell
        old, new = _Line(path.before, item.before), _Line(path.after, item.after)
        self.ends = {Way.BACK: (new, old), Way.FORWARD: (old, new)}
        self.shims = {Way.BACK: item.back, Way.FORWARD: item.forward}

    def proofs(self) -> tuple[ShimProof, ...]:
        """Serve both ways; what a way serves is broken or not, what returns by it differs or not."""
        runs = {way: self._run(way) for way in (Way.BACK, Way.FORWARD) if not self.shims[way].blocked}
        return tuple(self._proof(way, runs) for way in (Way.BACK, Way.FORWARD))

    def _run(self, way: Way) -> _Run:
        source, target = self.ends[way]
        rows, origin = self._rows(way, source)
        kept = enforce(rows, source.contract, object_name=source.item.name).valid.persist()
        try:
            self.tell(f"serving {way.meaning}")
            made = served(kept, self.shims[way])
            found = enforce(made, target.contract, object_name=target.item.name).measures()
            broken: Counter[str] = Counter()
            for one in found.results:
                if one.broken:
                    broken[one.rule.field or ""] += one.broken
            returned = {}
            other = self.shims[_other(way)]
            if not other.blocked:
                self.tell(f"comparing what returned of {source.contract.id} {source.contract.version}")
                returned = differences(kept, self.shims[way], other)
            counted = Rows(
                f"{source.contract.id} {source.contract.version}",
                origin,
                rows.count() if way in self.given else self.made,
                found.rows,
            )
            return _Run(counted, found.valid, broken, returned)
        finally:
            kept.unpersist()

    def _rows(self, way: Way, source: _Line) -> tuple[DataFrame, str]:
        if way in self.given:
            return self.given[way].frame, self.given[way].name
        self.tell(f"making rows of {source.contract.id} {source.contract.version}")
        made = rows_of(source.item, self.wanted, f"{source.contract.id}@{source.contract.version}")
        self.made = len(made)
        return self.spark.createDataFrame(made, schema_of(source.item)), "made from the contract"

    def _proof(self, way: Way, runs: Mapping[Way, _Run]) -> ShimProof:
        shim, run = self.shims[way], runs.get(way)
        there = runs.get(_other(way))
        fields = []
        for step in (one for one in shim.walk() if not one.inside):
            name, own = str(step.target), str(FieldPath(step.target.steps))
            back = None if there is None else there.returned.get(own)
            fields.append(
                FieldProof(
                    name,
                    step.fidelity,
                    step.reason or None,
                    None if run is None else run.broken.get(own, 0),
                    back,
                    back is not None and must_return(step, shim, self.shims[_other(way)]),
                )
            )
        blocked = tuple(str(step.target) for step in shim.blocked)
        name = shim.target.name
        if run is None:
            return ShimProof(way, name, None, None, 0, blocked, tuple(fields))
        return ShimProof(way, name, run.rows, run.conforming, run.broken.get("", 0), blocked, tuple(fields))


@dataclass(frozen=True)
class _Run:
    """What serving one way came to."""

    rows: Rows
    conforming: int
    broken: Mapping[str, int]
    returned: Mapping[str, int]


def _other(way: Way) -> Way:
    return Way.FORWARD if way is Way.BACK else Way.BACK
