"""Put nodes together so that the result says the same in the plainest way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import dropwhile

from treaty.regex.character_sets import NOTHING, Characters
from treaty.regex.tree import (
    EMPTY,
    END,
    NEVER,
    START,
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


def simplified(node: Node) -> Node:
    """Return a pattern that is found in the same texts."""
    plain = _factored(_plain(node))
    return _from_end(_from_start(plain))


def _plain(node: Node) -> Node:
    match node:
        case One(among):
            return one(among)
        case At():
            return node
        case Then(parts):
            return then(map(_plain, parts))
        case Either(options):
            return either(map(_plain, options))
        case Again(part, least, most):
            return again(_plain(part), least, most)


def _factored(node: Node) -> Node:
    r"""Take `\A` and `\z` out of options that all have them."""
    if not isinstance(node, Either) or not node.options:
        return node
    options = [option.parts if isinstance(option, Then) else (option,) for option in node.options]
    begins = all(parts[:1] == (START,) for parts in options)
    options = [parts[begins:] for parts in options]
    ends = all(parts[-1:] == (END,) for parts in options)
    middle = either(then(parts[: len(parts) - ends]) for parts in options)
    return then((*([START] if begins else []), middle, *([END] if ends else [])))


def _from_start(node: Node) -> Node:
    """Drop what a search may skip at the start: `x*y` is found where `y` is, `x+y` where `xy` is."""
    if isinstance(node, Then):
        parts = tuple(dropwhile(takes_nothing, node.parts))
        return then((_from_start(parts[0]), *parts[1:])) if parts else EMPTY
    return _edge(node, _from_start, lambda edge, rest: (edge, rest))


def _from_end(node: Node) -> Node:
    """Drop what a search may skip at the end."""
    if isinstance(node, Then):
        parts = tuple(dropwhile(takes_nothing, reversed(node.parts)))[::-1]
        return then((*parts[:-1], _from_end(parts[-1]))) if parts else EMPTY
    return _edge(node, _from_end, lambda edge, rest: (rest, edge))


def _edge(node: Node, trimmed: Callable[[Node], Node], placed: Callable[[Node, Node], tuple[Node, Node]]) -> Node:
    match node:
        case Either(options) if options:
            return either(map(trimmed, options))
        case Again(part, least) if least > 0:
            return then(placed(trimmed(part), again(part, least - 1, least - 1)))
        case Again() if takes_nothing(node):
            return EMPTY
    return node


@dataclass(frozen=True, slots=True)
class Anchored:
    """What a pattern asks between the start and the end of a text, and whether it is bound to them."""

    begins: bool
    middle: Node
    ends: bool

    @property
    def inner_places(self) -> bool:
        """Whether a place is asked for elsewhere than at both ends of the text."""
        return places(self.middle)


def anchored(tree: Node) -> Anchored:
    r"""Take `\A` and `\z` off a pattern."""
    parts = tree.parts if isinstance(tree, Then) else (tree,)
    begins = parts[:1] == (START,)
    parts = parts[begins:]
    ends = parts[-1:] == (END,)
    return Anchored(begins, then(parts[: len(parts) - ends]), ends)


MAX_LISTED_TEXTS = 128


def texts_of(node: Node) -> tuple[str, ...] | None:
    """Return every text that a pattern matches in full, or None if they are many or depend on a place."""
    match node:
        case One(among):
            return tuple(among) if len(among) <= MAX_LISTED_TEXTS else None
        case At():
            return None
        case Then(parts):
            return _one_after_the_other(parts)
        case Either(options):
            found = [texts_of(option) for option in options]
            texts = tuple(dict.fromkeys(text for some in found for text in some or ()))
            return None if None in found or len(texts) > MAX_LISTED_TEXTS else texts
        case Again(_, _, None):
            return None
        case Again(part, least, most):
            found = [_one_after_the_other((part,) * times) for times in range(least, (most or 0) + 1)]
            texts = tuple(dict.fromkeys(text for some in found for text in some or ()))
            return None if None in found or len(texts) > MAX_LISTED_TEXTS else texts


def _one_after_the_other(parts: tuple[Node, ...]) -> tuple[str, ...] | None:
    texts: tuple[str, ...] = ("",)
    for part in parts:
        found = texts_of(part)
        if found is None or len(texts) * len(found) > MAX_LISTED_TEXTS:
            return None
        texts = tuple(text + more for text in texts for more in found)
    return tuple(dict.fromkeys(texts))
