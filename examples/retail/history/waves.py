"""When each wave begins and which orders it contains."""

from __future__ import annotations

from typing import NamedTuple

from .clock import DAY, start_of
from .options import Options

STRAGGLERS = 45 * DAY
"""After its last order a wave waits this long; every life ends within, unless it goes on in the next wave."""


class Wave(NamedTuple):
    """A run of trade: its orders, and when its arrivals begin and end."""

    number: int
    orders: range
    begins: int
    trades_for: int
    seed: int

    @property
    def ends(self) -> int:
        """When the next wave begins."""
        return self.begins + self.trades_for + STRAGGLERS

    def placed_at(self, number: int) -> int:
        """Return when an order is placed: evenly over the days of trade, since it is always daytime somewhere."""
        place, count = number - self.orders.start, len(self.orders)
        here, following = (self.trades_for * spot // count for spot in (place, place + 1))
        return self.begins + here + _scattered(self.seed, number, following - here)


def wave_of(options: Options, number: int) -> Wave:
    """Return a wave; the first brings the orders asked for, each later one another day of trade."""
    first = Wave(1, range(options.orders), start_of(options.start), options.days * DAY, options.seed)
    if number == 1:
        return first
    daily = max(1, options.orders // options.days)
    begun = options.orders + (number - 2) * daily
    begins = first.ends + (number - 2) * (DAY + STRAGGLERS)
    return Wave(number, range(begun, begun + daily), begins, DAY, options.seed)


def _scattered(seed: int, number: int, width: int) -> int:
    return (number * 2_654_435_761 + seed * 40_503 >> 5) % max(width, 1)
