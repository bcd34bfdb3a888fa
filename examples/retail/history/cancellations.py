"""Cancellations of order lines."""

from __future__ import annotations

from .clock import HOUR, moment_text
from .money import amount, share_of
from .orders import Line, Order
from .random_draws import Draws, weighted

Pieces = dict[int, int]
"""Pieces by the number of their line."""

_REASONS = weighted((("customer_request", 5), ("stock_unavailable", 3), ("fraud_suspected", 1), ("seller_declined", 2)))
_INITIATORS = {
    "customer_request": "customer",
    "stock_unavailable": "retailer",
    "fraud_suspected": "retailer",
    "payment_not_obtained": "retailer",
    "seller_declined": "marketplace_seller",
}
UNPAID = "payment_not_obtained"


def any_reason(order: Order, draws: Draws) -> str:
    """Draw the reason of a cancellation; only marketplace sellers decline orders."""
    reason = draws.pick(_REASONS)
    return "stock_unavailable" if reason == "seller_declined" and order.channel != "marketplace" else reason


def some_pieces(order: Order, draws: Draws) -> Pieces:
    """Draw pieces to cancel, so that at least one remains."""
    spare = sum([line.quantity for line in order.lines]) - 1
    dropped: Pieces = {}
    for line in order.lines:
        if spare and (not dropped or draws.happens(30)):
            dropped[line.number] = min(spare, draws.between(1, line.quantity))
            spare -= dropped[line.number]
    return dropped


def all_pieces(order: Order) -> Pieces:
    """Return every piece of an order."""
    return {line.number: line.quantity for line in order.lines}


def worth(line: Line, pieces: int, order: Order) -> int:
    """Return the price of some pieces of a line, in hundredths."""
    return share_of(line.gross, pieces, line.quantity, order.country.step)


def dropped_worth(order: Order, dropped: Pieces) -> int:
    """Return the cancelled amount, with the shipping fee if nothing remains."""
    if dropped == all_pieces(order):
        return order.gross
    return sum([worth(line, dropped[line.number], order) for line in order.lines if line.number in dropped])


def cancelled(order: Order, at: int, dropped: Pieces, reason: str, paid: int, draws: Draws) -> str:
    """Return the payload of a cancellation of some or all pieces of an order."""
    lines = ",".join([_told(line, dropped[line.number], order) for line in order.lines if line.number in dropped])
    informed = f',"customer_informed_at":"{moment_text(at + draws.below(HOUR))}"' if draws.happens(70) else ""
    scope = "whole_order" if dropped == all_pieces(order) else "selected_lines"
    left = [line for line in order.lines if line.quantity > dropped.get(line.number, 0)]
    return (
        f'"order_id":"{order.order_id}",'
        f'"order_event_sequence":2,'
        f'"order_cancelled_at":"{moment_text(at)}",'
        f'"cancellation_scope":"{scope}",'
        f'"cancellation_initiator":"{_INITIATORS[reason]}",'
        f'"cancellation_reason":"{reason}",'
        f"{order.repeated},"
        f'"cancelled_lines":[{lines}],'
        f'"cancelled_total":{{"gross_amount":{amount(dropped_worth(order, dropped))},'
        f'"currency_code":"{order.country.currency}"}},'
        f'"remaining_open_line_count":{len(left)},'
        f'"is_refund_due":{"true" if paid else "false"}'
        f"{informed}"
    )


def _told(line: Line, pieces: int, order: Order) -> str:
    return (
        f'{{"order_line_number":{line.number},'
        f'"stock_keeping_unit":"{line.article.sku}",'
        f'"cancelled_quantity":{pieces},'
        f'"cancelled_line_gross_amount":{amount(worth(line, pieces, order))}}}'
    )
