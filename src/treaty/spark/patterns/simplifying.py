"""Say what a search for a pattern asks in the plainest way: only whether a text matches counts, not where."""

from __future__ import annotations

from collections.abc import Callable
from itertools import dropwhile

from treaty.spark.patterns.building import again, either, one, then
from treaty.spark.patterns.tree import EMPTY, END, START, Again, At, Either, Node, One, Then, takes_nothing


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
