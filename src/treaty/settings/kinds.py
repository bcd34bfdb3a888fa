"""What a setting may hold: how it is read from the project file, and from a variable."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_DIGITS = re.compile(r"[0-9]{1,18}")
_FLAGS = {"true": True, "false": False}


@dataclass(frozen=True)
class Kind:
    """One kind of value: what it is called, which values fit, and what a variable's text stands for."""

    words: str
    fits: Callable[[Any], bool]
    plain: Callable[[str], Any]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _number(text: str) -> Any:
    return int(text) if _DIGITS.fullmatch(text) else text


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, (str, int, float, bool)) for one in value.values())


def _paired(text: str) -> Any:
    pairs = [pair.partition("=") for pair in text.split(";") if pair.strip()]
    return {key.strip(): value.strip() for key, _, value in pairs} if all(mark for _, mark, _ in pairs) else text


TEXT = Kind("a text", _is_text, str)
FLAG = Kind("true or false", lambda value: isinstance(value, bool), lambda text: _FLAGS.get(text.lower(), text))
TEXTS = Kind("a list of texts", lambda value: isinstance(value, list) and all(map(_is_text, value)), _listed)
PAIRS = Kind("a mapping of names to values", _is_mapping, _paired)


def whole(least: int, most: int) -> Kind:
    """Return the kind of a whole number within bounds."""

    def fits(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

    return Kind(f"a whole number from {least:,} to {most:,}", fits, _number)


def wholes(least: int, most: int) -> Kind:
    """Return the kind of a list of whole numbers within bounds."""
    one = whole(least, most)

    def fits(value: Any) -> bool:
        return isinstance(value, list) and all(map(one.fits, value))

    return Kind(
        f"a list of whole numbers from {least:,} to {most:,}",
        fits,
        lambda text: [_number(part) for part in _listed(text)] if text.strip() else [],
    )


def one_of(*choices: str) -> Kind:
    """Return the kind of a choice."""
    return Kind(f"one of: {', '.join(choices)}", lambda value: value in choices, str)
