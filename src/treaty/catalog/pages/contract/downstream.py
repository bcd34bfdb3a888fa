"""Who takes fields of a line: its consumers, and the contracts that are made from it."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.catalog.sources import Source
from treaty.registry.answers import SubscriptionAnswer

_MOST = 1_000


@dataclass(frozen=True, slots=True)
class Taker:
    """One who takes fields of a line; without fields it is unknown which."""

    name: str
    line: str
    fields: tuple[str, ...]
    title: str | None = None
    """What it calls itself, if it is a contract."""

    @property
    def label(self) -> str:
        """What it is called in a row."""
        return self.name if self.title is None else f"{self.title} @{self.name.rpartition('@')[2]}"


def readers_among(subscriptions: tuple[SubscriptionAnswer, ...]) -> tuple[Taker, ...]:
    """Return consumers as takers."""
    return tuple(Taker(one.consumer, one.line, tuple(one.fields)) for one in subscriptions)


def made_from(source: Source, contract: str) -> tuple[Taker, ...]:
    """Return the lines of other contracts that are made from lines of this one, with the fields they take."""
    answer = source.consumers.map(contract, hops=1, direction="downstream", limit=_MOST)
    nodes = {one.id: one for one in answer.nodes}
    return tuple(
        Taker(to.name, origin.name, tuple(edge.fields), to.title or to.name)
        for edge in answer.edges
        if edge.kind == "made_from"
        and (origin := nodes.get(edge.upstream)) is not None
        and (to := nodes.get(edge.downstream)) is not None
        and origin.contract == contract != to.contract
    )
