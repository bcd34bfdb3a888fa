"""Render a syntax tree in the syntax of java.util.regex, without flags and capturing groups."""

from __future__ import annotations

from treaty.regex.automaton import Path
from treaty.regex.character_sets import CharacterSet, character_set
from treaty.regex.tree import Alternation, Anchor, AnchorKind, CharacterClass, Concatenation, Node, Repetition

_SURROGATES = r"\x{d800}-\x{dfff}"
_LOW_SURROGATES = r"\x{dc00}-\x{dfff}"
_WORD = "0-9A-Z_a-z"
_ANCHORS = {
    AnchorKind.TEXT_START: r"\A",
    AnchorKind.TEXT_END: r"\z",
    AnchorKind.LINE_START: r"(?:\A|(?<=\n))",
    AnchorKind.LINE_END: r"(?:\z|(?=\n))",
    AnchorKind.WORD_EDGE: rf"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))",
    AnchorKind.NO_WORD_EDGE: rf"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}{_LOW_SURROGATES}]))",
}
_MAX_FLAT_RANGES = 24
_TABLE_CHARACTERS = character_set([(0, 0xFF)])
_MAX_SPELLED_OUT = 8


class JavaWriter:
    """Renders one pattern; the loops at the `possessive` paths never backtrack."""

    def __init__(self, possessive: frozenset[Path], *, is_search: bool) -> None:
        self.possessive = possessive
        # A search may start in the middle of a surrogate pair; no class may match half a character.
        self.surrogates = _SURROGATES if is_search else ""

    def text(self, node: Node, path: Path = ()) -> str:
        """Return a node in Java's syntax."""
        match node:
            case CharacterClass(among):
                return self._set(among)
            case Anchor(kind):
                return _ANCHORS[kind]
            case Concatenation(parts):
                following: list[Node | None] = [*parts[1:], None]
                return "".join(
                    self._grouped(part, (*path, at), after)
                    for at, (part, after) in enumerate(zip(parts, following, strict=False))
                )
            case Alternation(()):
                return "(?!)"
            case Alternation(options):
                return "|".join(self.text(option, (*path, at)) for at, option in enumerate(options))
            case Repetition():
                return self._repetition(node, path)

    def _grouped(self, node: Node, path: Path, after: Node | None) -> str:
        text = self._repetition(node, path, after) if isinstance(node, Repetition) else self.text(node, path)
        return f"(?:{text})" if isinstance(node, Alternation) and node.options else text

    def _repetition(self, node: Repetition, path: Path, after: Node | None = None) -> str:
        inner = self.text(node.part, (*path, 0))
        single = isinstance(node.part, CharacterClass)
        if single and len(node.part.among) == 1 and node.least == node.most and node.least <= _MAX_SPELLED_OUT:  # type: ignore[union-attr]
            return inner * node.least
        count = _quantifier(node.least, node.most)
        is_possessive = node.least != node.most and path in self.possessive and not _is_disjoint_from_next(node, after)
        suffix = "+" if is_possessive else ""
        return f"{inner if single else f'(?:{inner})'}{count}{suffix}"

    def _set(self, among: CharacterSet) -> str:
        if len(among) == 1:
            return _escape(among.ranges[0][0])
        others = ~among
        if len(others.ranges) < len(among.ranges) or not others:
            return f"[^{_items(others)}{self.surrogates}]" if others or self.surrogates else r"[\x{0}-\x{10ffff}]"
        return _nested_ranges(among)


def _is_disjoint_from_next(loop: Repetition, after: Node | None) -> bool:
    """Tell whether the node after a loop starts with a character that the loop does not match.

    Backtracking then fails at once, and Java runs a plain loop over one class faster than a possessive one.
    """
    first = after.part if isinstance(after, Repetition) and after.least > 0 else after
    return (
        isinstance(loop.part, CharacterClass)
        and isinstance(first, CharacterClass)
        and not loop.part.among.overlaps(first.among)
    )


def _quantifier(least: int, most: int | None) -> str:
    signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if (least, most) in signs:
        return signs[least, most]
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"


def _items(among: CharacterSet) -> str:
    """Render the inside of brackets; Java looks up single characters up to U+00FF in a table."""
    if among.within(_TABLE_CHARACTERS):
        return "".join(map(_escape, map(ord, among)))
    return "".join(
        _escape(first) if first == last else f"{_escape(first)}-{_escape(last)}" for first, last in among.ranges
    )


def _nested_ranges(among: CharacterSet) -> str:
    """Render many ranges as nested surrogates, so that the engine tests few of them for a character."""
    if len(among.ranges) <= _MAX_FLAT_RANGES:
        return f"[{_items(among)}]"
    middle = len(among.ranges) // 2
    lower, upper = CharacterSet(among.ranges[:middle]), CharacterSet(among.ranges[middle:])
    cut = upper.ranges[0][0]
    below = f"[\\x{{0}}-{_escape(cut - 1)}&&{_nested_ranges(lower)}]"
    return f"[{below}[{_escape(cut)}-\\x{{10ffff}}&&{_nested_ranges(upper)}]]"


def _escape(code: int) -> str:
    text = chr(code)
    if text.isascii() and text.isalnum():
        return text
    return f"\\{text}" if 0x20 <= code < 0x7F and text != "_" else f"\\x{{{code:x}}}"
