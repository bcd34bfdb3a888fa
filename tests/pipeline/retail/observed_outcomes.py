"""Outcomes of the retailer's lines in the tables, in the terms of its ledgers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from examples.retail.accounting import Account
from treaty.pipeline.tables import OUTCOME, Tables

SOURCES = (
    "order_placed",
    "order_cancelled",
    "payment_settled",
    "payment_failed",
    "shipment_dispatched",
    "return_received",
)
PRODUCTS = ("order_capture", "payment_settlement", "shipment_execution", "returns")
PUBLICATIONS = (
    "finance_recognized_sale_v1",
    "finance_recognized_sale_v2",
    "fulfillment_order_ready_v1",
    "customer_order_timeline_v1",
    "marketplace_partner_order_export_v1",
    "marketplace_partner_feed_v1",
)
_TABLES = (
    *(f"raw.{name}" for name in SOURCES),
    *(f"products.{name}" for name in PRODUCTS),
    "reconciliation.commercial_order",
    *(f"publications.{name}" for name in PUBLICATIONS),
)
_PRODUCT_OF_SOURCE = {
    "order_placed": "order_capture",
    "order_cancelled": "order_capture",
    "payment_settled": "payment_settlement",
    "payment_failed": "payment_settlement",
    "shipment_dispatched": "shipment_execution",
}
"""The product that counts events of a source that are out of order or missing."""
_KEYS = {"order_capture": "order_id", "payment_settlement": "payment_id", "shipment_execution": "order_id"}
"""The key of the sequences that a product counts."""
_CLAIM_OF_OWNER = {
    "Order Capture": "order",
    "Payment Settlement": "payment",
    "Shipment Execution": "shipment",
    "Returns Handling": "return",
}
"""The claim that each owner is responsible for."""
_MISSING = """
SELECT order_id, 0, max(shipment_sequence_in_order) - count(DISTINCT shipment_sequence_in_order)
FROM {shipments}
WHERE _outcome = 'accepted'
GROUP BY order_id
"""


class Line(NamedTuple):
    """The outcome of a line."""

    source: str
    outcome: str
    rules: tuple[str, ...]
    event_id: str | None


@dataclass(frozen=True)
class ObservedOutcomes:
    """The outcomes in the tables after some waves have been processed."""

    account: Account
    lines: Mapping[tuple[str, int], Line]
    """By file and number."""
    rows: Mapping[str, Counter[str]]
    """Number of rows by table and outcome."""


def by_product(account: Account) -> Account:
    """Return an account with sequences named by product instead of source."""
    out_of_order: Counter[str] = Counter()
    for source, count in account.out_of_order.items():
        out_of_order[_PRODUCT_OF_SOURCE.get(source, source)] += count
    gaps = frozenset((_PRODUCT_OF_SOURCE.get(source, source), key) for source, key in account.gaps)
    return replace(account, out_of_order=out_of_order, gaps=gaps)


def observe_outcomes(tables: Tables, landing: Path, assertions: Collection[str]) -> ObservedOutcomes:
    """Read the account from the tables; a missing field value does not count as an assertion."""
    lines, rows, sequences = _lines(tables, landing), _rows(tables), _sequences(tables)
    exceptions = tables.read("reconciliation.commercial_order_exceptions").where("state = 'open'").collect()
    called_back = tables.read("products.payment_settlement").where("payment_settlement_state = 'called_back'")
    account = Account(
        lines={source: rows[f"raw.{source}"].total() for source in SOURCES},
        accepted=_by_source(lines.values(), "accepted"),
        duplicates=_by_source(lines.values(), "duplicate"),
        quarantined=Counter((line.source, " and ".join(line.rules)) for line in lines.values() if line.rules),
        out_of_order=Counter({name: sum(late for _, late, _ in keys) for name, keys in sequences.items()}),
        gaps=frozenset((name, key) for name, keys in sequences.items() for key, _, missing in keys if missing),
        charged_back=frozenset(row["payment_id"] for row in called_back.collect()),
        exceptions=frozenset((row["order_id"], row["reason_class"]) for row in exceptions),
        exception_claims=frozenset(
            (row["order_id"], row["reason_class"], _CLAIM_OF_OWNER[row["owner"]])
            for row in exceptions
            if row["assertion"] in assertions
        ),
    )
    return ObservedOutcomes(account, lines, rows)


def _lines(tables: Tables, landing: Path) -> dict[tuple[str, int], Line]:
    """Return every line by file and number."""
    columns = ("_source_file", "_position", OUTCOME, F.col("_violations.rule").alias("rules"), "event_id")
    frames = [tables.read(f"events.{name}").select(F.lit(name).alias("source"), *columns) for name in SOURCES]
    return {
        (row["_source_file"].removeprefix(f"{landing.name}/"), row["_position"]): Line(
            row["source"], row[OUTCOME], tuple(row["rules"] or ()), row["event_id"]
        )
        for row in _union(frames).collect()
    }


def _rows(tables: Tables) -> dict[str, Counter[str]]:
    frames = []
    for name in _TABLES:
        read = tables.read(name)
        outcome = F.col(OUTCOME) if OUTCOME in read.columns else F.lit("")
        frames.append(read.groupBy(F.lit(name).alias("table"), outcome.alias("outcome")).count())
    result: dict[str, Counter[str]] = {name: Counter() for name in _TABLES}
    for table, outcome, count in _union(frames).collect():
        result[table][outcome] = count
    return result


def _sequences(tables: Tables) -> dict[str, list[tuple[str, int, int]]]:
    """Return the number of events out of order and missing, for each key of a sequence.

    A shipment is one of several in the sequence of its order, so missing shipments are counted from the events of the
    order, not from the rows of the product.
    """
    result = {
        name: tables.read(f"products.{name}").select(key, "_out_of_order", "_gaps").collect()
        for name, key in _KEYS.items()
    }
    shipments = tables.read("events.shipment_dispatched")
    result["shipment_execution"] += tables.spark.sql(_MISSING, shipments=shipments).collect()
    return {name: [(key, late, missing) for key, late, missing in rows] for name, rows in result.items()}


def _union(frames: Iterable[DataFrame]) -> DataFrame:
    return reduce(lambda left, right: left.unionByName(right), frames)


def _by_source(lines: Iterable[Line], outcome: str) -> Counter[str]:
    return Counter(line.source for line in lines if line.outcome == outcome)
