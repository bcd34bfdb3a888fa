"""The graph around one contract, as a figure for its page."""

from __future__ import annotations

from treaty.catalog.drawing.figures import Drawing, compose
from treaty.catalog.drawing.parties import bounded, parties
from treaty.catalog.sources import Source
from treaty.catalog.words import counted

BOXES, ARROWS = 120, 360
"""The most that is drawn: beyond that a picture shows nothing any more, and takes long to lay out."""

_BOXES_OF_ONE = 60


def lineage_of(source: Source, contract_id: str, hops: int = 1) -> Drawing:
    """Draw what a contract is made from, and who rests on it, the nearest first."""
    answer = source.consumers.map(contract_id, hops=hops, limit=_BOXES_OF_ONE)
    found, cut = bounded(parties(answer), _BOXES_OF_ONE, ARROWS)
    return compose(f"Dependencies around {contract_id}", *found, left_out=beyond(answer.more + cut))


def beyond(more: int) -> str | None:
    """Say what was left out."""
    if not more:
        return None
    return f"{counted(more, 'box', 'boxes')} more {'is' if more == 1 else 'are'} not drawn; the nearest are."
