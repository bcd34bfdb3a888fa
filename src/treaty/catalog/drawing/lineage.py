"""The graph around one contract, as a figure for its page."""

from __future__ import annotations

from treaty.catalog.drawing.figures import Drawing, compose
from treaty.catalog.drawing.parties import bounded, parties
from treaty.catalog.sources import Source
from treaty.catalog.words import counted

BOXES, ARROWS = 120, 360
"""The most that is drawn: beyond that a picture shows nothing any more, and takes long to lay out."""


def lineage_of(source: Source, contract_id: str, hops: int = 1) -> Drawing:
    """Draw what a contract is made from, and who rests on it."""
    return drawing_around(source, contract_id, hops, boxes=60)


def drawing_around(source: Source, name: str, hops: int | None, direction: str = "both", boxes: int = BOXES) -> Drawing:
    """Draw what stands around a line, contract or consumer, the nearest first."""
    answer = source.consumers.map(name, hops=hops, direction=direction, limit=boxes)
    found, cut = bounded(parties(answer), boxes, ARROWS)
    return compose(f"Dependencies around {name}", *found, left_out=beyond(answer.more + cut))


def beyond(more: int) -> str | None:
    """Say what was left out."""
    if not more:
        return None
    return f"{counted(more, 'box', 'boxes')} more {'is' if more == 1 else 'are'} not drawn; the nearest are."
