"""Where a pattern must begin and end."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.spark.patterns.building import then
from treaty.spark.patterns.tree import END, START, Node, Then, places


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
