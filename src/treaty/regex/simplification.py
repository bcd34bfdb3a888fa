"""Simplify syntax trees without changing which texts a search finds; split off anchors; list short patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import dropwhile

from treaty.regex.character_sets import NOTHING, CharacterSet
from treaty.regex.tree import (
    EMPTY,
    END,
    NEVER,
    START,
    Alternation,
    Anchor,
    CharacterClass,
    Concatenation,
    Node,
    Repetition,
    can_be_empty,
    has_anchor,
    matches_empty,
)


def character_class(among: CharacterSet) -> Node:
    """Return a node for one character of a set; an empty set never matches."""
    return CharacterClass(among) if among else NEVER


def concatenate(parts: Iterable[Node]) -> Node:
    """Concatenate parts; merges neighbours, so that `x{2}x*` becomes `x{2,}`."""
    flat: list[Node] = []
    for part in parts:
        for inner in part.parts if isinstance(part, Concatenation) else (part,):
            if inner == NEVER:
                return NEVER
            joined = _merge_neighbours(flat[-1], inner) if flat else None
            flat[-1:] = [joined] if joined else [*flat[-1:], inner]
    return flat[0] if len(flat) == 1 else Concatenation(tuple(flat))


def alternate(options: Iterable[Node]) -> Node:
    """Build an alternation: single characters become one class, duplicates go, an empty option becomes `(…)?`."""
    flat = [inner for option in options for inner in (option.options if isinstance(option, Alternation) else (option,))]
    empty = any(map(matches_empty, flat))
    if empty:
        flat = [_without_empty(option) for option in flat if not _has_only_anchors(option)]
    among, others = NOTHING, []
    for option in dict.fromkeys(flat):
        if isinstance(option, CharacterClass):
            among |= option.among
        elif option != NEVER:
            others.append(option)
    remaining = [*([CharacterClass(among)] if among else []), *others]
    alternation = remaining[0] if len(remaining) == 1 else Alternation(tuple(remaining))
    if empty:
        return repeat(alternation, 0, 1) if remaining else EMPTY
    return alternation


def repeat(part: Node, least: int, most: int | None) -> Node:
    """Repeat a part; flattens nested loops, so that `(x+)+` becomes `x+` and `(x?y*)*` becomes `[xy]*`."""
    if most == 0 or part in (EMPTY, NEVER):
        return EMPTY if least == 0 or part == EMPTY else NEVER
    if _has_only_anchors(part):
        return part if least else EMPTY
    if (least, most) == (1, 1):
        return part
    if matches_empty(part):
        least = 0
    if most is None and least <= 1:
        part = _without_anchor_options(_loop_body(part)) if least == 0 else _loop_body(part)
        if part == NEVER:
            return EMPTY
    if isinstance(part, Repetition) and (part.least <= 1 or (part.least == part.most and least == most)):
        return Repetition(
            part.part, part.least * least, None if most is None or part.most is None else part.most * most
        )
    if isinstance(part, Repetition) and part.most is None and least >= 1:
        return Repetition(part.part, part.least * least, None)
    return Repetition(part, least, most)


def _merge_neighbours(before: Node, after: Node) -> Node | None:
    """Merge two neighbours that repeat the same part; None where they do not."""
    if before == after and isinstance(before, Anchor):
        return before
    left, right = _as_repetition(before), _as_repetition(after)
    if left.part != right.part or has_anchor(left.part) or can_be_empty(left.part):
        return None
    most = None if left.most is None or right.most is None else left.most + right.most
    return Repetition(left.part, left.least + right.least, most)


def _as_repetition(node: Node) -> Repetition:
    return node if isinstance(node, Repetition) else Repetition(node, 1, 1)


def _has_only_anchors(node: Node) -> bool:
    return node != EMPTY and all(
        isinstance(part, Anchor) for part in (node.parts if isinstance(node, Concatenation) else (node,))
    )


def _without_empty(option: Node) -> Node:
    """Remove the empty text from an option where that is simple; the caller adds it to the alternation."""
    if option == EMPTY:
        return NEVER
    if isinstance(option, Repetition) and option.least == 0 and not can_be_empty(option.part):
        return repeat(option.part, 1, option.most)
    return option


def _loop_body(part: Node) -> Node:
    """Return a part that is equivalent inside an unlimited loop, but is neither empty nor a loop itself."""
    if has_anchor(part):
        return part
    match part:
        case Repetition(inner, least) if least <= 1 or can_be_empty(inner):
            return _loop_body(inner)
        case Alternation(options):
            return alternate(map(_loop_body, options))
        case Concatenation(parts) if parts and can_be_empty(part):
            return alternate(map(_loop_body, parts))
    return part


def _without_anchor_options(part: Node) -> Node:
    """Drop options that are only anchors: an iteration that consumes no character adds nothing."""
    return (
        alternate(option for option in part.options if not _has_only_anchors(option))
        if isinstance(part, Alternation)
        else part
    )


def simplify(node: Node) -> Node:
    """Return a simpler tree that a search finds in the same texts."""
    plain = _factor_anchors(_rebuild(node))
    return _trim_end(_trim_start(plain))


def _rebuild(node: Node) -> Node:
    match node:
        case CharacterClass(among):
            return character_class(among)
        case Anchor():
            return node
        case Concatenation(parts):
            return concatenate(map(_rebuild, parts))
        case Alternation(options):
            return alternate(map(_rebuild, options))
        case Repetition(part, least, most):
            return repeat(_rebuild(part), least, most)


def _factor_anchors(node: Node) -> Node:
    r"""Move `\A` and `\z` out of an alternation whose options all have them."""
    if not isinstance(node, Alternation) or not node.options:
        return node
    options = [option.parts if isinstance(option, Concatenation) else (option,) for option in node.options]
    begins = all(parts[:1] == (START,) for parts in options)
    options = [parts[begins:] for parts in options]
    ends = all(parts[-1:] == (END,) for parts in options)
    middle = alternate(concatenate(parts[: len(parts) - ends]) for parts in options)
    return concatenate((*([START] if begins else []), middle, *([END] if ends else [])))


def _trim_start(node: Node) -> Node:
    """Drop what a search can skip at the start: `x*y` is found where `y` is, `x+y` where `xy` is."""
    if isinstance(node, Concatenation):
        parts = tuple(dropwhile(matches_empty, node.parts))
        return concatenate((_trim_start(parts[0]), *parts[1:])) if parts else EMPTY
    return _trim_edge(node, _trim_start, lambda edge, rest: (edge, rest))


def _trim_end(node: Node) -> Node:
    """Drop what a search can skip at the end."""
    if isinstance(node, Concatenation):
        parts = tuple(dropwhile(matches_empty, reversed(node.parts)))[::-1]
        return concatenate((*parts[:-1], _trim_end(parts[-1]))) if parts else EMPTY
    return _trim_edge(node, _trim_end, lambda edge, rest: (rest, edge))


def _trim_edge(node: Node, trim: Callable[[Node], Node], order: Callable[[Node, Node], tuple[Node, Node]]) -> Node:
    match node:
        case Alternation(options) if options:
            return alternate(map(trim, options))
        case Repetition(part, least) if least > 0:
            return concatenate(order(trim(part), repeat(part, least - 1, least - 1)))
        case Repetition() if matches_empty(node):
            return EMPTY
    return node


@dataclass(frozen=True, slots=True)
class Anchors:
    r"""A pattern without `\A` and `\z` at its ends, and whether it had them."""

    at_start: bool
    middle: Node
    at_end: bool

    @property
    def has_inner_anchor(self) -> bool:
        """Whether there is an anchor between the ends."""
        return has_anchor(self.middle)


def split_anchors(tree: Node) -> Anchors:
    r"""Split `\A` and `\z` off the ends of a pattern."""
    parts = tree.parts if isinstance(tree, Concatenation) else (tree,)
    begins = parts[:1] == (START,)
    parts = parts[begins:]
    ends = parts[-1:] == (END,)
    return Anchors(begins, concatenate(parts[: len(parts) - ends]), ends)


MAX_LISTED_TEXTS = 128


def list_texts(node: Node) -> tuple[str, ...] | None:
    """Return every text that a pattern matches in full; None if there are many or they depend on an anchor."""
    match node:
        case CharacterClass(among):
            return tuple(among) if len(among) <= MAX_LISTED_TEXTS else None
        case Anchor():
            return None
        case Concatenation(parts):
            return _list_concatenated(parts)
        case Alternation(options):
            part_texts = [list_texts(option) for option in options]
            texts = tuple(dict.fromkeys(text for some in part_texts for text in some or ()))
            return None if None in part_texts or len(texts) > MAX_LISTED_TEXTS else texts
        case Repetition(_, _, None):
            return None
        case Repetition(part, least, most):
            part_texts = [_list_concatenated((part,) * times) for times in range(least, (most or 0) + 1)]
            texts = tuple(dict.fromkeys(text for some in part_texts for text in some or ()))
            return None if None in part_texts or len(texts) > MAX_LISTED_TEXTS else texts


def _list_concatenated(parts: tuple[Node, ...]) -> tuple[str, ...] | None:
    texts: tuple[str, ...] = ("",)
    for part in parts:
        part_texts = list_texts(part)
        if part_texts is None or len(texts) * len(part_texts) > MAX_LISTED_TEXTS:
            return None
        texts = tuple(text + more for text in texts for more in part_texts)
    return tuple(dict.fromkeys(texts))
