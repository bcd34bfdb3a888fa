"""Look-alike names: names that people read as the same although their characters differ.

Two names are look-alikes if their skeletons are equal. A skeleton is the name after compatibility normalisation (NFKC)
and case folding, with letters of other scripts replaced by the Latin letters that they resemble, digits of other
scripts by ASCII digits, and dashes and underscores by one character. ASCII letters and digits never resemble each other
here: `table1` and `tablel` are two names.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_RESEMBLES = {
    "a": "аαɑᴀᎪ",
    "b": "вβʙᏴ",
    "c": "сᴄᏟ",
    "d": "ԁᴅᎠ",
    "e": "еεᴇᎬ",
    "f": "ꜰ",
    "g": "ɡցɢᏀ",
    "h": "нһηհʜᎻ",
    "i": "іιɩıɪ",
    "j": "јϳյᴊᎫ",
    "k": "кκᴋᏦ",
    "l": "ӏǀʟᏞ",
    "m": "мμᴍᎷ",
    "n": "νոɴ",
    "o": "оοօᴏ",
    "p": "рρᴘᏢ",
    "q": "ԛզ",
    "r": "ʀᏒ",
    "s": "ѕꜱᏚ",
    "t": "тτᴛᎢ",
    "u": "սᴜ",
    "v": "ѵᴠᏙ",
    "w": "ԝᴡᎳ",
    "x": "хχ",
    "y": "уүυʏ",
    "z": "ζᴢᏃ",
    "ë": "ё",
    "ï": "ї",
    "æ": "ӕ",
    "ə": "ә",
    "-": "_‐‒–—―−˗‿",
    ".": "·٠۔",
    ":": "։׃꞉∶",
    "/": "∕⁄",
}
"""Case-folded characters by the character that they resemble, in lower case or in capitals."""

_TABLE = {ord(other): letter for letter, others in _RESEMBLES.items() for other in others}
_SCRIPTS = frozenset({"LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC"})
"""Scripts whose letters resemble each other, by the first word of the names of their characters."""

_WORD = re.compile(r"[^\W_]+")
SEPARATORS = "./:-_"
"""The characters between the parts of an id."""


@lru_cache(4_096)
def skeleton(name: str) -> str:
    """Return the form of a name that its look-alikes share."""
    if name.isascii():
        return name.lower().replace("_", "-")
    folded = unicodedata.normalize("NFKC", name).casefold().translate(_TABLE)
    digits = "".join(_ascii_digit(character) for character in folded)
    return unicodedata.normalize("NFKC", digits)


def prefixes(name: str) -> list[str]:
    """Return the skeletons of the prefixes of a name that end with a separator, the longest first."""
    whole = skeleton(name)
    return [whole[: end + 1] for end in range(len(whole) - 1, -1, -1) if whole[end] in SEPARATORS]


def find_mixed_scripts(name: str) -> tuple[str, list[str]] | None:
    """Return the first word of a name that mixes scripts whose letters resemble each other, with these scripts."""
    if name.isascii():
        return None
    for word in _WORD.findall(unicodedata.normalize("NFKC", name)):
        scripts = {unicodedata.name(character, "").partition(" ")[0] for character in word if character.isalpha()}
        mixed = sorted(scripts & _SCRIPTS)
        if len(mixed) > 1:
            return word, [script.capitalize() for script in mixed]
    return None


def _ascii_digit(character: str) -> str:
    value = unicodedata.decimal(character, None)
    return character if value is None else str(value)
