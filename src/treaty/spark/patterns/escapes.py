r"""What stands behind a backslash in RE2: a character, or a named class such as `\d` and `\p{Greek}`."""

from __future__ import annotations

import re

from treaty.errors import InvalidDocument
from treaty.spark.patterns.characters import Characters
from treaty.spark.patterns.naming import named

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
