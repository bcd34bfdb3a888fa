"""A generated revenue mart of a nightly job, the publication that replaces it, and a ledger of the differences.

The job has the defects that such jobs have: it ignores repeated events, dates late orders by their arrival, writes
other order numbers for the marketplace, counts cancelled orders as sales, drops orders of one store, and rounds down.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal

from treaty.legacy.differences import DifferenceClass
from treaty.legacy.feeds import ColumnRule, Comparison, LegacyFeed, LegacyTable, Tolerance

START = date(2026, 3, 1)
COUNTRIES = ("DE", "FR", "PL")
CODES = {"S": "RECOGNIZED", "R": "REFUNDED"}
LEGACY_SCHEMA = (
    "order_no string, booked_on date, country string, state string, net decimal(12,2), buyer string, job string"
)
NEW_SCHEMA = (
    "order_id string, business_day date, country_code string, status string, net_amount decimal(12,2), customer string"
)

FEED = LegacyFeed(
    name="legacy_revenue",
    origin=LegacyTable("legacy_revenue"),
    key=("order_no",),
    period="booked_on",
    owner="Finance Systems",
    produced="daily by 04:00",
    consumers=("finance_close",),
    comparison=Comparison(
        publication="finance_recognized_sale",
        columns=(
            ColumnRule("order_no", "order_id"),
            ColumnRule("booked_on", "business_day"),
            ColumnRule("country", "country_code"),
            ColumnRule("state", "status", codes=CODES),
            ColumnRule("net", "net_amount", Tolerance(absolute=0.01)),
            ColumnRule("buyer", "customer"),
        ),
        identity=("buyer", "net", "booked_on"),
        late_days=2,
        money=("net",),
        patterns=("state",),
        totals=("country", "booked_on"),
    ),
    at="legacy/legacy_revenue.yaml:1",
)

LegacyRow = tuple[str, date, str, str, Decimal, str, str]
NewRow = tuple[str, date, str, str, Decimal, str]


@dataclass
class Mart:
    """Rows of both sides, and what was seeded: the class of each difference by key."""

    legacy: list[LegacyRow] = field(default_factory=list)
    new: list[NewRow] = field(default_factory=list)
    ledger: dict[tuple[str, str], DifferenceClass] = field(default_factory=dict)
    """By the key in the publication, or else in the mart, and the column, which is empty for rows."""


def generate(days: int = 10, orders_a_day: int = 100) -> Mart:
    """Generate a mart; each kind of defect hits some orders of each day."""
    numbers, mart = random.Random(20260301), Mart()  # noqa: S311 - the same rows in every run
    for day_number in range(days):
        day = START + timedelta(days=day_number)
        for number in range(orders_a_day):
            _order(mart, day, number, Decimal(numbers.randint(500, 90_000)) / 100, is_last=day_number >= days - 2)
    return mart


def _order(mart: Mart, day: date, number: int, net: Decimal, *, is_last: bool) -> None:
    key = f"ORD-{day:%d}-{number:04}"
    country, buyer = COUNTRIES[number % 3], f"CUST-{day:%d}-{number:04}"
    status, state, booked, order_no, legacy_net = "RECOGNIZED", "S", day, key, net
    match number % 25:
        case 3:  # the job keeps both deliveries of an event
            mart.ledger[key, ""] = DifferenceClass.DUPLICATE_IN_LEGACY
            mart.legacy.append((order_no, booked, country, state, legacy_net, buyer, "nightly"))
        case 6 if not is_last:  # it arrived a day late, and the job books it when it arrives
            booked = day + timedelta(days=1)
            mart.ledger[key, "booked_on"] = DifferenceClass.LATE
        case 9:  # marketplace orders have another number in the mart
            order_no = f"MKT{day:%d}{number:04}"
            mart.ledger[key, ""] = DifferenceClass.IDENTITY
        case 12:  # a cancelled order counts as a sale
            status = "CANCELLED"
            mart.ledger[key, "state"] = DifferenceClass.STATUS
        case 15:  # the job drops what it cannot parse
            mart.ledger[key, ""] = DifferenceClass.LATE if is_last else DifferenceClass.MISSING_IN_LEGACY
            mart.new.append((key, day, country, status, net, buyer))
            return
        case 18:  # the mart rounds down to full euros
            legacy_net = Decimal(int(net)) - 1
            mart.ledger[key, "net"] = DifferenceClass.VALUE
        case 21:  # test orders are no business of the publication
            mart.ledger[key, ""] = DifferenceClass.LATE if is_last else DifferenceClass.MISSING_IN_NEW
            mart.legacy.append((order_no, booked, country, state, legacy_net, buyer, "nightly"))
            return
        case 23:  # within the tolerance
            legacy_net = net + Decimal("0.01")
    mart.legacy.append((order_no, booked, country, state, legacy_net, buyer, "nightly"))
    mart.new.append((key, day, country, status, net, buyer))
