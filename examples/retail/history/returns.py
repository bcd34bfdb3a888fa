"""Returns and the refunds owed for them."""

from __future__ import annotations

from typing import NamedTuple

from .cancellations import Pieces, worth
from .clock import DAY, moment_text
from .money import amount, tax_within
from .orders import STORES, Line, Order
from .random_draws import Draws, weighted

_REASONS = weighted(
    (("does_not_fit", 4), ("defective", 1), ("not_as_described", 2), ("wrong_item_sent", 1), ("no_longer_wanted", 4))
)
_CONDITIONS = weighted((("resalable", 17), ("damaged", 2), ("incomplete", 1)))
_FORMS = weighted((("original_payment", 8), ("store_credit", 1), ("exchange", 1)))
_INTAKES = ("mail_in", "mail_in", "carrier_pickup")


class Returned(NamedTuple):
    """A return: its event, the refund in hundredths, and the form of the refund."""

    told: str
    owed: int
    form: str


def some_of(shipped: Pieces, draws: Draws) -> Pieces:
    """Draw the returned pieces, at least one."""
    back = {number: draws.between(1, pieces) for number, pieces in shipped.items() if draws.happens(50)}
    return back or dict([next(iter(shipped.items()))])


def received(order: Order, back: Pieces, return_id: str, at: int, draws: Draws) -> Returned:
    """Draw a return and the decision about it."""
    in_time = not draws.happens(4)
    owed, lines = 0, []
    for line in order.lines:
        if line.number in back:
            reason = draws.pick(_REASONS)
            gross = worth(line, back[line.number], order) if in_time or reason == "defective" else 0
            lines.append(_told(line, back[line.number], reason, gross, draws))
            owed += gross
    by_counter, drawn = order.address is None, draws.below(STORES)
    announced = "" if by_counter else f',"return_announced_at":"{moment_text(at - draws.between(DAY // 2, 2 * DAY))}"'
    form = draws.pick(_FORMS)
    told = (
        f'"return_id":"{return_id}",'
        f'"order_id":"{order.order_id}",'
        f'"return_received_at":"{moment_text(at)}",'
        f'"return_intake_channel":"{"store_counter" if by_counter else draws.pick(_INTAKES)}",'
        f'"intake_site_number":"{1 + drawn + (0 if by_counter else 7_000):04}",'
        f'"intake_country_code":"{order.country.code}",'
        f'"sales_channel":"{order.channel}",'
        f'"is_within_return_window":{"true" if in_time else "false"},'
        f'"returned_lines":[{",".join(lines)}],'
        f'"refund_due":{{"gross_amount":{amount(owed)},'
        f'"tax_amount":{amount(tax_within(owed, order.country.tax_rate, order.country.step))},'
        f'"currency_code":"{order.country.currency}"}},'
        f'"refund_form_requested":"{form}"'
        f"{announced}"
    )
    return Returned(told, owed, form)


def _told(line: Line, pieces: int, reason: str, gross: int, draws: Draws) -> str:
    return (
        f'{{"order_line_number":{line.number},'
        f'"stock_keeping_unit":"{line.article.sku}",'
        f'"returned_quantity":{pieces},'
        f'"return_reason":"{reason}",'
        f'"received_condition":"{draws.pick(_CONDITIONS)}",'
        f'"refundable_line_gross_amount":{amount(gross)}}}'
    )
