"""Read RE2 syntax; the pattern is one that RE2 takes, so what RE2 refuses is not looked for again."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from treaty.contracts.patterns import PatternCheck
from treaty.contracts.values import brief
from treaty.errors import InvalidDocument
from treaty.regex.character_sets import ANY, LINE_FEED, NOTHING, Characters, characters, folded, named, single
from treaty.regex.tree import EMPTY, Again, At, Either, Node, One, Place, Then

_DEEPEST = 100
_COUNT = r"(?:0|[1-9][0-9]*)"
_REPEATED = re.compile(rf"(?P<sign>[*+?])\??|\{{(?P<least>{_COUNT})(?P<more>,(?P<most>{_COUNT})?)?\}}\??")
_GROUP = re.compile(r"\((?:\?P?<[^>]*>|\?(?P<flags>[imsU-]*)(?P<end>[:)]))?")
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|\Z)", re.DOTALL)
_SIGNS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_PLACES = {r"\A": Place.TEXT_START, r"\z": Place.TEXT_END, r"\b": Place.WORD_EDGE, r"\B": Place.NO_WORD_EDGE}


@dataclass(frozen=True, slots=True)
class _Flags:
    folded: bool = False
    lines: bool = False
    dot_takes_all: bool = False


def parsed(pattern: str) -> Node:
    """Read a pattern in RE2 syntax."""
    problem = PatternCheck().problem(pattern)
    if problem:
        raise InvalidDocument(f"pattern {brief(pattern)!r} is not RE2 syntax: {problem}")
    return _Reading(pattern).alternatives(_Flags(), depth=0)


class _Reading:
    """One pass over a pattern, from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def alternatives(self, flags: _Flags, depth: int) -> Node:
        """Read up to the end of the group."""
        if depth > _DEEPEST:
            raise InvalidDocument(f"pattern {brief(self.text)!r} nests more than {_DEEPEST} groups; write it flatter")
        options: list[Node] = []
        parts: list[Node] = []
        while self.at < len(self.text) and self.text[self.at] != ")":
            if self.text[self.at] == "|":
                self.at += 1
                options.append(Then(tuple(parts)))
                parts = []
                continue
            group = self._match(_GROUP)
            if group and group["end"] == ")":
                flags = _changed(flags, group["flags"])
            elif group:
                parts.append(self.alternatives(_changed(flags, group["flags"] or ""), depth + 1))
                self.at += 1
                self._repeat_last(parts)
            else:
                parts.extend(self._atoms(flags))
                self._repeat_last(parts)
        options.append(Then(tuple(parts)))
        return Either(tuple(options))

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def _atoms(self, flags: _Flags) -> list[Node]:
        quoted = self._match(_QUOTED)
        if quoted:
            return [_one(character, flags) for character in quoted[1]]
        place = _PLACES.get(self.text[self.at : self.at + 2])
        if place:
            self.at += 2
            return [At(place)]
        sign = self.text[self.at]
        if sign in "^$.":
            self.at += 1
            return [_signed(sign, flags)]
        if sign == "[":
            among, self.at = bracketed(self.text, self.at, folds=flags.folded)
            return [One(among)]
        found = named_at(self.text, self.at, folds=flags.folded)
        if found:
            among, self.at = found
            return [One(among)]
        character, self.at = character_at(self.text, self.at)
        return [_one(character, flags)]

    def _repeat_last(self, parts: list[Node]) -> None:
        found = self._match(_REPEATED) if parts else None
        if found is None:
            return
        if found["sign"]:
            least, most = _SIGNS[found["sign"]]
        else:
            least = int(found["least"])
            most = (int(found["most"]) if found["most"] else None) if found["more"] else least
        parts[-1] = Again(parts[-1], least, most) if most != 0 else EMPTY


def _signed(sign: str, flags: _Flags) -> Node:
    if sign == ".":
        return One(ANY if flags.dot_takes_all else ~LINE_FEED)
    if sign == "^":
        return At(Place.LINE_START if flags.lines else Place.TEXT_START)
    return At(Place.LINE_END if flags.lines else Place.TEXT_END)


def _one(character: str, flags: _Flags) -> One:
    return One(folded(single(character)) if flags.folded else single(character))


def _changed(flags: _Flags, letters: str) -> _Flags:
    on, _, off = letters.partition("-")
    for letter in on + off:
        told = letter in on and letter not in off
        if letter == "i":
            flags = replace(flags, folded=told)
        elif letter == "m":
            flags = replace(flags, lines=told)
        elif letter == "s":
            flags = replace(flags, dot_takes_all=told)
    return flags


_POSIX = re.compile(r"\[:\^?\w+:\]")


def bracketed(text: str, at: int, *, folds: bool) -> tuple[Characters, int]:
    """Return the characters of the set that begins here, and where it ends."""
    at += 1
    negated = text[at] == "^"
    at += negated
    among, first = NOTHING, True
    while text[at] != "]" or first:
        found, at = _item(text, at, folds=folds)
        among, first = among | found, False
    return (~among if negated else among), at + 1


def _item(text: str, at: int, *, folds: bool) -> tuple[Characters, int]:
    posix = _POSIX.match(text, at)
    if posix:
        return named(f"[{posix[0]}]", folds=folds), posix.end()
    found = named_at(text, at, folds=folds)
    if found:
        return found
    first, at = character_at(text, at)
    last = first
    if text[at] == "-" and text[at + 1] != "]":
        last, at = character_at(text, at + 1)
    among = characters([(ord(first), ord(last))])
    return (folded(among) if folds else among), at


_CONTROL = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_NAMED = re.compile(r"\\[dDsSwW]|\\[pP](?:\{[^}]*\}|.)", re.DOTALL)
_CODE = re.compile(r"\\x\{([0-9A-Fa-f]+)\}|\\x([0-9A-Fa-f]{2})|\\([0-7]{1,3})")
_ONE_BYTE = r"\C"


def named_at(text: str, at: int, *, folds: bool) -> tuple[Characters, int] | None:
    """Return the named class that begins here and where it ends, or None."""
    found = _NAMED.match(text, at)
    return (named(found[0], folds=folds), found.end()) if found else None


def character_at(text: str, at: int) -> tuple[str, int]:
    """Return the character that stands or is spelt here, and where it ends."""
    if text[at] != "\\":
        return text[at], at + 1
    if text.startswith(_ONE_BYTE, at):
        raise InvalidDocument(rf"pattern {text!r} matches one byte by \C, but texts are characters; use (?s:.) instead")
    code = _CODE.match(text, at)
    if code:
        long, short, octal = code.groups()
        return chr(int(octal, 8) if octal else int(long or short, 16)), code.end()
    return _CONTROL.get(text[at + 1], text[at + 1]), at + 2
