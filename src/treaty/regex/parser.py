"""Parse RE2 syntax. RE2 itself validates the pattern first, so syntax errors are not checked again here."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from treaty.contracts.patterns import PatternCheck
from treaty.contracts.values import abbreviate
from treaty.errors import InvalidDocument
from treaty.regex.character_sets import (
    ANY,
    LINE_FEED,
    NOTHING,
    CharacterSet,
    character_set,
    fold_case,
    named_class,
    single_character,
)
from treaty.regex.tree import EMPTY, Alternation, Anchor, AnchorKind, CharacterClass, Concatenation, Node, Repetition

_MAX_DEPTH = 100
_COUNT = r"(?:0|[1-9][0-9]*)"
_QUANTIFIER = re.compile(rf"(?P<sign>[*+?])\??|\{{(?P<least>{_COUNT})(?P<more>,(?P<most>{_COUNT})?)?\}}\??")
_GROUP = re.compile(r"\((?:\?P?<[^>]*>|\?(?P<flags>[imsU-]*)(?P<end>[:)]))?")
_QUOTED_TEXT = re.compile(r"\\Q(.*?)(?:\\E|\Z)", re.DOTALL)
_QUANTIFIERS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_ANCHORS = {
    r"\A": AnchorKind.TEXT_START,
    r"\z": AnchorKind.TEXT_END,
    r"\b": AnchorKind.WORD_EDGE,
    r"\B": AnchorKind.NO_WORD_EDGE,
}


@dataclass(frozen=True, slots=True)
class _Flags:
    folded: bool = False
    lines: bool = False
    dot_takes_all: bool = False


def parse_pattern(pattern: str) -> Node:
    """Parse a pattern in RE2 syntax; InvalidDocument if RE2 refuses it."""
    problem = PatternCheck().problem(pattern)
    if problem:
        raise InvalidDocument(f"pattern {abbreviate(pattern)!r} is not RE2 syntax: {problem}")
    return _Parser(pattern).alternatives(_Flags(), depth=0)


class _Parser:
    """A recursive descent parser over one pattern."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def alternatives(self, flags: _Flags, depth: int) -> Node:
        """Parse up to the end of the group."""
        if depth > _MAX_DEPTH:
            raise InvalidDocument(
                f"pattern {abbreviate(self.text)!r} nests more than {_MAX_DEPTH} groups; write it flatter"
            )
        options: list[Node] = []
        parts: list[Node] = []
        while self.at < len(self.text) and self.text[self.at] != ")":
            if self.text[self.at] == "|":
                self.at += 1
                options.append(Concatenation(tuple(parts)))
                parts = []
                continue
            group = self._match(_GROUP)
            if group and group["end"] == ")":
                flags = _with_flags(flags, group["flags"])
            elif group:
                parts.append(self.alternatives(_with_flags(flags, group["flags"] or ""), depth + 1))
                self.at += 1
                self._repeat_last(parts)
            else:
                parts.extend(self._atoms(flags))
                self._repeat_last(parts)
        options.append(Concatenation(tuple(parts)))
        return Alternation(tuple(options))

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def _atoms(self, flags: _Flags) -> list[Node]:
        quoted = self._match(_QUOTED_TEXT)
        if quoted:
            return [_literal(character, flags) for character in quoted[1]]
        place = _ANCHORS.get(self.text[self.at : self.at + 2])
        if place:
            self.at += 2
            return [Anchor(place)]
        sign = self.text[self.at]
        if sign in "^$.":
            self.at += 1
            return [_special_character(sign, flags)]
        if sign == "[":
            among, self.at = parse_bracket(self.text, self.at, folds=flags.folded)
            return [CharacterClass(among)]
        named = parse_named_class(self.text, self.at, folds=flags.folded)
        if named:
            among, self.at = named
            return [CharacterClass(among)]
        character, self.at = parse_character(self.text, self.at)
        return [_literal(character, flags)]

    def _repeat_last(self, parts: list[Node]) -> None:
        match = self._match(_QUANTIFIER) if parts else None
        if match is None:
            return
        if match["sign"]:
            least, most = _QUANTIFIERS[match["sign"]]
        else:
            least = int(match["least"])
            most = (int(match["most"]) if match["most"] else None) if match["more"] else least
        parts[-1] = Repetition(parts[-1], least, most) if most != 0 else EMPTY


def _special_character(sign: str, flags: _Flags) -> Node:
    if sign == ".":
        return CharacterClass(ANY if flags.dot_takes_all else ~LINE_FEED)
    if sign == "^":
        return Anchor(AnchorKind.LINE_START if flags.lines else AnchorKind.TEXT_START)
    return Anchor(AnchorKind.LINE_END if flags.lines else AnchorKind.TEXT_END)


def _literal(character: str, flags: _Flags) -> CharacterClass:
    return CharacterClass(fold_case(single_character(character)) if flags.folded else single_character(character))


def _with_flags(flags: _Flags, letters: str) -> _Flags:
    on, _, off = letters.partition("-")
    for letter in on + off:
        is_on = letter in on and letter not in off
        if letter == "i":
            flags = replace(flags, folded=is_on)
        elif letter == "m":
            flags = replace(flags, lines=is_on)
        elif letter == "s":
            flags = replace(flags, dot_takes_all=is_on)
    return flags


_POSIX = re.compile(r"\[:\^?\w+:\]")


def parse_bracket(text: str, at: int, *, folds: bool) -> tuple[CharacterSet, int]:
    """Parse the parse_bracket class at a position; return its characters and where it ends."""
    at += 1
    negated = text[at] == "^"
    at += negated
    among, first = NOTHING, True
    while text[at] != "]" or first:
        members, at = _bracket_item(text, at, folds=folds)
        among, first = among | members, False
    return (~among if negated else among), at + 1


def _bracket_item(text: str, at: int, *, folds: bool) -> tuple[CharacterSet, int]:
    posix = _POSIX.match(text, at)
    if posix:
        return named_class(f"[{posix[0]}]", folds=folds), posix.end()
    named = parse_named_class(text, at, folds=folds)
    if named:
        return named
    first, at = parse_character(text, at)
    last = first
    if text[at] == "-" and text[at + 1] != "]":
        last, at = parse_character(text, at + 1)
    among = character_set([(ord(first), ord(last))])
    return (fold_case(among) if folds else among), at


_CONTROL_CHARACTERS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_NAMED = re.compile(r"\\[dDsSwW]|\\[pP](?:\{[^}]*\}|.)", re.DOTALL)
_CODE = re.compile(r"\\x\{([0-9A-Fa-f]+)\}|\\x([0-9A-Fa-f]{2})|\\([0-7]{1,3})")
_SINGLE_BYTE = r"\C"


def parse_named_class(text: str, at: int, *, folds: bool) -> tuple[CharacterSet, int] | None:
    """Parse the named class at a position; return its characters and where it ends, or None."""
    match = _NAMED.match(text, at)
    return (named_class(match[0], folds=folds), match.end()) if match else None


def parse_character(text: str, at: int) -> tuple[str, int]:
    """Parse the plain or escaped character at a position; return it and where it ends."""
    if text[at] != "\\":
        return text[at], at + 1
    if text.startswith(_SINGLE_BYTE, at):
        raise InvalidDocument(rf"pattern {text!r} matches one byte by \C, but texts are characters; use (?s:.) instead")
    code = _CODE.match(text, at)
    if code:
        long, short, octal = code.groups()
        return chr(int(octal, 8) if octal else int(long or short, 16)), code.end()
    return _CONTROL_CHARACTERS.get(text[at + 1], text[at + 1]), at + 2
