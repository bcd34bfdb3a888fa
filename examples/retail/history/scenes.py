"""What a disturbance works on: one order's life with its events on their way."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from .arriving import Sending
from .draws import Draws
from .events import Event
from .identities import Names
from .life import Life

_EXTRA = 32
"""The number of an announcement that a disturbance adds, beyond any that a life tells."""


class Scene(NamedTuple):
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


Disturbance: TypeAlias = Callable[[Scene], list[Sending]]
