"""Who reads a contract: whether its consumers were seen reading, and who reads without a subscription."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from treaty.catalog.source import Source, iterate_pages
from treaty.registry.model import LayoutAnswer, Page, UsageAnswer
from treaty.registry.model.usage_answers import UsageState

UsageKey = tuple[str, str]
"""The name of a consumer, and a line."""

STATE_ICONS: Mapping[UsageState, str] = {
    "read": "healthy",
    "silent": "blocked",
    "unsubscribed": "warning",
    "declared": "none",
}
"""The icon of each state of usage."""


@dataclass(frozen=True, slots=True)
class Observation:
    """Whether a consumer reads a line, and what was seen of it; None if no event shows it."""

    state: UsageState
    reads: UsageAnswer | None = None

    @property
    def icon(self) -> str:
        """The icon of the state."""
        return STATE_ICONS[self.state]


class ObservedReaders:
    """Observations of the consumers of a contract."""

    def __init__(self, states: Mapping[UsageKey, UsageState], reads: Mapping[UsageKey, UsageAnswer]) -> None:
        self._states = states
        self._reads = reads

    def of(self, consumer: str, line: str) -> Observation | None:
        """Return the observation of a subscriber, or None if its state is not known."""
        reads = self._reads.get((consumer, line))
        state = reads.usage if reads is not None else self._states.get((consumer, line))
        return None if state is None else Observation(state, reads)

    def without_subscription(self, line: str) -> Iterator[Observation]:
        """Yield the consumers that depend on a line without a subscription, by name."""
        for (_, read_line), reads in sorted(self._reads.items()):
            if read_line == line and reads.usage == "unsubscribed":
                yield Observation(reads.usage, reads)


def load_observed_readers(source: Source, contract: str, downstream: LayoutAnswer) -> ObservedReaders:
    """Load the observed readers of a contract.

    The map has the state of subscribers of whom no event tells, and has no readers whose reads are too old to count.
    """

    def usage(cursor: str | None, limit: int) -> Page[UsageAnswer]:
        return source.lineage.usage(contract=contract, cursor=cursor, limit=limit)

    names = {node.id: node.name for node in downstream.nodes}
    states = {
        (names[edge.downstream], names[edge.upstream]): edge.usage
        for edge in downstream.edges
        if edge.usage is not None and edge.downstream in names and edge.upstream in names
    }
    reads = {(answer.consumer, answer.line): answer for answer in iterate_pages(usage)}
    if not downstream.more:
        reads = {key: answer for key, answer in reads.items() if key in states}
    return ObservedReaders(states, reads)
