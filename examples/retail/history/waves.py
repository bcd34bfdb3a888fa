"""When each wave begins and which orders it contains."""

from __future__ import annotations

from typing import NamedTuple

from .clock import DAY, start_of
from .options import Options

STRAGGLERS = 45 * DAY
"""Time after the last order of a wave in which its orders are completed, unless they continue in the next wave."""


class Wave(NamedTuple):
    """A period of sales: its orders, and when its arrivals begin and end."""

    number: int
    orders: range
    begins: int
    trades_for: int
    seed: int

    @property
    def ends(self) -> int:
        """The start of the next wave."""
        return self.begins + self.trades_for + STRAGGLERS

    def placed_at(self, number: int) -> int:
        """Return when an order is placed; orders are spread evenly over the days of the wave."""
        place, count = number - self.orders.start, len(self.orders)
        here, following = (self.trades_for * spot // count for spot in (place, place + 1))
        return self.begins + here + _scattered(self.seed, number, following - here)


def wave_of(options: Options, number: int) -> Wave:
    """Return a wave; the first has the requested orders, each later one another day of orders."""
    first = Wave(1, range(options.orders), start_of(options.start), options.days * DAY, options.seed)
    if number == 1:
        return first
    daily = max(1, options.orders // options.days)
    begun = options.orders + (number - 2) * daily
    begins = first.ends + (number - 2) * (DAY + STRAGGLERS)
    return Wave(number, range(begun, begun + daily), begins, DAY, options.seed)


def _scattered(seed: int, number: int, width: int) -> int:
    return (number * 2_654_435_761 + seed * 40_503 >> 5) % max(width, 1)
