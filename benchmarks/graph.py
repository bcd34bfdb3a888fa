"""Whom does a change hit? 10,000 contracts with 100,000 edges, asked of a registry on SQLite."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.http_load import contract
from benchmarks.timing import table
from treaty.registry.service import Registry

_CONTRACTS = 10_000
_LINEAGE = 20_000
_SUBSCRIPTIONS = 80_000
_QUESTIONS = 1_000


def run() -> str:
    """Fill a registry, then ask for the impact of removing a field, and for the graph."""
    chance = random.Random(7)  # noqa: S311
    with tempfile.TemporaryDirectory() as work, Registry.open(str(Path(work) / "registry.db")) as registry:
        edges = _fill(registry, chance)
        began = time.perf_counter()
        registry.consumers.impact(_without_a_field(0))
        first = time.perf_counter() - began
        impact = _times(chance, lambda one: registry.consumers.impact(_without_a_field(one)))
        graph = _times(chance, lambda one: registry.consumers.graph(_name(one)))
    rows = [
        ("impact of removing a field", *_percentiles(impact)),
        ("everybody downstream of a line", *_percentiles(graph)),
    ]
    note = f"{_CONTRACTS:,} contracts, {edges:,} edges; the first question, which reads the graph, takes {first:.2f} s."
    return table(("question", "p50", "p99", "max"), rows) + f"\n\n{note}"


def _fill(registry: Registry, chance: random.Random) -> int:
    upstreams: dict[int, set[int]] = {}
    for _ in range(_LINEAGE):
        one = chance.randrange(1, _CONTRACTS)
        upstreams.setdefault(one, set()).add(chance.randrange(one))
    handed_in = []
    for one in range(_CONTRACTS):
        lineage = [
            {"contract": f"{_name(up)}@1", "fields": [f"f{chance.randrange(7)}"]} for up in upstreams.get(one, ())
        ]
        document = contract(one) | ({"lineage": lineage} if lineage else {})
        handed_in.append(registry.submit(document))
    for future in handed_in:
        future.result()
    pairs = {(chance.randrange(20_000), chance.randrange(_CONTRACTS)) for _ in range(_SUBSCRIPTIONS)}
    reads = {pair: [f"f{place}" for place in chance.sample(range(7), chance.randrange(4))] for pair in sorted(pairs)}

    def subscribe(pair: tuple[int, int]) -> None:
        consumer, one = f"consumer-{pair[0]}", f"{_name(pair[1])}@1"
        registry.consumers.subscribe(consumer, one, consumer_class="operational_reporting", fields=reads[pair])

    with ThreadPoolExecutor(64) as pool:  # together they share the flushes to disk
        list(pool.map(subscribe, reads))
    return len(pairs) + sum(map(len, upstreams.values()))


def _times(chance: random.Random, ask: Callable[[int], object]) -> list[float]:
    taken = []
    for _ in range(_QUESTIONS):
        one = chance.randrange(_CONTRACTS)
        began = time.perf_counter()
        ask(one)
        taken.append(time.perf_counter() - began)
    return sorted(taken)


def _percentiles(taken: list[float]) -> list[str]:
    places = (len(taken) // 2, int(len(taken) * 0.99), len(taken) - 1)
    return [f"{taken[place] * 1e3:.1f} ms" for place in places]


def _without_a_field(one: int) -> dict[str, object]:
    document = contract(one, "2.0.0")
    return document | {"fields": [field for field in document["fields"] if field["name"] != "f3"]}


def _name(one: int) -> str:
    return f"team{one % 100}.data_{one}"
