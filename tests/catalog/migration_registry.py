"""A registry with open and proposed migrations, ending lines, a refusal and hostile text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.registry.offers import ID, LTV, PLAN_FIELD, made_from, orders
from tests.server.conftest import Clock
from tests.server.running import running
from treaty.errors import Refused
from treaty.registry.service import Registry
from treaty.server.app import create_app

HOSTILE = "<script>alert(1)</script>"
PLAN = {"guide": "https://wiki.example.org/move", "window": "60d", "owner": "checkout"}
SNEAKY = {**PLAN, "guide": 'https://a.example/"onclick="alert(1)', "owner": HOSTILE}


@dataclass(frozen=True)
class MovingTown:
    """The registry, where it is served, and the moves in it."""

    registry: Registry
    address: str
    clock: Clock
    open: int
    proposed: int


@contextmanager
def moving_town(folder: Path) -> Iterator[MovingTown]:
    """Make all of it, and serve it."""
    clock = Clock()
    with ExitStack() as stack:
        registry = stack.enter_context(Registry.open(str(folder / "registry.db"), clock=clock))
        _fill(registry, clock)
        moves = {one.contract: one.id for one in registry.migrations.list().items}
        address = stack.enter_context(running(create_app(registry)))
        yield MovingTown(registry, address, clock, moves["orders"], moves["stock"])


def _fill(it: Registry, clock: Clock) -> None:
    it.register(orders())
    _read(it, "board", "orders@1", fields=["ltv"], team="bi", contact="bi@example.org", purpose=HOSTILE)
    _read(it, "ledger", "orders@1", team="bi")
    _read(it, "alone", "orders@1", fields=["plan"])
    with suppress(Refused):
        it.register(orders("1.0.1", [ID]))
    with suppress(Refused):
        it.register(orders(id="never", tier="edge"))
    it.register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN))
    it.deprecate_line("orders@1", deprecation_uri="https://wiki.example.org/move")
    (move,) = it.migrations.list(contract="orders").items
    it.migrations.waive(move.id, "ledger", reason=HOSTILE, until=clock.now.date().replace(year=2027))
    clock.forward(days=50)
    it.tick()
    it.register(orders(id="stock", owners=[{"team": HOSTILE, "contact": "javascript:alert(2)"}]))
    _read(it, "shop", "stock@1", fields=["ltv"], team="bi", consumer_class="decision_automation")
    it.register(orders("2.0.0", [ID], id="stock", migration=SNEAKY))
    it.register(made_from("digest", "orders@1:ltv", "never", owners=[{"team": "press", "contact": "#press"}]))
    it.register(orders("1.0.0", [ID, LTV], id="edge", tier="edge", expires=str(clock.now.date().replace(day=30))))


def _read(it: Registry, consumer: str, line: str, **more: Any) -> None:
    it.consumers.subscribe(consumer, line, **{"consumer_class": "operational_reporting", **more})
