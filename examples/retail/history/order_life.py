"""The events of one order: placed, then cancelled or paid, shipped, and possibly returned and refunded."""

from __future__ import annotations

from dataclasses import dataclass, field

from .cancellations import UNPAID, Pieces, all_pieces, any_reason, cancelled, dropped_worth, some_pieces
from .clock import DAY, HOUR, MINUTE
from .events import (
    ORDER_CANCELLED,
    ORDER_PLACED,
    PAYMENT_FAILED,
    PAYMENT_SETTLED,
    RETURN_RECEIVED,
    SHIPMENT_DISPATCHED,
    Event,
    Fact,
)
from .identities import Identities, Names
from .order_requirements import PATHS, OrderRequirement, Path
from .orders import Order, take_order
from .payments import Payment, any_method, failed, provider_of, settled, settles_after, waits_for_retry
from .random_draws import Draws
from .returns import received, some_of
from .shipments import dispatched, parted

_MAX_FAILURES = 3
_BETWEEN_INSTALMENTS = 5 * DAY


@dataclass(slots=True)
class Life:
    """The events of an order so far, in order."""

    order: Order
    names: Names
    draws: Draws
    facts: list[Fact] = field(default_factory=list)
    charges: list[Payment] = field(default_factory=list)
    shipped: Pieces = field(default_factory=dict)
    last_dispatch: int = 0
    payments: int = 0

    def tell(self, event: Event, at: int, key: str, told: str) -> Fact:
        """Add an event with the next event id."""
        fact = Fact(event, at, key, f'{{"event_id":"{self.names.event(len(self.facts))}",{told}}}')
        self.facts.append(fact)
        return fact

    def new_payment(self, method: str, gross: int, instalment: int | None = None) -> Payment:
        """Create another payment of the order."""
        self.payments += 1
        payment_id = self.names.payment(self.payments)
        return Payment(payment_id, self.order, method, provider_of(method, payment_id), gross, instalment)


def live(number: int, placed_at: int, ids: Identities, requirement: OrderRequirement) -> Life:
    """Generate all events of an order; the same number always gives the same events."""
    names, draws = ids.of(number), Draws(ids.seed, number)
    order = take_order(number, names.order, placed_at, draws, requirement)
    life = Life(order, names, draws)
    life.tell(ORDER_PLACED, placed_at, order.order_id, order.told)
    path = requirement.path or draws.pick(PATHS)
    if order.method == "carried_out" and path is not Path.RETURNED:
        path = Path.DELIVERED
    if path is Path.CANCELLED_UNPAID:
        _give_up(life, draws, requirement)
        return life
    paid_at = _pay(life, draws, requirement)
    standing = all_pieces(order)
    if path in (Path.CANCELLED_PAID, Path.PARTLY_CANCELLED):
        paid_at = _cancel(life, path, paid_at, standing, draws)
    if standing:
        _send(life, standing, paid_at, draws, requirement)
    if path is Path.RETURNED:
        send_back(life, life.last_dispatch + draws.between(3 * DAY, 14 * DAY), draws)
    return life


def refund(life: Life, gross: int, at: int, method: str, return_id: str | None = None) -> Fact:
    """Pay money back to the customer."""
    payment = life.new_payment(method, gross)
    return life.tell(PAYMENT_SETTLED, at, payment.payment_id, settled(payment, at, 1, "refund", return_id))


def send_back(life: Life, at: int, draws: Draws) -> None:
    """Return some of the shipped pieces, and refund them."""
    back = some_of(life.shipped, draws)
    return_id = life.names.handed_back(1)
    returned = received(life.order, back, return_id, at, draws)
    life.tell(RETURN_RECEIVED, at, return_id, returned.told)
    if returned.owed:
        method = life.charges[0].method if returned.form == "original_payment" else "gift_card"
        refund(life, returned.owed, at + draws.between(DAY, 5 * DAY), method, return_id)


def _fail(life: Life, payment: Payment, at: int, attempts: int, draws: Draws, *, finally_: bool) -> int:
    """Let some attempts of a payment fail, and return when the next one would take place."""
    for attempt in range(1, attempts + 1):
        retry = at + waits_for_retry(draws)
        planned = None if finally_ and attempt == attempts else retry
        life.tell(PAYMENT_FAILED, at, payment.payment_id, failed(payment, at, attempt, planned, draws))
        at = retry
    return at


def _give_up(life: Life, draws: Draws, requirement: OrderRequirement) -> None:
    order = life.order
    reason = UNPAID if requirement.failures or draws.happens(40) else any_reason(order, draws)
    at = order.placed_at + draws.between(10 * MINUTE, 20 * HOUR)
    if reason == UNPAID:
        payment = life.new_payment(any_method(order, draws), order.gross)
        attempts = requirement.failures or draws.between(1, _MAX_FAILURES)
        at = _fail(life, payment, order.placed_at + draws.below(HOUR), attempts, draws, finally_=True)
    life.tell(ORDER_CANCELLED, at, order.order_id, cancelled(order, at, all_pieces(order), reason, 0, draws))


def _pay(life: Life, draws: Draws, requirement: OrderRequirement) -> int:
    """Charge the order at once, with two payment methods or in instalments; return the time of the first payment."""
    order = life.order
    failures = requirement.failures
    if failures is None:
        drawn = draws.below(100)
        failures = 0 if drawn > 5 or order.method == "carried_out" else 1 + drawn % 2
    first_at = 0
    for method, gross, instalment in _shares(order, any_method(order, draws), draws, requirement):
        payment = life.new_payment(method, gross, instalment)
        at = order.placed_at + draws.below(MINUTE) + ((instalment or 1) - 1) * _BETWEEN_INSTALMENTS
        if failures:
            at = _fail(life, payment, at, failures, draws, finally_=False)
        at += settles_after(payment, draws)
        life.tell(PAYMENT_SETTLED, at, payment.payment_id, settled(payment, at, failures + 1))
        life.charges.append(payment)
        first_at, failures = first_at or at, 0
    return first_at


def _shares(
    order: Order, method: str, draws: Draws, requirement: OrderRequirement
) -> list[tuple[str, int, int | None]]:
    kind = draws.below(100)
    if requirement.one_charge or kind >= 12:
        return [(method, order.gross, None)]
    step = order.country.step
    if kind < 5:
        credit = order.gross // draws.between(3, 6) // step * step
        return [("gift_card", credit, None), (method, order.gross - credit, None)]
    if order.method == "carried_out":
        return [(method, order.gross, None)]
    third = order.gross // 3 // step * step
    return [(method, third, 1), (method, third, 2), (method, order.gross - 2 * third, 3)]


def _cancel(life: Life, path: Path, paid_at: int, standing: Pieces, draws: Draws) -> int:
    """Cancel pieces of a paid order and refund them; return when the rest can be shipped."""
    order = life.order
    everything = path is Path.CANCELLED_PAID
    dropped = all_pieces(order) if everything else some_pieces(order, draws)
    if not dropped:
        return paid_at
    at = max(paid_at, life.facts[-1].at) + draws.between(10 * MINUTE, 6 * HOUR)
    worth = dropped_worth(order, dropped)
    told = cancelled(order, at, dropped, any_reason(order, draws), worth, draws)
    life.tell(ORDER_CANCELLED, at, order.order_id, told)
    for number, pieces in dropped.items():
        standing[number] -= pieces
        if not standing[number]:
            del standing[number]
    refund(life, worth, at + draws.between(HOUR, 3 * DAY), life.charges[0].method)
    return at


def _send(life: Life, standing: Pieces, ready_at: int, draws: Draws, requirement: OrderRequirement) -> None:
    order = life.order
    over_counter = order.method == "carried_out"
    at = order.placed_at + MINUTE if over_counter else ready_at + draws.between(4 * HOUR, 3 * DAY)
    for part in parted(order, standing, requirement.shipments, draws):
        shipment_id = life.names.shipment(part.sequence)
        life.tell(SHIPMENT_DISPATCHED, at, order.order_id, dispatched(order, part, shipment_id, at, draws))
        life.last_dispatch = at
        at += draws.between(DAY, 2 * DAY)
    life.shipped = standing
