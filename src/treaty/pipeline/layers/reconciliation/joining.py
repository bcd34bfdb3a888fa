"""Claims beside each other: one row for each key that any claim speaks about, and each claim a structure in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.pipeline.layers.reconciliation.claiming import Spoken, key_values
from treaty.pipeline.layers.reconciliation.showing import Repeated, as_json
from treaty.pipeline.layers.reconciliation.subjects import Subject
from treaty.spark.columns import PRIVATE, named
from treaty.spark.guarded_sql.escaping import name_sql
from treaty.spark.value_checks import holds_maps

_KEY = f"{PRIVATE}key_"
_NOTHING = f"{PRIVATE}speaks"


def repeated(number: int) -> Repeated:
    """Name the columns of the claim at this place."""
    return Repeated(*(f"{PRIVATE}{part}_{number}" for part in ("rows", "least", "content")))


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
    own = [named(key).alias(column) for key, column in zip(keys, subject.key, strict=True)]
    return whole.select(*own, *[named(name) for name in whole.columns if name not in keys])


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
    parts = [named(name) for name in used] or [F.lit(True).alias(_NOTHING)]
    frame = said.frame.select(*own, F.struct(*parts).alias(said.claim.name)).dropna("any", subset=list(keys))
    return _Keyed(said, frame)


def _one_for_each_key(number: int, claim: _Keyed, keys: Sequence[str]) -> DataFrame:
    """Return one row for each key; of several, the greatest speaks, whatever order they come in."""
    if claim.said.is_unique:
        return claim.frame
    names, value = repeated(number), named(claim.name)
    # maps have no order and no hash of their own
    order = F.expr(as_json(name_sql(claim.name))) if holds_maps(claim.frame.schema[claim.name].dataType) else value
    return claim.frame.groupBy(*map(named, keys)).agg(
        F.max_by(value, order).alias(claim.name),
        F.count(F.lit(1)).alias(names.rows),
        F.min_by(value, order).alias(names.least),
        F.sum(F.xxhash64(order).cast("decimal(20,0)")).alias(names.content),
    )
