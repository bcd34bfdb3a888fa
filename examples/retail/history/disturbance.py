"""The input of a disturbance: one order with its events before they arrive."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from .arrivals import Sending
from .events import Event
from .identities import Names
from .order_life import Life
from .random_draws import Draws

_EXTRA = 32
"""The number of an announcement that a disturbance adds, beyond any that a life tells."""


class DisturbanceContext(NamedTuple):
    """One order on its way to the reader, before it is disturbed."""

    life: Life
    sendings: list[Sending]
    draws: Draws
    stranger: Names
    """The identities of an order that nobody has placed."""
    wave: int
    next_wave: int
    """When the wave after this one begins."""
    long_line: int

    def place_of(self, event: Event) -> int:
        """Return where the first sending of an event stands."""
        return next(place for place, sending in enumerate(self.sendings) if sending.fact.event is event)

    def places_of(self, event: Event) -> list[int]:
        """Return where the sendings of an event stand."""
        return [place for place, sending in enumerate(self.sendings) if sending.fact.event is event]

    def replaced(self, place: int, *others: Sending) -> list[Sending]:
        """Return the sendings with others in the place of one."""
        return [*self.sendings[:place], *others, *self.sendings[place + 1 :]]

    def another_event_id(self) -> str:
        """Name one announcement more than the life of the order tells."""
        return self.life.names.event(_EXTRA)

    def in_next_wave(self, within: int) -> int:
        """Draw a moment soon after the next wave begins."""
        return self.next_wave + self.draws.below(within)


Disturbance: TypeAlias = Callable[[DisturbanceContext], list[Sending]]
