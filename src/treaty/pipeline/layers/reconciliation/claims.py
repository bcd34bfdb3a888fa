"""Claims as frames: what each product says, with the key under the contract's names and types."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.sql_quoting import quote_identifier
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.reconciliation.evidence import Repeated, as_json
from treaty.pipeline.layers.reconciliation.subject import Subject
from treaty.pipeline.layers.sql_queries import run_sql
from treaty.pipeline.project.declarations import Claim
from treaty.spark.columns import INTERNAL_PREFIX, quoted_col
from treaty.spark.schema import find_struct_field
from treaty.spark.type_conversion import is_lossless, same_type
from treaty.spark.uniqueness import has_complete_key
from treaty.spark.value_checks import contains_map


@dataclass(frozen=True)
class Spoken:
    """What one claim says: its rows, and whether there is one for each key by construction."""

    claim: Claim
    frame: DataFrame
    columns: spark.StructType
    is_unique: bool

    def find(self, column: str) -> spark.StructField | None:
        """Return a column that the claim has."""
        return find_struct_field(self.columns, column)


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
        quoted_col(item.name).cast(subject.type_of(column))
        for item, column in zip(found, subject.key, strict=True)
        if item is not None
    ]


def without_key(subject: Subject, claims: Mapping[str, Spoken]) -> DataFrame:
    """Count, for each claim, the rows that have no key and so speak about nothing."""
    counts = []
    for name, said in claims.items():
        own = [item.name for column in subject.key if (item := said.find(column))]
        lacking = said.frame.where(~has_complete_key(own))
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
    if not (same_type(found.dataType, want) or is_lossless(found.dataType, want)):
        have = found.dataType.simpleString()
        raise subject.wrong(
            f"{claim} has {column!r} as {have}, and the key is {want.simpleString()}; cast it in the claim's sql"
        )


_KEY = f"{INTERNAL_PREFIX}key_"
_NOTHING = f"{INTERNAL_PREFIX}speaks"


def repeated(number: int) -> Repeated:
    """Name the columns of the claim at this place."""
    return Repeated(*(f"{INTERNAL_PREFIX}{part}_{number}" for part in ("rows", "least", "content")))


def joined(subject: Subject, claims: Mapping[str, Spoken], used: Mapping[str, Sequence[str]]) -> DataFrame:
    """Return a row for each key with the columns that are used of each claim; rows without a key are left out."""
    keys = [f"{_KEY}{place}" for place in range(len(subject.key))]
    frames = [
        _one_for_each_key(number, _keyed(subject, said, keys, used[name]), keys)
        for number, (name, said) in enumerate(claims.items())
    ]
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.join(frame, keys, "full")
    own = [quoted_col(key).alias(column) for key, column in zip(keys, subject.key, strict=True)]
    return whole.select(*own, *[quoted_col(name) for name in whole.columns if name not in keys])


@dataclass(frozen=True)
class _Keyed:
    """A claim's rows as a key and a structure."""

    said: Spoken
    frame: DataFrame

    @property
    def name(self) -> str:
        return self.said.claim.name


def _keyed(subject: Subject, said: Spoken, keys: Sequence[str], used: Sequence[str]) -> _Keyed:
    own = [value.alias(key) for value, key in zip(key_values(subject, said), keys, strict=True)]
    # a claim that is there but has nothing to say must not look like one that is not
    parts = [quoted_col(name) for name in used] or [F.lit(True).alias(_NOTHING)]
    frame = said.frame.select(*own, F.struct(*parts).alias(said.claim.name)).dropna("any", subset=list(keys))
    return _Keyed(said, frame)


def _one_for_each_key(number: int, claim: _Keyed, keys: Sequence[str]) -> DataFrame:
    """Return one row for each key; of several, the greatest speaks, whatever order they come in."""
    if claim.said.is_unique:
        return claim.frame
    names, value = repeated(number), quoted_col(claim.name)
    # maps have no order and no hash of their own
    order = (
        F.expr(as_json(quote_identifier(claim.name)))
        if contains_map(claim.frame.schema[claim.name].dataType)
        else value
    )
    return claim.frame.groupBy(*map(quoted_col, keys)).agg(
        F.max_by(value, order).alias(claim.name),
        F.count(F.lit(1)).alias(names.rows),
        F.min_by(value, order).alias(names.least),
        F.sum(F.xxhash64(order).cast("decimal(20,0)")).alias(names.content),
    )
