"""Generates arrivals from order numbers; each order is independent, so any slice can be generated alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from .arrival_sort import Slots
from .arrivals import Arrival, Sending, on_their_way
from .defect_plans import Plan, Plans
from .disturbance import DisturbanceContext
from .identities import UNKNOWN, Identities
from .options import Options
from .order_life import Life, live
from .order_requirements import NO_REQUIREMENT
from .random_draws import DISTURBANCE, Draws
from .waves import Wave, wave_of


class Source:
    """Generates the arrivals of a wave, order by order."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._wanted = options.events
        self._ids = Identities(options.seed)
        self._plans = Plans(options)
        self._wave = wave_of(options, options.wave)
        self._before = wave_of(options, options.wave - 1) if options.wave > 1 else None

    @property
    def numbers(self) -> range:
        """The numbers of all orders that may have events in the wave."""
        first = self._before or self._wave
        return range(first.orders.start, self._wave.orders.stop)

    def arrivals(self, numbers: range) -> Iterator[Arrival]:
        """Yield the arrivals of some orders, order by order; orders outside the wave have none."""
        told = self.numbers
        for number in range(max(numbers.start, told.start), min(numbers.stop, told.stop)):
            plan = self._plans.of(number)
            if self._before is None or number >= self._wave.orders.start:
                yield from self._told(number, self._wave, plan, self._wave.begins, self._wave.ends)
            elif plan is not None and plan.goes_on:
                yield from self._told(number, self._before, plan, self._before.ends, self._wave.ends)

    def _told(self, number: int, wave: Wave, plan: Plan | None, begins: int, ends: int) -> Iterator[Arrival]:
        life = live(number, wave.placed_at(number), self._ids, NO_REQUIREMENT if plan is None else plan.requirement)
        if plan is None:
            for place, (fact, at) in enumerate(on_their_way(life)):
                if (name := fact.event.name) in self._wanted:
                    yield Arrival(at, number, place, name, fact.line.encode(), None)
            return
        for place, sending in enumerate(self._disturbed(life, wave, plan)):
            if begins <= sending.at < ends and (name := sending.fact.event.name) in self._wanted:
                line = sending.bytes() if sending.comes else None
                yield Arrival(sending.at, number, place, name, line, sending.mark)

    def _disturbed(self, life: Life, wave: Wave, plan: Plan) -> list[Sending]:
        draws = Draws(self._options.seed, life.order.number, DISTURBANCE)
        sendings = [Sending(fact, at) for fact, at in on_their_way(life)]
        stranger = self._ids.of(life.order.number + UNKNOWN)
        return plan.disturb(
            DisturbanceContext(life, sendings, draws, stranger, wave.number, wave.ends, self._options.long_line)
        )


def generate(options: Options, numbers: range | None = None) -> Iterator[Arrival]:
    """Yield all arrivals in order of arrival; with numbers, only those of these orders."""
    source = Source(options)
    with TemporaryDirectory(prefix="history-") as folder:
        slots = Slots(Path(folder))
        for arrival in source.arrivals(source.numbers if numbers is None else numbers):
            slots.add(arrival)
        for slot in slots.numbers():
            yield from slots.take(slot)
