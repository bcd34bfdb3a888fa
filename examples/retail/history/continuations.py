"""What goes on after a wave has ended, as it does in any trade: no defects, but changes of what was settled."""

from __future__ import annotations

from .arriving import Sending
from .clock import DAY, HOUR
from .events import PAYMENT_FAILED
from .life import send_back
from .marks import Outcome
from .payments import charged_back
from .scenes import Scene


def returned_next_wave(scene: Scene) -> list[Sending]:
    """Return goods in the next wave, with a refund."""
    told = len(scene.life.facts)
    send_back(scene.life, scene.in_next_wave(DAY), scene.draws)
    return [*scene.sendings, *(Sending(fact, fact.at + HOUR // 4) for fact in scene.life.facts[told:])]


def charged_back_next_wave(scene: Scene) -> list[Sending]:
    """Let the customer's bank take settled money back in the next wave."""
    life, at = scene.life, scene.in_next_wave(DAY)
    fact = life.tell(PAYMENT_FAILED, at, life.charges[0].payment_id, charged_back(life.charges[0], at, 2))
    sending = Sending(fact, at + HOUR // 4)
    return [*scene.sendings, sending.marked("charged_back", "after_settlement", Outcome.UPDATED)]
