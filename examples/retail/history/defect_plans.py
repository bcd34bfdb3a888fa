"""Which orders get which defect: the number of each per thousand orders, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from . import delays, later_events, random_draws, source_conflicts
from .disturbance import Disturbance
from .events import (
    EVENTS,
    ORDER_CANCELLED,
    ORDER_PLACED,
    PAYMENT_FAILED,
    PAYMENT_SETTLED,
    RETURN_RECEIVED,
    SHIPMENT_DISPATCHED,
    Event,
)
from .invalid_rows import DAMAGES, Fate, damaged
from .options import Options
from .order_requirements import NO_REQUIREMENT, OrderRequirement, Path
from .random_draws import Draws
from .unreadable_lines import POISONS, poisoned

BLOCK = 1_000


@dataclass(frozen=True, slots=True)
class Plan:
    """The defect of an order, and what it requires of the order."""

    disturb: Disturbance
    requirement: OrderRequirement = NO_REQUIREMENT
    goes_on: bool = False
    """Whether it has events in the next wave, too."""
    once: bool = False
    """Whether it occurs once in the history instead of once per thousand orders."""


_DELIVERED = source_conflicts.PAID_AND_SENT
_HAVING = {
    ORDER_PLACED: _DELIVERED,
    ORDER_CANCELLED: OrderRequirement(path=Path.CANCELLED_PAID),
    PAYMENT_SETTLED: _DELIVERED,
    PAYMENT_FAILED: OrderRequirement(path=Path.CANCELLED_UNPAID, failures=2),
    SHIPMENT_DISPATCHED: _DELIVERED,
    RETURN_RECEIVED: OrderRequirement(path=Path.RETURNED),
}
"""Requirements for an event of each kind, with no newer event of its key after the last one."""
_RETRIED = OrderRequirement(path=Path.DELIVERED, failures=1, one_charge=True)
_IN_PARTS = OrderRequirement(path=Path.DELIVERED, shipments=2, one_charge=True)
_CANCELLED = OrderRequirement(path=Path.CANCELLED_PAID)
_LATE_FIRST = (PAYMENT_SETTLED, SHIPMENT_DISPATCHED, ORDER_PLACED, RETURN_RECEIVED, PAYMENT_FAILED, ORDER_CANCELLED)


def _ordinary() -> Iterator[Plan]:
    """Yield the plans that are not defects."""
    yield from [Plan(later_events.returned_next_wave, _DELIVERED, goes_on=True)] * 4


def _late(share: float) -> Iterator[Plan]:
    for place in range(round(share * BLOCK)):
        event = _LATE_FIRST[place % len(_LATE_FIRST)]
        yield Plan(delays.late(event), _HAVING[event])


def _defects() -> Iterator[Plan]:
    for event in EVENTS:
        yield from [Plan(delays.redelivered(event), _HAVING[event])] * 2
        yield Plan(delays.redelivered_next_wave(event), _HAVING[event], goes_on=True)
    yield from [Plan(delays.overtaken(ORDER_PLACED, ORDER_CANCELLED), _CANCELLED)] * 3
    yield from [Plan(delays.overtaken(PAYMENT_FAILED, PAYMENT_SETTLED), _RETRIED)] * 3
    yield from [Plan(delays.overtaken(SHIPMENT_DISPATCHED, SHIPMENT_DISPATCHED), _IN_PARTS)] * 3
    yield Plan(delays.overtaken_by_a_wave(PAYMENT_FAILED), _RETRIED, goes_on=True)
    yield Plan(delays.overtaken_by_a_wave(SHIPMENT_DISPATCHED), _IN_PARTS, goes_on=True)
    yield Plan(delays.lost(PAYMENT_FAILED), _RETRIED)
    yield Plan(delays.lost(SHIPMENT_DISPATCHED), _IN_PARTS)
    for damage in DAMAGES:
        yield Plan(damaged(damage), damage.requirement, goes_on=damage.fate is Fate.RESENT_NEXT_WAVE)
    yield from _conflicts()
    yield from [Plan(later_events.charged_back_next_wave, _DELIVERED, goes_on=True)] * 2


def _poison() -> Iterator[Plan]:
    victims: tuple[Event, ...] = (ORDER_PLACED, PAYMENT_SETTLED, SHIPMENT_DISPATCHED)
    for place, kind in enumerate(POISONS):
        event = victims[place % len(victims)]
        yield Plan(poisoned(kind, event), _HAVING[event], once=kind == "long_line")


def _conflicts() -> Iterator[Plan]:
    missing_order = source_conflicts.never_comes(ORDER_PLACED, "order_dropped", "order")
    never_paid = source_conflicts.never_comes(PAYMENT_SETTLED, "never_paid", "payment")
    for disturb, count, goes_on in (
        (missing_order, 2, False),
        (never_paid, 2, False),
        (source_conflicts.comes_next_wave(ORDER_PLACED, "order"), 2, True),
        (source_conflicts.comes_next_wave(PAYMENT_SETTLED, "payment"), 2, True),
        (source_conflicts.settled_amount_differs, 3, False),
        (source_conflicts.settled_amount_corrected, 2, True),
        (source_conflicts.settled_twice, 2, False),
        (source_conflicts.settled_twice_and_refunded, 1, True),
        (source_conflicts.paid_long_after_dispatch, 2, False),
        (source_conflicts.shipment_of_unknown_order, 2, False),
        (source_conflicts.refund_without_return, 2, False),
        (source_conflicts.identity_claimed_twice, 3, False),
    ):
        yield from [Plan(disturb, _DELIVERED, goes_on)] * count


class Plans:
    """The plans of one history; the plan of an order depends only on its number."""

    def __init__(self, options: Options) -> None:
        dealt: list[Plan | None] = [*_ordinary(), *_late(options.late_share)]
        if options.defects:
            dealt += _defects()
        # last, so that whatever else befalls an order is the same with and without
        if options.defects and options.poison:
            dealt += _poison()
        if len(dealt) > BLOCK:
            raise ValueError(f"late_share {options.late_share} leaves no room for the other defects; lower it")
        self._deck = dealt + [None] * (BLOCK - len(dealt))
        self._seed = options.seed
        self._block = lru_cache(maxsize=4)(self._shuffled)

    def of(self, number: int) -> Plan | None:
        """Return the plan of an order, or None, as for most orders."""
        block, place = divmod(number, BLOCK)
        plan = self._block(block)[place]
        return None if plan is not None and plan.once and block else plan

    def _shuffled(self, block: int) -> list[Plan | None]:
        return Draws(self._seed, block, random_draws.BLOCK).shuffled(self._deck)
