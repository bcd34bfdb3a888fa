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
"""The number of an event that a disturbance adds, higher than those of the order."""


class DisturbanceContext(NamedTuple):
    """One order with its events, before the defect is applied."""

    life: Life
    sendings: list[Sending]
    draws: Draws
    stranger: Names
    """The ids of an order that does not exist."""
    wave: int
    next_wave: int
    """The start of the next wave."""
    long_line: int

    def place_of(self, event: Event) -> int:
        """Return the index of the first sending of an event."""
        return next(place for place, sending in enumerate(self.sendings) if sending.fact.event is event)

    def places_of(self, event: Event) -> list[int]:
        """Return the indexes of the sendings of an event."""
        return [place for place, sending in enumerate(self.sendings) if sending.fact.event is event]

    def replaced(self, place: int, *others: Sending) -> list[Sending]:
        """Return the sendings with one of them replaced."""
        return [*self.sendings[:place], *others, *self.sendings[place + 1 :]]

    def another_event_id(self) -> str:
        """Return the id of an additional event of the order."""
        return self.life.names.event(_EXTRA)

    def in_next_wave(self, within: int) -> int:
        """Draw a time soon after the start of the next wave."""
        return self.next_wave + self.draws.below(within)


Disturbance: TypeAlias = Callable[[DisturbanceContext], list[Sending]]
