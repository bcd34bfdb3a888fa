"""The rows of a product: one for each key, from the standing events of that key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.contracts.model import Contract
from treaty.pipeline.layers.events import event_table as of_events
from treaty.pipeline.layers.keys import beside_keys
from treaty.pipeline.layers.products.late_events import Told, history_of, latest_rows
from treaty.pipeline.layers.products.product_table import (
    COUNTS,
    GIVEN,
    OUTCOME,
    Outcome,
    contract_columns,
    key_columns,
    product_columns,
)
from treaty.pipeline.layers.sql_queries import run_sql
from treaty.pipeline.project.declarations import Product
from treaty.spark.columns import VIOLATIONS_COLUMN, quoted_col
from treaty.spark.enforcement import enforce
from treaty.spark.rules import Policy, Scope
from treaty.spark.uniqueness import has_complete_key
from treaty.spark.violations import violations_column


def build_product(
    inputs: Mapping[str, DataFrame],
    product: Product,
    contract: Contract,
    sources: Mapping[str, Contract],
    keys: Mapping[str, Sequence[str]] | None = None,
    sequences: Mapping[str, DataFrame] | None = None,
) -> DataFrame:
    """Return the rows of the keys whose standing events are given, held to the contract of the product.

    `sources` are the contracts of the events, `keys` the columns of each source that hold the product's key, where
    they are not named like it, `sequences` the standing events of sources along with those of other keys that share a
    sequence with them. Every row has a whole key: a row without one belongs to nothing.
    """
    key = key_columns(contract)
    product_columns(contract)  # refuses names that are taken
    rows = _judged(_derived(inputs, product, contract, sources), contract, key)
    told = [
        Told(name, (sequences or inputs).get(name, inputs[name]), sources[name], tuple(columns))
        for name in product.sources
        if (columns := _key_in(inputs[name], (keys or {}).get(name, key)))
    ]
    if len(told) < len(product.sources):
        return rows.select("*", *[F.lit(None).cast("bigint").alias(name) for name in COUNTS])
    return beside_keys(rows, history_of(told, key), key)


def _derived(
    inputs: Mapping[str, DataFrame], product: Product, contract: Contract, sources: Mapping[str, Contract]
) -> DataFrame:
    if product.sql is None:
        name = product.sources[0]
        return latest_rows(inputs[name], product, contract, sources[name])
    shown = {name: _shown(frame, is_source=name in product.sources) for name, frame in inputs.items()}
    return run_sql(next(iter(inputs.values())).sparkSession, product.sql, shown)


def _shown(frame: DataFrame, *, is_source: bool) -> DataFrame:
    """Return what SQL sees of an input: the fields of its contract, and of events when they arrived."""
    if not is_source:
        return frame.select(*map(quoted_col, contract_columns(frame.columns)))
    return frame.select(*map(quoted_col, [*of_events.contract_columns(frame.columns), of_events.ARRIVED_AT]))


def _judged(rows: DataFrame, contract: Contract, key: Sequence[str]) -> DataFrame:
    held = enforce(rows, contract, policy=Policy(scope=Scope.ROWS))
    stays = held.stays
    fields = [
        quoted_col(name) if name in key else F.when(stays, quoted_col(name)).alias(name) for name in held.prepared.typed
    ]
    outcome = F.when(stays, F.lit(Outcome.VALID.value)).otherwise(F.lit(Outcome.QUARANTINED.value))
    judged = held.judged.select(
        *fields,
        outcome.alias(OUTCOME),
        F.when(~stays, violations_column(list(held.reasons()), held.origin)).alias(VIOLATIONS_COLUMN),
        F.when(~stays, F.to_json(F.struct(*held.prepared.given_back()))).alias(GIVEN),
    )
    return judged.where(has_complete_key(key))


def _key_in(events: DataFrame, columns: Sequence[str]) -> Sequence[str]:
    return columns if set(columns) <= set(events.columns) else ()
