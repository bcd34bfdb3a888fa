"""The rows of a product: one for each key, from the accepted events of that key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.contracts.model import Contract
from treaty.pipeline.layers.events import event_table as of_events
from treaty.pipeline.layers.keys import join_by_key
from treaty.pipeline.layers.products.key_histories import set_apart
from treaty.pipeline.layers.products.late_events import SourceEvents, count_deliveries, latest_rows
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
from treaty.pipeline.project.project_sql import PLATFORM_COLUMNS, reads_column
from treaty.spark.columns import VIOLATIONS_COLUMN, quoted_col
from treaty.spark.enforcement import enforce
from treaty.spark.rules import Policy, Scope
from treaty.spark.uniqueness import has_complete_key


def build_product(
    inputs: Mapping[str, DataFrame],
    product: Product,
    contract: Contract,
    sources: Mapping[str, Contract],
    keys: Mapping[str, Sequence[str]] | None = None,
    sequences: Mapping[str, DataFrame] | None = None,
) -> DataFrame:
    """Return the rows of the keys whose accepted events are given, checked against the contract of the product.

    `sources` are the contracts of the events. `keys` are the columns of each source that hold the product's key, if
    they have other names. `sequences` are the events of sources together with those of other keys that share a
    sequence with them. Rows with a null in their key are left out.
    """
    key = key_columns(contract)
    product_columns(contract)  # refuses reserved names
    inputs = _with_arrival_columns(inputs, product)
    sequences = _with_arrival_columns(sequences, product) if sequences else inputs
    rows = _check(_query_or_latest(inputs, product, contract, sources), contract, key)
    events = [
        SourceEvents(
            *(name, sequences.get(name, inputs[name]), sources[name], tuple(columns)),
            has_gaps=of_events.OPERATION not in inputs[name].columns,
        )
        for name in product.sources
        if (columns := _key_in(inputs[name], (keys or {}).get(name, key)))
    ]
    rows = set_apart(rows, [replace(one, events=inputs[one.name]) for one in events], key)
    if len(events) < len(product.sources):
        return rows.select("*", *[F.lit(None).cast("bigint").alias(name) for name in COUNTS])
    return join_by_key(rows, count_deliveries(events, key), key)


def _with_arrival_columns(inputs: Mapping[str, DataFrame], product: Product) -> dict[str, DataFrame]:
    return {
        name: of_events.with_arrival_columns(frame) if name in product.sources else frame
        for name, frame in inputs.items()
    }


def _query_or_latest(
    inputs: Mapping[str, DataFrame], product: Product, contract: Contract, sources: Mapping[str, Contract]
) -> DataFrame:
    if product.sql is None:
        name = product.sources[0]
        return latest_rows(inputs[name], product, contract, sources[name])
    named = [name for name in PLATFORM_COLUMNS if reads_column(product.sql, name)]
    visible = {name: _visible_columns(frame, product.sources, named, name) for name, frame in inputs.items()}
    return run_sql(next(iter(inputs.values())).sparkSession, product.sql, visible)


def _visible_columns(frame: DataFrame, sources: Sequence[str], named: Sequence[str], name: str) -> DataFrame:
    """Return the columns that SQL sees: the fields of the contract, and columns of the pipeline that it names."""
    if name not in sources:
        return frame.select(*map(quoted_col, contract_columns(frame.columns)))
    added = [column for column in named if column in frame.columns]
    return frame.select(*map(quoted_col, [*of_events.contract_columns(frame.columns), *added]))


def _check(rows: DataFrame, contract: Contract, key: Sequence[str]) -> DataFrame:
    enforcement = enforce(rows, contract, policy=Policy(scope=Scope.ROWS))
    conforms = enforcement.is_valid
    fields = [
        quoted_col(name) if name in key else F.when(conforms, quoted_col(name)).alias(name)
        for name in enforcement.layout.typed
    ]
    outcome = F.when(conforms, F.lit(Outcome.VALID.value)).otherwise(F.lit(Outcome.QUARANTINED.value))
    checked = enforcement.judged.select(
        *fields,
        outcome.alias(OUTCOME),
        F.when(~conforms, enforcement.violations).alias(VIOLATIONS_COLUMN),
        F.when(~conforms, F.to_json(F.struct(*enforcement.layout.original_columns()))).alias(GIVEN),
    )
    return checked.where(has_complete_key(key))


def _key_in(events: DataFrame, columns: Sequence[str]) -> Sequence[str]:
    return columns if set(columns) <= set(events.columns) else ()
