"""Write a pattern in the syntax of java.util.regex, without flags and without groups that capture."""

from __future__ import annotations

from treaty.regex.automaton import Path
from treaty.regex.character_sets import Characters, characters
from treaty.regex.tree import Again, At, Either, Node, One, Place, Then

_SURROGATES = r"\x{d800}-\x{dfff}"
_SECOND_HALVES = r"\x{dc00}-\x{dfff}"
_W = "0-9A-Z_a-z"
_PLACES = {
    Place.TEXT_START: r"\A",
    Place.TEXT_END: r"\z",
    Place.LINE_START: r"(?:\A|(?<=\n))",
    Place.LINE_END: r"(?:\z|(?=\n))",
    Place.WORD_EDGE: rf"(?:(?<=[{_W}])(?![{_W}])|(?<![{_W}])(?=[{_W}]))",
    Place.NO_WORD_EDGE: rf"(?:(?<=[{_W}])(?=[{_W}])|(?<![{_W}])(?![{_W}{_SECOND_HALVES}]))",
}
_FLAT = 24
_IN_A_TABLE = characters([(0, 0xFF)])
_SPELT_OUT = 8


class Rendering:
    """Writes one pattern; the loops at the `possessive` paths never have to give back what they took."""

    def __init__(self, possessive: frozenset[Path], *, searched: bool) -> None:
        self.possessive = possessive
        # A search may try to begin in the middle of a surrogate pair; no set may take half a character then.
        self.halves = _SURROGATES if searched else ""

    def text(self, node: Node, path: Path = ()) -> str:
        """Return a node in Java's syntax."""
        match node:
            case One(among):
                return self._set(among)
            case At(place):
                return _PLACES[place]
            case Then(parts):
                following: list[Node | None] = [*parts[1:], None]
                return "".join(
                    self._grouped(part, (*path, at), after)
                    for at, (part, after) in enumerate(zip(parts, following, strict=False))
                )
            case Either(()):
                return "(?!)"
            case Either(options):
                return "|".join(self.text(option, (*path, at)) for at, option in enumerate(options))
            case Again():
                return self._again(node, path)

    def _grouped(self, node: Node, path: Path, after: Node | None) -> str:
        text = self._again(node, path, after) if isinstance(node, Again) else self.text(node, path)
        return f"(?:{text})" if isinstance(node, Either) and node.options else text

    def _again(self, node: Again, path: Path, after: Node | None = None) -> str:
        inner = self.text(node.part, (*path, 0))
        single = isinstance(node.part, One)
        if single and len(node.part.among) == 1 and node.least == node.most and node.least <= _SPELT_OUT:  # type: ignore[union-attr]
            return inner * node.least
        count = _counted(node.least, node.most)
        keeps = node.least != node.most and path in self.possessive and not _is_told_apart(node, after)
        taken = "+" if keeps else ""
        return f"{inner if single else f'(?:{inner})'}{count}{taken}"

    def _set(self, among: Characters) -> str:
        if len(among) == 1:
            return _escaped(among.ranges[0][0])
        others = ~among
        if len(others.ranges) < len(among.ranges) or not others:
            return f"[^{_items(others)}{self.halves}]" if others or self.halves else r"[\x{0}-\x{10ffff}]"
        return _halved(among)


def _is_told_apart(loop: Again, after: Node | None) -> bool:
    """Tell whether what follows begins with a character that the loop does not take.

    Then giving back fails at once, and Java runs a loop over one set faster if it may give back.
    """
    first = after.part if isinstance(after, Again) and after.least > 0 else after
    return isinstance(loop.part, One) and isinstance(first, One) and not loop.part.among.overlaps(first.among)


def _counted(least: int, most: int | None) -> str:
    signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if (least, most) in signs:
        return signs[least, most]
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"


def _items(among: Characters) -> str:
    """Write what stands in brackets; one by one, the characters up to U+00FF become a table in Java's engine."""
    if among.within(_IN_A_TABLE):
        return "".join(map(_escaped, map(ord, among)))
    return "".join(
        _escaped(first) if first == last else f"{_escaped(first)}-{_escaped(last)}" for first, last in among.ranges
    )


def _halved(among: Characters) -> str:
    """Write many ranges as a tree of halves, so that few of them are asked for a character."""
    if len(among.ranges) <= _FLAT:
        return f"[{_items(among)}]"
    middle = len(among.ranges) // 2
    lower, upper = Characters(among.ranges[:middle]), Characters(among.ranges[middle:])
    cut = upper.ranges[0][0]
    return f"[[\\x{{0}}-{_escaped(cut - 1)}&&{_halved(lower)}][{_escaped(cut)}-\\x{{10ffff}}&&{_halved(upper)}]]"


def _escaped(code: int) -> str:
    text = chr(code)
    if text.isascii() and text.isalnum():
        return text
    return f"\\{text}" if 0x20 <= code < 0x7F and text != "_" else f"\\x{{{code:x}}}"
