"""A nightly job of the kind that a contract replaces, with its defects, and a ledger of what they lead to.

`python -m examples.retail.legacy_revenue LANDING MART --nights 3` reads the order events that arrived in the first
nights and writes the mart again, one file for each day. The job counts an event that is delivered again as another
order, books some orders when their event arrives instead of when they were placed, gives marketplace orders numbers of
its own, counts some cancelled orders as sales, and drops records without a message. Which orders are hit depends on
their number only, so the ledger can say by key what a comparison with correct rows must find.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any
from zlib import crc32

PLACED, CANCELLED = "retail.orders.order_placed", "retail.orders.order_cancelled"
COLUMNS = ("order_no", "booked_on", "country", "channel", "sale_state", "sale_amount", "booked_at", "buyer", "job_run")
_CHANNELS = {"ecommerce": "W", "store": "S", "marketplace": "M"}
_CURRENCY = "EUR"
_ONE_IN = 25
_SELLERS_ONE_IN = 4


class Defect(StrEnum):
    """What the job does wrong with an order."""

    REPEATED = "repeated"
    LATE = "late"
    DROPPED = "dropped"
    RENUMBERED = "renumbered"
    SOLD_ANYWAY = "sold_anyway"


@dataclass
class Order:
    """An order as its events tell it."""

    order_id: str
    placed_at: datetime
    country: str
    channel: str
    fulfillment: str
    amount: Decimal
    buyer: str
    cancelled_amount: Decimal = Decimal(0)
    is_cancelled: bool = False
    defect: Defect | None = field(init=False, default=None)

    @property
    def day(self) -> date:
        """The day on which the order was placed."""
        return self.placed_at.date()


def read_orders(landing: Path, nights: int) -> list[Order]:
    """Return the orders in euro of the events that arrived in the first nights, in the order of their numbers."""
    orders: dict[str, Order] = {}
    for event in _events(landing / PLACED, nights):
        if event["order_total"]["currency_code"] == _CURRENCY:
            orders[event["order_id"]] = Order(
                order_id=event["order_id"],
                placed_at=datetime.fromisoformat(event["order_placed_at"]).astimezone(UTC).replace(microsecond=0),
                country=event["selling_country_code"],
                channel=event["sales_channel"],
                fulfillment=event["fulfillment_method"],
                amount=event["order_total"]["gross_amount"],
                buyer=event.get("customer_account_id") or "",
            )
    for event in _events(landing / CANCELLED, nights):
        if (order := orders.get(event["order_id"])) is not None:
            order.cancelled_amount += event["cancelled_total"]["gross_amount"]
            order.is_cancelled = order.is_cancelled or event["cancellation_scope"] == "whole_order"
    for order in orders.values():
        order.defect = _defect(order)
    return [orders[key] for key in sorted(orders)]


def _events(folder: Path, nights: int) -> Iterator[dict[str, Any]]:
    for night in range(1, nights + 1):
        file = folder / f"part-{night:04}.jsonl"
        for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
            yield json.loads(line, parse_float=Decimal)


def _defect(order: Order) -> Defect | None:
    lot = crc32(order.order_id.encode())
    if order.is_cancelled and lot % 2:
        return Defect.SOLD_ANYWAY
    if order.channel == "marketplace" and lot % _SELLERS_ONE_IN == 0:
        return Defect.RENUMBERED
    return {1: Defect.REPEATED, 2: Defect.LATE, 3: Defect.DROPPED}.get(lot % _ONE_IN)


def write_mart(orders: list[Order], mart: Path, until: date) -> None:
    """Write what the job books up to a day, one file for each day; files of earlier nights are replaced."""
    mart.mkdir(parents=True, exist_ok=True)
    by_day: dict[date, list[tuple[str, ...]]] = {}
    for order in orders:
        for booked_on, row in _rows(order, until):
            by_day.setdefault(booked_on, []).append(row)
    for booked_on, rows in by_day.items():
        if booked_on <= until:
            with (mart / f"revenue_{booked_on}.csv").open("w", encoding="iso-8859-1", newline="") as file:
                writer = csv.writer(file, delimiter=";", lineterminator="\n")
                writer.writerows([COLUMNS, *rows])


def _rows(order: Order, until: date) -> Iterator[tuple[date, tuple[str, ...]]]:
    if order.defect is Defect.DROPPED:
        return
    booked_on = order.day + timedelta(days=1) if order.defect is Defect.LATE else order.day
    is_cancelled = order.is_cancelled and order.defect is not Defect.SOLD_ANYWAY
    row = (
        legacy_number(order),
        f"{booked_on:%d.%m.%Y}",
        order.country,
        _CHANNELS[order.channel],
        "C" if is_cancelled else "S",
        str(order.amount if order.is_cancelled else order.amount - order.cancelled_amount),
        f"{order.placed_at:%d.%m.%Y %H:%M:%S}",
        order.buyer,
        f"N{until:%y%m%d}",
    )
    yield booked_on, row
    if order.defect is Defect.REPEATED:
        yield booked_on, row


def legacy_number(order: Order) -> str:
    """Return the number of an order in the mart."""
    return f"MKT{order.order_id[4:]}" if order.defect is Defect.RENUMBERED else order.order_id


Entry = tuple[str, str, str]
"""A key, a column (empty for rows) and the class of the difference."""


def expected_differences(orders: list[Order], until: date, *, first_version: bool = False) -> set[Entry]:
    """Return what a comparison up to a day must find, by key in the publication, or else in the mart.

    The first version of the new SQL lacks goods that customers carry out, and does not subtract cancelled lines. Rows
    of the last day are late as long as only one side has them.
    """
    return {entry for order in orders if order.day <= until for entry in _entries(order, until, first_version)}


def _entries(order: Order, until: date, first_version: bool) -> Iterator[Entry]:
    key, number = order.order_id, legacy_number(order)
    booked_on = order.day + timedelta(days=1) if order.defect is Defect.LATE else order.day
    in_legacy = order.defect is not Defect.DROPPED and booked_on <= until
    in_new = not (first_version and order.fulfillment == "carried_out")
    if order.defect is Defect.REPEATED:
        yield number, "", "duplicate_in_legacy"
    if in_legacy and in_new:
        if order.defect is Defect.RENUMBERED:
            yield key, "", "identity"
            return
        if order.defect is Defect.LATE:
            yield key, "booked_on", "late"
        if order.defect is Defect.SOLD_ANYWAY:
            yield key, "sale_state", "status"
        if first_version and order.cancelled_amount and not order.is_cancelled:
            yield key, "sale_amount", "value"
    elif in_legacy:
        yield number, "", "late" if booked_on == until else "missing_in_new"
    elif in_new:
        yield key, "", "late" if order.day == until else "missing_in_legacy"


def main() -> None:
    """Run the job for some nights."""
    parser = argparse.ArgumentParser(description="Write the mart of a nightly job with its defects.")
    parser.add_argument("landing", type=Path, help="the folder with the events of orders")
    parser.add_argument("mart", type=Path, help="the folder to write to")
    parser.add_argument("--nights", type=int, required=True, help="how many files of events have arrived")
    arguments = parser.parse_args()
    orders = read_orders(arguments.landing, arguments.nights)
    until = max(order.day for order in orders)
    write_mart(orders, arguments.mart, until)
    print(f"{len(orders):,} orders up to {until} in {arguments.mart}")


if __name__ == "__main__":
    main()
