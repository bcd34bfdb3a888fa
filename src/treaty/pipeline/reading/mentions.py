"""Which declarations read which: what each kind may read, and the words for what it may not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from treaty.contracts.findings import Place
from treaty.pipeline.reading.names import folded
from treaty.pipeline.reading.problems import UNKNOWN_NAME, WRONG_LAYER, Problems, meant


class Kind(StrEnum):
    """A kind of declaration, by its word; each has a folder."""

    SOURCE = "source"
    PRODUCT = "product"
    RECONCILIATION = "reconciliation"
    PUBLICATION = "publication"


class Use(StrEnum):
    """What a name is read for."""

    EVENTS = "the events of a product"
    ENRICHMENT = "the enrichment of a product"
    CLAIM = "a claim"
    PUBLISHED = "what is published"


MAY_READ = {
    Use.EVENTS: frozenset({Kind.SOURCE}),
    Use.ENRICHMENT: frozenset({Kind.PRODUCT}),
    Use.CLAIM: frozenset({Kind.PRODUCT}),
    Use.PUBLISHED: frozenset({Kind.PRODUCT, Kind.RECONCILIATION}),
}
"""What may be read for what."""

RULES = {
    Use.EVENTS: "a product is made from sources",
    Use.ENRICHMENT: "a product is enriched with other products",
    Use.CLAIM: "claims are made by products",
    Use.PUBLISHED: "a publication reads products and reconciliations, never raw events",
}
"""The same in words."""

HINTS = {
    Use.EVENTS: "name a source, or join products under 'with'",
    Use.ENRICHMENT: "name a product; sources stand under 'from'",
    Use.CLAIM: "name the product that makes the claim",
    Use.PUBLISHED: "name a product or a reconciliation; make a product of raw events first",
}
"""What to do about it."""


@dataclass(frozen=True)
class Mention:
    """A name that a declaration reads, and where."""

    name: str
    use: Use
    by: str
    place: Place


def check(mentions: Iterable[Mention], declared: Mapping[str, Kind], problems: Problems) -> None:
    """Note every name that nothing declares, or that is read where it may not be."""
    for one in mentions:
        kind = declared.get(one.name)
        allowed = MAY_READ[one.use]
        if kind is None:
            fitting = [name for name, its in declared.items() if its in allowed]
            problems.note(f"nothing is called {one.name!r}", one.place, _meant(one, fitting), UNKNOWN_NAME)
        elif kind not in allowed:
            message = f"{one.name!r} is a {kind}: {RULES[one.use]}"
            problems.note(message, one.place, HINTS[one.use], WRONG_LAYER)
        elif one.use is Use.ENRICHMENT and folded(one.name) == folded(one.by):
            problems.note(f"{one.by!r} is enriched with itself", one.place, "name another product", WRONG_LAYER)


def _meant(one: Mention, fitting: list[str]) -> str:
    known = f"there are: {', '.join(fitting)}" if fitting else "declare it first"
    return meant(one.name, fitting, known)
