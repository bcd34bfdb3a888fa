"""Events that are valid on their own but contradict each other; only reconciliation detects them."""

from __future__ import annotations

from .arrivals import Sending
from .clock import DAY, HOUR, date_text, moment_text
from .defect_marks import Outcome, Reason
from .disturbance import Disturbance, DisturbanceContext
from .events import ORDER_PLACED, PAYMENT_SETTLED, SHIPMENT_DISPATCHED, Event, Fact, Payload
from .money import hundredths
from .order_life import refund
from .order_requirements import OrderRequirement, Path
from .orders import SELLERS
from .payments import reference_of, settled

PAID_AND_SENT = OrderRequirement(path=Path.DELIVERED, home=True, one_charge=True, failures=0)
_EXCEPTION, _RESOLVED = Outcome.EXCEPTION, Outcome.RESOLVED


def never_comes(event: Event, defect: str, assertion: str) -> Disturbance:
    """Drop an event that other contexts depend on."""

    def disturb(context: DisturbanceContext) -> list[Sending]:
        place = context.place_of(event)
        absent = context.sendings[place]._replace(comes=False)
        marked = absent.marked(defect, event.short, _EXCEPTION, exception=Reason.MISSING, assertion=assertion)
        return context.replaced(place, marked)

    return disturb


def comes_next_wave(event: Event, assertion: str) -> Disturbance:
    """Delay an event that other contexts depend on to the next wave."""

    def disturb(context: DisturbanceContext) -> list[Sending]:
        place = context.place_of(event)
        sending = context.sendings[place]
        absent = sending._replace(comes=False).marked(
            "held_back",
            event.short,
            _EXCEPTION,
            exception=Reason.MISSING,
            assertion=assertion,
            resolved_in_wave=context.wave + 1,
        )
        came = sending._replace(at=context.in_next_wave(DAY))
        return context.replaced(
            place, absent, came.marked("late", event.short, _RESOLVED, exception=Reason.MISSING, assertion=assertion)
        )

    return disturb


def settled_amount_differs(context: DisturbanceContext, resolved_in_wave: int | None = None) -> list[Sending]:
    """Settle an amount that differs by a twentieth to a third."""
    place = context.place_of(PAYMENT_SETTLED)
    sending, owed, paid = context.sendings[place], context.life.order.gross, _another_amount(context)
    payload = sending.fact.payload
    payload["settled_money"]["gross_amount"] = paid / 100
    told = sending._replace(fact=sending.fact.changed(payload, sending.fact.at))
    marked = told.marked(
        "settled_amount_differs",
        "too little" if paid < owed else "too much",
        _EXCEPTION,
        exception=Reason.CONFLICT,
        assertion="payment",
        resolved_in_wave=resolved_in_wave,
    )
    return context.replaced(place, marked)


def settled_amount_corrected(context: DisturbanceContext) -> list[Sending]:
    """Settle another amount, and the difference in the next wave."""
    life, at = context.life, context.in_next_wave(DAY)
    disturbed = settled_amount_differs(context, context.wave + 1)
    told = disturbed[context.place_of(PAYMENT_SETTLED)].fact.payload
    difference = life.order.gross - hundredths(told["settled_money"]["gross_amount"])
    method = life.charges[0].method
    if difference > 0:
        payment = life.new_payment(method, difference)
        fact = life.tell(PAYMENT_SETTLED, at, payment.payment_id, settled(payment, at, 1))
    else:
        fact = refund(life, -difference, at, method)
    return [*disturbed, _correcting(fact, Reason.CONFLICT)]


def settled_twice(context: DisturbanceContext, resolved_in_wave: int | None = None) -> list[Sending]:
    """Settle the same charge under a second payment."""
    charge = context.sendings[context.place_of(PAYMENT_SETTLED)].fact
    first = context.life.charges[0]
    second = context.life.new_payment(first.method, first.gross)._replace(provider=first.provider)
    payload = {
        **charge.payload,
        "event_id": context.another_event_id(),
        "payment_id": second.payment_id,
        "payment_event_sequence": 1,
        "provider_settlement_reference": reference_of(second.provider, second.payment_id),
    }
    again = _settled_at(charge, payload, charge.at + context.draws.between(HOUR, 2 * DAY))
    marked = again.marked(
        "settled_twice",
        "another payment",
        _EXCEPTION,
        exception=Reason.DUPLICATE,
        assertion="payment",
        resolved_in_wave=resolved_in_wave,
    )
    return [*context.sendings, marked]


def settled_twice_and_refunded(context: DisturbanceContext) -> list[Sending]:
    """Settle the same charge twice, and refund one in the next wave."""
    life, at = context.life, context.in_next_wave(DAY)
    disturbed = settled_twice(context, context.wave + 1)
    return [*disturbed, _correcting(refund(life, life.order.gross, at, life.charges[0].method), Reason.DUPLICATE)]


def paid_long_after_dispatch(context: DisturbanceContext) -> list[Sending]:
    """Delay the payment to weeks after dispatch."""
    place = context.place_of(PAYMENT_SETTLED)
    charge = context.sendings[place].fact
    late = _settled_at(charge, charge.payload, context.life.last_dispatch + context.draws.between(20 * DAY, 25 * DAY))
    return context.replaced(
        place,
        late.marked("paid_long_after_dispatch", "charge", _EXCEPTION, exception=Reason.LATE, assertion="payment"),
    )


def shipment_of_unknown_order(context: DisturbanceContext) -> list[Sending]:
    """Dispatch a shipment for an order that does not exist."""
    sending = context.sendings[context.place_of(SHIPMENT_DISPATCHED)]
    payload = {
        **sending.fact.payload,
        "event_id": context.another_event_id(),
        "order_id": context.stranger.order,
        "shipment_id": context.stranger.shipment(1),
        "shipment_sequence_in_order": 1,
        "is_final_shipment": True,
    }
    stray = sending._replace(fact=sending.fact.changed(payload, sending.fact.at))
    marked = stray.marked(
        "shipment_of_unknown_order", "stray goods", _EXCEPTION, exception=Reason.MISSING, assertion="order"
    )
    return [*context.sendings, marked]


def refund_without_return(context: DisturbanceContext) -> list[Sending]:
    """Refund a return that was never received."""
    life = context.life
    at = life.last_dispatch + context.draws.between(3 * DAY, 10 * DAY)
    fact = refund(life, life.order.lines[0].gross, at, life.charges[0].method, context.stranger.handed_back(1))
    marked = Sending(fact, at + _ON_THE_WAY).marked(
        "refund_without_return", "unknown return", _EXCEPTION, exception=Reason.MISSING, assertion="return"
    )
    return [*context.sendings, marked]


def identity_claimed_twice(context: DisturbanceContext) -> list[Sending]:
    """Place a different order with the same id in a second channel."""
    first = context.sendings[context.place_of(ORDER_PLACED)].fact
    at = first.at + context.draws.between(HOUR, DAY)
    payload = first.payload
    payload |= {"event_id": context.another_event_id(), "order_placed_at": moment_text(at)}
    is_marketplace = context.life.order.channel == "marketplace"
    payload["sales_channel"] = "ecommerce" if is_marketplace else "marketplace"
    payload.pop("store_number", None)
    if payload.pop("marketplace_seller_id", None) is None:
        payload["marketplace_seller_id"] = f"SEL-{context.draws.between(1, SELLERS):06}"
    _add_a_line(payload)
    marked = Sending(first.changed(payload, at), at + _ON_THE_WAY).marked(
        "identity_claimed_twice",
        f"by {payload['sales_channel']} too",
        _EXCEPTION,
        exception=Reason.IDENTITY,
        assertion="order",
    )
    return [*context.sendings, marked]


_ON_THE_WAY = HOUR // 4


def _another_amount(context: DisturbanceContext) -> int:
    owed, step = context.life.order.gross, context.life.order.country.step
    difference = max(owed * context.draws.between(50, 330) // 1_000 // step * step, 100)
    return owed - difference if context.draws.happens(70) and difference < owed else owed + difference


def _settled_at(charge: Fact, payload: Payload, at: int) -> Sending:
    payload |= {"payment_settled_at": moment_text(at), "settlement_value_date": date_text(at + DAY)}
    return Sending(charge.changed(payload, at), at + _ON_THE_WAY)


def _correcting(fact: Fact, reason: Reason) -> Sending:
    sending = Sending(fact, fact.at + _ON_THE_WAY)
    return sending.marked("correction", str(reason), _RESOLVED, exception=reason, assertion="payment")


def _add_a_line(order: Payload) -> None:
    """Order the first line once more, so that the amounts differ and still add up."""
    lines, total = order["order_lines"], order["order_total"]
    more = {**lines[0], "order_line_number": len(lines) + 1}
    lines.append(more)
    for sum_of, part in (("gross_amount", "line_gross_amount"), ("tax_amount", "line_tax_amount")):
        total[sum_of] = (hundredths(total[sum_of]) + hundredths(more[part])) / 100
