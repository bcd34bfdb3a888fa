"""Outcomes of the retailer's lines in the tables, in the terms of its ledgers."""

from __future__ import annotations

from collections import Counter, defaultdict
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
_TOLD_BY = {
    "order_placed": "order_capture",
    "order_cancelled": "order_capture",
    "payment_settled": "payment_settlement",
    "payment_failed": "payment_settlement",
    "shipment_dispatched": "shipment_execution",
}
"""The product that tells what is out of order or missing in the sequence of a source's events."""
_KEYS = {"order_capture": "order_id", "payment_settlement": "payment_id", "shipment_execution": "order_id"}
"""What the sequences that a product tells of belong to."""
_WORDS = {
    "Order Capture": "order",
    "Payment Settlement": "payment",
    "Shipment Execution": "shipment",
    "Returns Handling": "return",
}
"""Whose word it is that an owner answers for."""
_MISSING = """
SELECT order_id, 0, max(shipment_sequence_in_order) - count(DISTINCT shipment_sequence_in_order)
FROM {shipments}
WHERE _outcome = 'accepted'
GROUP BY order_id
"""


class Line(NamedTuple):
    """What became of one line."""

    source: str
    outcome: str
    rules: tuple[str, ...]
    event_id: str | None


@dataclass(frozen=True)
class Telling:
    """What the tables tell once some waves have been read."""

    account: Account
    lines: Mapping[tuple[str, int], Line]
    """By file and number."""
    rows: Mapping[str, Counter[str]]
    """By table: its rows, by what became of them."""


def as_told(account: Account) -> Account:
    """Return an account whose sequences are named after those who tell about them."""
    out_of_order: Counter[str] = Counter()
    for source, count in account.out_of_order.items():
        out_of_order[_TOLD_BY.get(source, source)] += count
    gaps = frozenset((_TOLD_BY.get(source, source), key) for source, key in account.gaps)
    return replace(account, out_of_order=out_of_order, gaps=gaps)


def telling(tables: Tables, landing: Path, assertions: Collection[str]) -> Telling:
    """Read everything that an account has from the tables; fields that lack a value are no assertion of their own."""
    lines, rows, sequences = _lines(tables, landing), _rows(tables), _sequences(tables)
    doubts = tables.read("reconciliation.commercial_order_exceptions").where("state = 'open'").collect()
    called_back = tables.read("products.payment_settlement").where("payment_settlement_state = 'called_back'")
    account = Account(
        lines={source: rows[f"raw.{source}"].total() for source in SOURCES},
        accepted=_by_source(lines.values(), "accepted"),
        duplicates=_by_source(lines.values(), "duplicate"),
        quarantined=Counter((one.source, " and ".join(one.rules)) for one in lines.values() if one.rules),
        out_of_order=Counter({name: sum(late for _, late, _ in keys) for name, keys in sequences.items()}),
        gaps=frozenset((name, key) for name, keys in sequences.items() for key, _, missing in keys if missing),
        called_back=frozenset(row["payment_id"] for row in called_back.collect()),
        exceptions=frozenset((row["order_id"], row["reason_class"]) for row in doubts),
        doubted=frozenset(
            (row["order_id"], row["reason_class"], _WORDS[row["owner"]])
            for row in doubts
            if row["assertion"] in assertions
        ),
    )
    return Telling(account, lines, rows)


def _lines(tables: Tables, landing: Path) -> dict[tuple[str, int], Line]:
    """Return every line by its file and number: positions rise within a file, and no line is left out."""
    columns = ("_source_file", "_position", OUTCOME, F.col("_violations.rule").alias("rules"), "event_id")
    frames = [tables.read(f"events.{name}").select(F.lit(name).alias("source"), *columns) for name in SOURCES]
    by_file = defaultdict(list)
    for row in _together(frames).orderBy("_source_file", "_position").collect():
        file = row["_source_file"].removeprefix(f"file:{landing}/")
        by_file[file].append(Line(row["source"], row[OUTCOME], tuple(row["rules"] or ()), row["event_id"]))
    return {(file, number): line for file, found in by_file.items() for number, line in enumerate(found, 1)}


def _rows(tables: Tables) -> dict[str, Counter[str]]:
    frames = []
    for name in _TABLES:
        read = tables.read(name)
        outcome = F.col(OUTCOME) if OUTCOME in read.columns else F.lit("")
        frames.append(read.groupBy(F.lit(name).alias("table"), outcome.alias("outcome")).count())
    found: dict[str, Counter[str]] = {name: Counter() for name in _TABLES}
    for table, outcome, count in _together(frames).collect():
        found[table][outcome] = count
    return found


def _sequences(tables: Tables) -> dict[str, list[tuple[str, int, int]]]:
    """Return, for each key of a sequence, how many events came out of order and how many never came.

    A shipment is one of many in the sequence of its order, so no row of its product can tell what never came: the
    events of the order do.
    """
    found = {
        name: tables.read(f"products.{name}").select(key, "_out_of_order", "_gaps").collect()
        for name, key in _KEYS.items()
    }
    shipments = tables.read("events.shipment_dispatched")
    found["shipment_execution"] += tables.spark.sql(_MISSING, shipments=shipments).collect()
    return {name: [(key, late, missing) for key, late, missing in rows] for name, rows in found.items()}


def _together(frames: Iterable[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.unionByName(other), frames)


def _by_source(lines: Iterable[Line], outcome: str) -> Counter[str]:
    return Counter(line.source for line in lines if line.outcome == outcome)
