"""Differences between JSON schemas that combine others: `allOf`, `anyOf`, `oneOf`, `not` and conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from treaty.compatibility.schemas.json_schema_comparison import FEWER, TYPE, Comparison, Found
from treaty.compatibility.schemas.json_schema_nodes import Criterion, Node


def compare_combinations(comparison: Comparison, old: Node, new: Node) -> Iterator[Found]:
    """Compare `allOf`, `anyOf` and `oneOf`: their criteria, their number, and which schema fits into which."""
    if not _may_replace(old, new):
        yield "COMBINED_TYPE_CHANGED", "", TYPE
        return
    before, after = comparison.distinct(old.children), comparison.distinct(new.children)
    if new.criterion is Criterion.ALL and len(before) < len(after):
        yield "PRODUCT_TYPE_EXTENDED", "", FEWER
    if new.criterion is not Criterion.ALL and len(before) > len(after):
        yield "SUM_TYPE_NARROWED", "", FEWER
    if _count_matches(comparison, before, after) < min(len(before), len(after)):
        yield "COMBINED_TYPE_SUBSCHEMAS_CHANGED", "", TYPE


def compare_negations(comparison: Comparison, old: Node, new: Node) -> Iterator[Found]:
    """What is excluded may shrink, so the schemas change places."""
    if not comparison.fits(new.child(new.data["not"]), old.child(old.data["not"])):
        yield "NOT_TYPE_EXTENDED", "/not", "more is excluded at '{path}' in the {{reader}} schema"


def compare_conditions(comparison: Comparison, old: Node, new: Node) -> Iterator[Found]:
    """With the same condition, the consequences are compared; another condition cannot be judged."""
    if old.data["if"] != new.data["if"]:
        yield "TYPE_CHANGED", "/if", TYPE
        return
    for keyword in ("then", "else"):
        if keyword in new.data:
            yield from comparison.at(f"/{keyword}", old.part(keyword), new.part(keyword))


def _count_matches(comparison: Comparison, old: Sequence[Node], new: Sequence[Node]) -> int:
    """Return how many schemas of the one side can be paired with one each of the other that accepts it.

    Equal schemas are paired first: because compatibility is transitive, that never leaves fewer pairs.
    """
    texts = {comparison.fingerprint_of(node): node for node in new if comparison.fingerprint_of(node) is not None}
    equal = {id(node) for node in old if comparison.fingerprint_of(node) in texts}
    taken = {id(texts[comparison.fingerprint_of(node)]) for node in old if id(node) in equal}
    left = [node for node in old if id(node) not in equal]
    free = [node for node in new if id(node) not in taken]
    accepted = [[index for index, node in enumerate(free) if comparison.fits(one, node)] for one in left]
    return len(equal) + _count_pairs(accepted)


def _may_replace(old: Node, new: Node) -> bool:
    """Whether the criterion of a combination may change: to `anyOf` always, else for single schemas."""
    if old.criterion is new.criterion or new.criterion is Criterion.ANY:
        return True
    if new.criterion is Criterion.ONE:
        return len(old.children) == 1
    return len(old.children) == len(new.children) == 1


def _count_pairs(accepted: Sequence[Sequence[int]]) -> int:
    """Return the size of the largest matching, by augmenting paths."""
    partner: dict[int, int] = {}
    for start in range(len(accepted)):
        came_from: dict[int, int] = {}
        waiting = [start]
        while waiting:
            one = waiting.pop()
            for other in accepted[one]:
                if other in came_from:
                    continue
                came_from[other] = one
                if other in partner:
                    waiting.append(partner[other])
                    continue
                _augment(partner, came_from, other, start)
                waiting.clear()
                break
    return len(partner)


def _augment(partner: dict[int, int], came_from: Mapping[int, int], end: int, start: int) -> None:
    current = {one: other for other, one in partner.items()}
    while True:
        one = came_from[end]
        previous = current.get(one)
        partner[end] = one
        if one == start or previous is None:
            return
        end = previous
