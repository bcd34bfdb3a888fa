"""Random patterns in RE2 syntax, each with texts that are likely to match."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import re2

_ATOMS = {
    r"\d": "07", r"\w": "aZ_", r"\s": " \n\t", r"\D": "a\n", r"\W": "-é", r"\S": "a\v", ".": "aé😀\r",
    "[a-c]": "ac", "[^a]": "b\n😀", "[a-z0-9]": "a9", r"[^\s@]": "a-", "[[:alpha:]]": "aZ", "[[:^digit:]]": "a ",
    "[[:punct:]_]": "!_", "[[:space:]]": " \v", "[a[b]": "a[", "[a&&b]": "&a", "[]a]": "]a", "[^]a]": "b[",
    "[a-]": "a-", r"[\]a^-]": "]^-", r"\pL": "aéж", r"\PL": "1 ", r"\p{Greek}": "αΩ", r"\p{^Lu}": "a1",
    r"[\pN_]": "1_²", r"[\W\d]": "-1", r"[^\pL]": "1", r"\x41": "A", r"\x{1F600}": "😀", r"\101": "A",
    r"[\x{1F600}-\x{1F64F}]": "😀😁", r"[^\x{0}-\x{1F600}]": "😁", r"[\x00-\x7f]": "a\x7f", r"[^\n]": "a\r",
    r"\p{Any}": "a\n😀", r"\.": ".", r"\-": "-", r"\[": "[", r"\n": "\n", r"\t": "\t", r"\v": "\v", "é": "é",
    "ß": "ß", "σ": "σ", "k": "k", "S": "S", "a": "a", "b": "b", "😀": "😀", "#": "#", "&&": "&", "ab": "a",
    "-": "-", '"': '"', "x": "x",
}  # fmt: skip
_PLACES = ["^", "$", r"\A", r"\z", r"\b", r"\B"]
_OPENED = ["(", "(?:", "(?i:", "(?s:", "(?m:", "(?i-s:", "(?U:", "(?:(?i)", "(?:(?m)"]
_COUNTS = {
    "*": (0, 3),
    "+": (1, 3),
    "?": (0, 1),
    "{2}": (2, 2),
    "{1,2}": (1, 2),
    "{0,3}": (0, 3),
    "{2,}": (2, 4),
    "{3}": (3, 3),
}
_LAZY = ["", "", "?"]
_UNUSUAL_TEXTS = [
    "",
    "\n",
    "a\n",
    "é",
    "É",
    "ẞ",
    "ſ",
    "K",
    "k",
    "Σς",
    "😀",
    "a😀b",
    "\u2028",
    "\u0085",
    "\r",
    "\0",
    "[",
    "^",
    "-",
    "A ",
    "aaaa",
]
"""Texts that engines disagree on."""


@dataclass(frozen=True, slots=True)
class PatternSample:
    """A pattern and texts for it."""

    pattern: str
    texts: tuple[str, ...]


def draw_patterns(random: Random, size: int) -> list[PatternSample]:
    """Return random patterns that RE2 accepts."""
    patterns: list[PatternSample] = []
    while len(patterns) < size:
        piece = (
            _draw_frequent_shape(random)
            if random.random() < 0.3
            else _anchored(random, _draw_piece(random, random.randint(1, 4)))
        )
        if _is_valid(piece.pattern):
            patterns.append(piece)
    return patterns


def _draw_piece(random: Random, depth: int) -> PatternSample:
    kind = random.random()
    if depth == 0 or kind < 0.3:
        if random.random() < 0.08:
            return PatternSample(random.choice(_PLACES), ("",))
        atom = random.choice(list(_ATOMS))
        return PatternSample(atom, (atom,) if atom == "ab" else tuple(_ATOMS[atom]))
    parts = [_draw_piece(random, depth - 1) for _ in range(random.randint(1, 3))]
    if kind < 0.6:
        return PatternSample("".join(part.pattern for part in parts), _joined(random, parts))
    if kind < 0.75:
        options = [part if random.random() > 0.1 else PatternSample("", ("",)) for part in parts]
        return PatternSample(f"(?:{'|'.join(part.pattern for part in options)})", _some(random, options))
    if kind < 0.82:
        return PatternSample(f"{random.choice(_OPENED)}{parts[0].pattern})", parts[0].texts)
    count = random.choice(list(_COUNTS))
    times = random.randint(*_COUNTS[count])
    return PatternSample(f"(?:{parts[0].pattern}){count}{random.choice(_LAZY)}", _joined(random, parts[:1] * times))


def _anchored(random: Random, piece: PatternSample) -> PatternSample:
    before, after = random.choice([("", ""), ("^(?:", ")$"), ("^(?:", ")"), ("(?:", ")$")])
    return PatternSample(f"{before}{piece.pattern}{after}", piece.texts)


def _draw_frequent_shape(random: Random) -> PatternSample:
    """Draw a pattern of a shape that is frequent in contracts."""
    words = random.sample(["EUR", "USD", "a.b", "é", "😀", "", "x"], k=random.randint(1, 3))
    choice = "|".join(word.replace(".", r"\.") for word in words)
    atom = random.choice([atom for atom in _ATOMS if len(atom) > 1 and atom[0] in "[\\"])
    count = random.choice([*_COUNTS, ""])
    repeated = "".join(random.choice(_ATOMS[atom]) for _ in range(random.randint(*_COUNTS.get(count, (1, 1)))))
    word = random.choice(words)
    return random.choice(
        [
            PatternSample(f"^({choice})$", (*words, *(f"{some}x" for some in words))),
            PatternSample(f"^({choice})", (*words, *(f"x{some}" for some in words))),
            PatternSample(f"({choice})$", (*words, *(f"{some}x" for some in words))),
            PatternSample(f"({choice})", (*words, *(f"x{some}x" for some in words))),
            PatternSample(f"^{atom}{count}$", (repeated, f"{repeated}{repeated}", f"{repeated}\n", repeated[1:])),
            PatternSample(f"(?i)^{atom}{count}$", (repeated, repeated.swapcase())),
            PatternSample(f"^({choice}){atom}{count}$", (f"{word}{repeated}", repeated, f"{word}{repeated}x")),
            PatternSample(f"^.*({choice}).*$", (f"a{word}b", f"\n{word}")),
            PatternSample(f"^{atom}+({choice}){atom}+$", (f"{repeated}{word}{repeated}", repeated)),
        ]
    )


def _joined(random: Random, parts: list[PatternSample]) -> tuple[str, ...]:
    return tuple("".join(random.choice(part.texts) for part in parts) for _ in range(2))


def _some(random: Random, parts: list[PatternSample]) -> tuple[str, ...]:
    return tuple(random.choice(random.choice(parts).texts) for _ in range(2))


def _is_valid(pattern: str) -> bool:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error:
        return False
    return True


def draw_texts(random: Random, pieces: list[PatternSample]) -> list[str]:
    """Return texts that match some of the patterns, those with a character changed, and unusual ones."""
    matching = [text for piece in pieces for text in piece.texts]
    changed = [_changed(random, text) for text in matching]
    return list(dict.fromkeys([*_UNUSUAL_TEXTS, *matching, *changed]))


def _changed(random: Random, text: str) -> str:
    at = random.randint(0, len(text))
    return text[:at] + random.choice("aé\nZ-😀 ") + text[at + random.randint(0, 1) :]
