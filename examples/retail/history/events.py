"""The six event types: key, sequence and time fields, and typical delay."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, TypeAlias

from .clock import MINUTE, SECOND

Payload: TypeAlias = dict[str, Any]


encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
"""Write a JSON object as one line."""


class Event(NamedTuple):
    """The properties of an event contract that a history needs."""

    name: str
    moment: str
    key: str
    sequence: str | None
    stream: str
    travels: tuple[int, int]
    """Shortest and longest delay from the event to its arrival, in milliseconds."""

    @property
    def short(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]


ORDER_PLACED = Event(
    "retail.orders.order_placed",
    "order_placed_at",
    "order_id",
    "order_event_sequence",
    "order",
    (SECOND // 2, 5 * SECOND),
)
ORDER_CANCELLED = Event(
    "retail.orders.order_cancelled",
    "order_cancelled_at",
    "order_id",
    "order_event_sequence",
    "order",
    (SECOND // 2, 5 * SECOND),
)
PAYMENT_SETTLED = Event(
    "retail.payments.payment_settled",
    "payment_settled_at",
    "payment_id",
    "payment_event_sequence",
    "payment",
    (SECOND, 10 * MINUTE),
)
PAYMENT_FAILED = Event(
    "retail.payments.payment_failed",
    "payment_failed_at",
    "payment_id",
    "payment_event_sequence",
    "payment",
    (SECOND // 2, 10 * SECOND),
)
SHIPMENT_DISPATCHED = Event(
    "retail.shipments.shipment_dispatched",
    "shipment_dispatched_at",
    "order_id",
    "shipment_sequence_in_order",
    "shipment",
    (5 * SECOND, 5 * MINUTE),
)
RETURN_RECEIVED = Event(
    "retail.returns.return_received",
    "return_received_at",
    "return_id",
    None,
    "return",
    (30 * SECOND, 30 * MINUTE),
)
EVENTS = (ORDER_PLACED, ORDER_CANCELLED, PAYMENT_SETTLED, PAYMENT_FAILED, SHIPMENT_DISPATCHED, RETURN_RECEIVED)


class Fact(NamedTuple):
    """An event, and its line."""

    event: Event
    at: int
    key: str
    """The value of the key by which the contract orders its events."""
    line: str

    def changed(self, payload: Payload, at: int) -> Fact:
        """Return the fact with another line and time."""
        return Fact(self.event, at, str(payload[self.event.key]), encode(payload))

    @property
    def payload(self) -> Payload:
        """The line as a JSON object; a new one each time."""
        read: Payload = json.loads(self.line)
        return read
