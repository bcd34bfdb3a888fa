"""Acceptances: people say that a key may resolve although an exception stands; it holds while the claims stay."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.pipeline.layers.reconciliation.columns import FOUND, State
from treaty.pipeline.layers.reconciliation.doubts import EXCEPTIONS
from treaty.spark.columns import PRIVATE, named

_ACCEPTED = f"{PRIVATE}accepted"
_KEY = f"{PRIVATE}accepted_key_"


def with_acceptances(frame: DataFrame, acceptances: DataFrame | None, key: Sequence[str]) -> DataFrame:
    """Return the rows with the state of each exception: open, or accepted by whom and why."""
    if acceptances is None:
        return frame.withColumn(EXCEPTIONS, _stated(None))
    keys = [f"{_KEY}{place}" for place in range(len(key))]
    own = [named(column).alias(name) for column, name in zip(key, keys, strict=True)]
    # the first acceptance stands, so they are compared by when they were given
    one = F.struct("accepted_at", "actor", "reason", "assertion", "claims_digest")
    given = acceptances.groupBy(*own).agg(F.collect_set(one).alias(_ACCEPTED))
    same = F.lit(True)
    for column, name in zip(key, keys, strict=True):
        same = same & (named(column) == named(name))
    joined = frame.join(given, same, "left")
    return joined.withColumn(EXCEPTIONS, _stated(named(_ACCEPTED))).drop(*keys, _ACCEPTED)


def is_open(exceptions: Column) -> Column:
    """Tell whether any exception still stands against the key."""
    return F.coalesce(F.exists(exceptions, lambda one: one["state"] == State.OPEN.value), F.lit(False))


def _stated(accepted: Column | None) -> Column:
    """Return the exceptions with their states."""

    def stated(one: Column) -> Column:
        by = F.lit(None).cast("struct<accepted_at: timestamp, actor: string, reason: string>")
        if accepted is not None:
            by = F.array_min(F.filter(accepted, lambda given: _is_about(given, one)))
        return exception(one, by)

    return F.when(named(EXCEPTIONS).isNotNull(), F.transform(named(EXCEPTIONS), stated))


def _is_about(given: Column, one: Column) -> Column:
    same = (given["assertion"] == one["assertion"]) & (given["claims_digest"] == one["claims_digest"])
    return same & one["can_be_accepted"]


def exception(one: Column, by: Column) -> Column:
    """Return an exception with its state."""
    state = F.when(by.isNull(), F.lit(State.OPEN.value)).otherwise(F.lit(State.ACCEPTED.value))
    more = {"state": state, "accepted_by": by["actor"], "accepted_reason": by["reason"]}
    return F.struct(*[more.get(name, one[name]).alias(name) for name in FOUND])
