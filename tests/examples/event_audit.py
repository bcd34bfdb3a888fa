"""An audit of the events alone, without the ledger of planted defects."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

LONG = timedelta(days=14)
"""A first payment this long after the shipment is late."""

Event = tuple[str, dict[str, Any]]
"""The last part of an event's name, and its payload with decimals."""


@dataclass
class Account:
    """Everything known about one order."""

    placed: list[dict[str, Any]] = field(default_factory=list)
    cancelled: list[dict[str, Any]] = field(default_factory=list)
    settled: dict[str, dict[str, Any]] = field(default_factory=dict)
    called_back: set[str] = field(default_factory=set)
    shipped: list[dict[str, Any]] = field(default_factory=list)
    returned: dict[str, dict[str, Any]] = field(default_factory=dict)

    def charges(self) -> list[dict[str, Any]]:
        """Return the charges that were not reversed."""
        return [
            payment
            for payment_id, payment in self.settled.items()
            if payment["settlement_direction"] == "charge" and payment_id not in self.called_back
        ]

    def refunds(self) -> list[dict[str, Any]]:
        """Return the refunds."""
        return [payment for payment in self.settled.values() if payment["settlement_direction"] == "refund"]

    def owed(self) -> Decimal:
        """Return what the customer owes after cancellations and returns."""
        gone = [event["cancelled_total"] for event in self.cancelled]
        gone += [event["refund_due"] for event in self.returned.values()]
        ordered: Decimal = self.placed[0]["order_total"]["gross_amount"]
        return ordered - sum((money["gross_amount"] for money in gone), Decimal(0))

    def paid(self) -> Decimal:
        """Return the charges minus the refunds."""
        return _total(self.charges()) - _total(self.refunds())


def accounts(events: Iterable[Event]) -> dict[str, Account]:
    """Enter distinct, valid events into one account per order."""
    accounts_by_order: dict[str, Account] = defaultdict(Account)
    for name, event in events:
        account = accounts_by_order[event["order_id"]]
        match name:
            case "order_placed":
                account.placed.append(event)
            case "order_cancelled":
                account.cancelled.append(event)
            case "payment_settled":
                account.settled[event["payment_id"]] = event
            case "payment_failed":
                if event["payment_failure_stage"] == "after_settlement":
                    account.called_back.add(event["payment_id"])
            case "shipment_dispatched":
                account.shipped.append(event)
            case "return_received":
                account.returned[event["return_id"]] = event
    return accounts_by_order


def exception_of(account: Account) -> tuple[str, str] | None:
    """Return the class of an order's exception and the assertion it concerns, or None."""
    if not account.placed:
        return "missing", "order"
    if len(account.placed) > 1:
        return "identity", "order"
    if any(refund.get("refunded_return_id", None) not in {None, *account.returned} for refund in account.refunds()):
        return "missing", "return"
    if account.shipped and not account.charges():
        return "missing", "payment"
    if account.paid() != account.owed():
        amounts = Counter(charge["settled_money"]["gross_amount"] for charge in account.charges())
        twice = account.paid() == 2 * account.owed() and max(amounts.values()) == 2
        return ("duplicate" if twice else "conflict"), "payment"
    if account.shipped and account.charges():
        sent = max(_moment(shipment["shipment_dispatched_at"]) for shipment in account.shipped)
        paid = min(_moment(charge["payment_settled_at"]) for charge in account.charges())
        if paid - sent > LONG:
            return "late", "payment"
    return None


def exceptions(events: Iterable[Event]) -> dict[str, tuple[str, str]]:
    """Return the exceptions by order."""
    found = {order_id: exception_of(account) for order_id, account in accounts(events).items()}
    return {order_id: exception for order_id, exception in found.items() if exception is not None}


def _total(payments: list[dict[str, Any]]) -> Decimal:
    return sum((payment["settled_money"]["gross_amount"] for payment in payments), Decimal(0))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
