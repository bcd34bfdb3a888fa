"""Claims as frames: what each product says, with the key under the contract's names and types."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.errors import InvalidDocument
from treaty.pipeline.declarations import Claim
from treaty.pipeline.layers.querying import run_sql
from treaty.pipeline.layers.reconciliation.subjects import Subject
from treaty.spark.columns import named
from treaty.spark.schema import child_of
from treaty.spark.type_conversion import always_fits, same_type
from treaty.spark.uniqueness import is_whole


@dataclass(frozen=True)
class Spoken:
    """What one claim says: its rows, and whether there is one for each key by construction."""

    claim: Claim
    frame: DataFrame
    columns: spark.StructType
    is_unique: bool

    def find(self, column: str) -> spark.StructField | None:
        """Return a column that the claim has."""
        return child_of(self.columns, column)


def spoken(subject: Subject, rows: Mapping[str, DataFrame], unique: Collection[str]) -> dict[str, Spoken]:
    """Return what each claim says; its SQL is asked, and its key is checked."""
    found = {}
    for claim in subject.declared.claims:
        if claim.name not in rows:
            raise InvalidDocument(f"claim {claim.name!r} of {subject.declared.name} has no rows to speak from")
        frame = rows[claim.name]
        if claim.sql is not None:
            frame = run_sql(frame.sparkSession, claim.sql, {claim.product: frame})
        said = Spoken(claim, frame, frame.schema, claim.name in unique)
        for column in subject.key:
            _check_key(subject, said, column)
        found[claim.name] = said
    return found


def key_values(subject: Subject, said: Spoken) -> list[Column]:
    """Return the key of a claim's rows, in the contract's types."""
    found = [said.find(column) for column in subject.key]
    return [
        named(item.name).cast(subject.type_of(column))
        for item, column in zip(found, subject.key, strict=True)
        if item is not None
    ]


def without_key(subject: Subject, claims: Mapping[str, Spoken]) -> DataFrame:
    """Count, for each claim, the rows that have no key and so speak about nothing."""
    counts = []
    for name, said in claims.items():
        own = [item.name for column in subject.key if (item := said.find(column))]
        lacking = said.frame.where(~is_whole(own))
        counts.append(lacking.agg(F.count(F.lit(1)).alias("rows")).select(F.lit(name).alias("claim"), F.col("rows")))
    whole = counts[0]
    for one in counts[1:]:
        whole = whole.unionByName(one)
    return whole


def _check_key(subject: Subject, said: Spoken, column: str) -> None:
    found, want = said.find(column), subject.type_of(column)
    claim = f"claim {said.claim.name!r}"
    if found is None:
        has = ", ".join(said.columns.names)
        raise subject.wrong(f"{claim} has no column {column!r}, which is of the key; it has: {has}")
    if not (same_type(found.dataType, want) or always_fits(found.dataType, want)):
        have = found.dataType.simpleString()
        raise subject.wrong(
            f"{claim} has {column!r} as {have}, and the key is {want.simpleString()}; cast it in the claim's sql"
        )
