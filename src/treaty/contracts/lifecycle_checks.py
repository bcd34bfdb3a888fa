"""Validation of `lifecycle` when a document is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from treaty.contracts.findings import Finding, PlaceOf, Pointer
from treaty.contracts.schemas import fits_block
from treaty.contracts.validation import finding_at
from treaty.contracts.values import Json


def check_lifecycle(document: Mapping[str, Json], place_of: PlaceOf) -> Iterator[Finding]:
    """Yield a finding for each move from a state that the event type already leaves, and for invariants of one name."""
    pointer, lifecycle = _find_lifecycle(document)
    yield from _repeated_moves(lifecycle.get("moves", ()), (*pointer, "moves"), place_of)
    seen: set[str] = set()
    for number, invariant in enumerate(lifecycle.get("invariants", ())):
        name = invariant["name"]
        if name in seen:
            at = (*pointer, "invariants", number, "name")
            yield finding_at(f"the invariant {name!r} is declared twice", at, place_of, "rename one")
        seen.add(name)


def _repeated_moves(moves: list[dict[str, Json]], pointer: Pointer, place_of: PlaceOf) -> Iterator[Finding]:
    targets: dict[str | None, str] = {}
    for number, move in enumerate(moves):
        source = move.get("from")
        if source in targets:
            start = f"from {source!r}" if source else "of the first event of a key"
            message = f"the move {start} is declared twice, to {targets[source]!r} and to {move['to']!r}"
            yield finding_at(message, (*pointer, number), place_of, "keep one of them")
        targets.setdefault(source, move["to"])


def _find_lifecycle(document: Mapping[str, Json]) -> tuple[Pointer, dict[str, Json]]:
    """Return the position and value of the block: under the plain key, or among the custom properties."""
    if "lifecycle" in document:
        return ("lifecycle",), document["lifecycle"]
    for index, item in enumerate(document.get("customProperties") or ()):
        if item.get("property") == "lifecycle" and fits_block("lifecycle", item.get("value")):
            return ("customProperties", index, "value"), item["value"]
    return (), {}
