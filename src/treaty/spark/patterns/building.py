"""Put nodes together so that the result says the same in the plainest way."""

from __future__ import annotations

from collections.abc import Iterable

from treaty.spark.patterns.characters import NOTHING, Characters
from treaty.spark.patterns.tree import (
    EMPTY,
    NEVER,
    Again,
    At,
    Either,
    Node,
    One,
    Then,
    may_be_empty,
    places,
    takes_nothing,
)


def one(among: Characters) -> Node:
    """Return one character of a set; of none, what never matches."""
    return One(among) if among else NEVER


def then(parts: Iterable[Node]) -> Node:
    """Return the parts one after the other, `x{2}x*` as `x{2,}`."""
    flat: list[Node] = []
    for part in parts:
        for inner in part.parts if isinstance(part, Then) else (part,):
            if inner == NEVER:
                return NEVER
            joined = _joined(flat[-1], inner) if flat else None
            flat[-1:] = [joined] if joined else [*flat[-1:], inner]
    return flat[0] if len(flat) == 1 else Then(tuple(flat))


def either(options: Iterable[Node]) -> Node:
    """Return one of the options: single characters as one set, nothing twice, an empty option as `(…)?`."""
    flat = [inner for option in options for inner in (option.options if isinstance(option, Either) else (option,))]
    empty = any(map(takes_nothing, flat))
    if empty:
        flat = [_not_empty(option) for option in flat if not _only_places(option)]
    among, others = NOTHING, []
    for option in dict.fromkeys(flat):
        if isinstance(option, One):
            among |= option.among
        elif option != NEVER:
            others.append(option)
    kept = [*([One(among)] if among else []), *others]
    found = kept[0] if len(kept) == 1 else Either(tuple(kept))
    if empty:
        return again(found, 0, 1) if kept else EMPTY
    return found


def again(part: Node, least: int, most: int | None) -> Node:
    """Return a part so many times: `(x+)+` as `x+`, `(x?y*)*` as `[xy]*`."""
    if most == 0 or part in (EMPTY, NEVER):
        return EMPTY if least == 0 or part == EMPTY else NEVER
    if _only_places(part):
        return part if least else EMPTY
    if (least, most) == (1, 1):
        return part
    if takes_nothing(part):
        least = 0
    if most is None and least <= 1:
        part = _without_mere_places(_within_a_loop(part)) if least == 0 else _within_a_loop(part)
        if part == NEVER:
            return EMPTY
    if isinstance(part, Again) and (part.least <= 1 or (part.least == part.most and least == most)):
        return Again(part.part, part.least * least, None if most is None or part.most is None else part.most * most)
    if isinstance(part, Again) and part.most is None and least >= 1:
        return Again(part.part, part.least * least, None)
    return Again(part, least, most)


def _joined(before: Node, after: Node) -> Node | None:
    """Return two neighbours that repeat the same part as one repetition."""
    if before == after and isinstance(before, At):
        return before
    one, other = _counted(before), _counted(after)
    if one.part != other.part or places(one.part) or may_be_empty(one.part):
        return None
    most = None if one.most is None or other.most is None else one.most + other.most
    return Again(one.part, one.least + other.least, most)


def _counted(node: Node) -> Again:
    return node if isinstance(node, Again) else Again(node, 1, 1)


def _only_places(node: Node) -> bool:
    return node != EMPTY and all(isinstance(part, At) for part in (node.parts if isinstance(node, Then) else (node,)))


def _not_empty(option: Node) -> Node:
    """Return an option without the empty text, where that is plain to say; the empty text stands beside it."""
    if option == EMPTY:
        return NEVER
    if isinstance(option, Again) and option.least == 0 and not may_be_empty(option.part):
        return again(option.part, 1, option.most)
    return option


def _within_a_loop(part: Node) -> Node:
    """Return a part that says the same when repeated at will, though it is neither empty nor a loop itself."""
    if places(part):
        return part
    match part:
        case Again(inner, least) if least <= 1 or may_be_empty(inner):
            return _within_a_loop(inner)
        case Either(options):
            return either(map(_within_a_loop, options))
        case Then(parts) if parts and may_be_empty(part):
            return either(map(_within_a_loop, parts))
    return part


def _without_mere_places(part: Node) -> Node:
    """Drop options that only ask for a place: a round of a loop that takes no character adds nothing."""
    return either(option for option in part.options if not _only_places(option)) if isinstance(part, Either) else part
