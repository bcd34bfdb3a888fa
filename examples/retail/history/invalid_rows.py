"""Rows that violate exactly one rule of their contract, as a table."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, NamedTuple

from .arrivals import Sending
from .clock import DAY
from .defect_marks import Outcome, Reason
from .disturbance import Disturbance, DisturbanceContext
from .events import (
    ORDER_CANCELLED,
    ORDER_PLACED,
    PAYMENT_FAILED,
    PAYMENT_SETTLED,
    RETURN_RECEIVED,
    SHIPMENT_DISPATCHED,
    Event,
    Payload,
    encode,
)
from .order_requirements import NO_REQUIREMENT, OrderRequirement, Path


class Fate(Enum):
    """What the producer does after an invalid row."""

    RESENT = "sent again at once, undamaged"
    LOST = "never sent again, so that its fact is missing"
    RESENT_NEXT_WAVE = "sent again in the next wave"


GONE = object()
"""Marks a field that is removed."""

_PLACED = OrderRequirement(home=True, signed_in=True, promotion=True)
_PAID = OrderRequirement(path=Path.DELIVERED, home=True, one_charge=True)
_CHARGED = OrderRequirement(path=Path.DELIVERED)
_DROPPED = OrderRequirement(path=Path.PARTLY_CANCELLED)
_REFUSED = OrderRequirement(path=Path.DELIVERED, failures=1)
_SENT = OrderRequirement(path=Path.DELIVERED, home=True)
_BACK = OrderRequirement(path=Path.RETURNED)


class Damage(NamedTuple):
    """One way to invalidate an event: the field, its new value, and the violated rule."""

    detail: str
    event: Event
    where: str
    """Steps into the payload; a number is a place in an array, braces hold the key of a map."""
    value: Any
    kind: str
    requirement: OrderRequirement
    fate: Fate = Fate.RESENT

    @property
    def field(self) -> str:
        """The field path, such as order_lines[].ordered_quantity or discount_by_promotion{key}."""
        inside = re.sub(r"\.-?\d+", "[]", self.where)
        return re.sub(r"\.\{.*\}", "{key}" if self.kind == "pattern" else "{}", inside)

    @property
    def rule(self) -> str:
        """The id of the violated rule."""
        return f"{self.kind}:{self.field}"


_LINE, _PARCEL = "order_lines.-1", "shipment_parcels.0"
_LATER, _NEVER = Fate.RESENT_NEXT_WAVE, Fate.LOST
DAMAGES = (
    Damage("missing_required", ORDER_PLACED, "selling_country_code", GONE, "required", NO_REQUIREMENT),
    Damage("missing_required", ORDER_PLACED, "order_total", GONE, "required", _PAID, _NEVER),
    Damage("null_required", ORDER_PLACED, "order_placed_at", None, "required", NO_REQUIREMENT),
    Damage("bad_type", ORDER_PLACED, "order_event_sequence", "first", "type", _PAID, _NEVER),
    Damage("bad_enum", ORDER_PLACED, "sales_channel", "telesales", "enum", _PAID, _LATER),
    Damage("bad_enum", ORDER_PLACED, "fulfillment_method", "DRONE", "enum", NO_REQUIREMENT),
    Damage("bad_pattern", ORDER_PLACED, "order_id", "ord-123", "pattern", _PAID, _NEVER),
    Damage("bad_timestamp", ORDER_PLACED, "order_placed_at", "2026-02-30T10:00:00Z", "type", _PAID, _LATER),
    Damage("bad_date", ORDER_PLACED, "promised_delivery_date", "31.02.2026", "type", _PLACED),
    Damage("bad_format", ORDER_PLACED, "event_id", "0000-not-a-uuid", "format", NO_REQUIREMENT),
    Damage("bad_format", ORDER_PLACED, "customer_email_address", "nobody at example.com", "format", _PLACED),
    Damage("out_of_range", ORDER_PLACED, "order_total.gross_amount", -1.0, "range", NO_REQUIREMENT),
    Damage("too_many_decimals", ORDER_PLACED, f"{_LINE}.unit_price_gross_amount", 12.345, "type", NO_REQUIREMENT),
    Damage("too_large", ORDER_PLACED, "order_total.tax_amount", 12_345_678_901.0, "type", NO_REQUIREMENT),
    Damage("missing_nested", ORDER_PLACED, f"{_LINE}.stock_keeping_unit", GONE, "required", NO_REQUIREMENT),
    Damage("missing_nested", ORDER_PLACED, "delivery_address.city_name", GONE, "required", _PLACED),
    Damage("negative_quantity", ORDER_PLACED, f"{_LINE}.ordered_quantity", -2, "range", NO_REQUIREMENT),
    Damage("empty_array", ORDER_PLACED, "order_lines", [], "item_count", NO_REQUIREMENT),
    Damage("bad_map_key", ORDER_PLACED, "order_lines.0.discount_by_promotion.{half price!}", 1.5, "pattern", _PLACED),
    Damage("bad_map_value", ORDER_PLACED, "order_lines.0.discount_by_promotion.{SUMMER26}", -1.5, "range", _PLACED),
    Damage("missing_required", ORDER_CANCELLED, "cancelled_lines", GONE, "required", _DROPPED),
    Damage("missing_nested", ORDER_CANCELLED, "cancelled_total.currency_code", GONE, "required", _DROPPED),
    Damage("bad_enum", ORDER_CANCELLED, "cancellation_reason", "weather", "enum", _DROPPED),
    Damage("bad_type", ORDER_CANCELLED, "is_refund_due", "perhaps", "type", _DROPPED),
    Damage("too_large", ORDER_CANCELLED, "cancelled_lines.0.cancelled_quantity", 3_000_000_000, "type", _DROPPED),
    Damage("negative_quantity", ORDER_CANCELLED, "cancelled_lines.0.cancelled_quantity", -1, "range", _DROPPED),
    Damage("missing_required", PAYMENT_SETTLED, "payment_id", GONE, "required", _PAID, _NEVER),
    Damage("missing_required", PAYMENT_SETTLED, "settled_money", GONE, "required", _PAID, _LATER),
    Damage("bad_type", PAYMENT_SETTLED, "settled_money.gross_amount", "12,50 EUR", "type", _PAID, _NEVER),
    Damage("bad_enum", PAYMENT_SETTLED, "settlement_direction", "sideways", "enum", _CHARGED),
    Damage("bad_pattern", PAYMENT_SETTLED, "payment_id", "PAY-0000", "pattern", _PAID, _LATER),
    Damage("bad_pattern", PAYMENT_SETTLED, "settled_money.currency_code", "EURO", "pattern", _CHARGED),
    Damage("bad_date", PAYMENT_SETTLED, "settlement_value_date", "2026-13-01", "type", _CHARGED),
    Damage("out_of_range", PAYMENT_SETTLED, "reporting_exchange_rate", 0, "range", _CHARGED),
    Damage("missing_required", PAYMENT_FAILED, "attempted_money", GONE, "required", _REFUSED),
    Damage("bad_enum", PAYMENT_FAILED, "payment_failure_reason", "bad luck", "enum", _REFUSED),
    Damage("bad_timestamp", PAYMENT_FAILED, "next_attempt_at", "tomorrow", "type", _REFUSED),
    Damage("out_of_range", PAYMENT_FAILED, "attempt_number", 0, "range", _REFUSED),
    Damage("missing_nested", SHIPMENT_DISPATCHED, "dispatch_site.site_number", GONE, "required", _SENT),
    Damage("bad_type", SHIPMENT_DISPATCHED, "is_final_shipment", "perhaps", "type", _SENT),
    Damage("bad_pattern", SHIPMENT_DISPATCHED, "dispatch_site.site_country_code", "Narnia", "pattern", _SENT),
    Damage("out_of_range", SHIPMENT_DISPATCHED, f"{_PARCEL}.parcel_gross_weight", 0, "range", _SENT),
    Damage("negative_quantity", SHIPMENT_DISPATCHED, "shipped_lines.-1.shipped_quantity", -3, "range", _SENT),
    Damage("bad_map_key", SHIPMENT_DISPATCHED, f"{_PARCEL}.packed_quantity_by_article.{{a mug}}", 1, "pattern", _SENT),
    Damage("bad_map_value", SHIPMENT_DISPATCHED, f"{_PARCEL}.packed_quantity_by_article.{{MUGS01}}", 0, "range", _SENT),
    Damage("missing_required", RETURN_RECEIVED, "returned_lines", GONE, "required", _BACK),
    Damage("missing_nested", RETURN_RECEIVED, "refund_due.gross_amount", GONE, "required", _BACK),
    Damage("bad_enum", RETURN_RECEIVED, "returned_lines.0.received_condition", "eaten", "enum", _BACK),
    Damage("bad_pattern", RETURN_RECEIVED, "intake_site_number", "12A4", "pattern", _BACK),
    Damage("out_of_range", RETURN_RECEIVED, "returned_lines.-1.returned_quantity", 0, "range", _BACK),
)  # fmt: skip

_ASSERTIONS = {ORDER_PLACED.name: "order", PAYMENT_SETTLED.name: "payment"}


def damaged(damage: Damage) -> Disturbance:
    """Send an invalid event, and the valid one as well if the producer sends it again."""

    def disturb(context: DisturbanceContext) -> list[Sending]:
        place = context.place_of(damage.event)
        whole = context.sendings[place]
        line = encode(damaged_payload(whole.fact.payload, damage)).encode()
        wave = context.wave + 1 if damage.fate is Fate.RESENT_NEXT_WAVE else None
        missing = Reason.MISSING if damage.fate is not Fate.RESENT else None
        assertion = _ASSERTIONS[damage.event.name] if missing else None
        # it travels faster than the shortest way, so that it comes before the whole one
        broken = whole._replace(at=whole.fact.at, line=line).marked(
            "invalid_row",
            damage.detail,
            Outcome.QUARANTINED,
            rule=damage.rule,
            field=damage.field,
            exception=missing,
            assertion=assertion,
            resolved_in_wave=wave,
        )
        if damage.fate is Fate.LOST:
            return context.replaced(place, broken)
        if damage.fate is Fate.RESENT:
            return context.replaced(place, broken, whole)
        resent = whole._replace(at=context.in_next_wave(DAY)).marked(
            "resent", damage.detail, Outcome.RESOLVED, exception=missing, assertion=assertion
        )
        return context.replaced(place, broken, resent)

    return disturb


def damaged_payload(payload: Payload, damage: Damage) -> Payload:
    """Return the invalid event."""
    *way, last = damage.where.split(".")
    inside: Any = payload
    for step in way:
        inside = inside[int(step)] if isinstance(inside, list) else inside[step]
    if damage.value is GONE:
        del inside[last]
    else:
        inside[last.strip("{}")] = damage.value
    return payload
