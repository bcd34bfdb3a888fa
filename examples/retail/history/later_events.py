"""Valid events that arrive after their wave: returns and chargebacks of settled orders."""

from __future__ import annotations

from .arrivals import Sending
from .clock import DAY, HOUR
from .defect_marks import Outcome
from .disturbance import DisturbanceContext
from .events import PAYMENT_FAILED
from .order_life import send_back
from .payments import charged_back


def returned_next_wave(context: DisturbanceContext) -> list[Sending]:
    """Return goods in the next wave, with a refund."""
    told = len(context.life.facts)
    send_back(context.life, context.in_next_wave(DAY), context.draws)
    return [*context.sendings, *(Sending(fact, fact.at + HOUR // 4) for fact in context.life.facts[told:])]


def charged_back_next_wave(context: DisturbanceContext) -> list[Sending]:
    """Charge a settled payment back in the next wave."""
    life, at = context.life, context.in_next_wave(DAY)
    fact = life.tell(PAYMENT_FAILED, at, life.charges[0].payment_id, charged_back(life.charges[0], at, 2))
    sending = Sending(fact, at + HOUR // 4)
    return [*context.sendings, sending.marked("charged_back", "after_settlement", Outcome.UPDATED)]
