"""Types of settings: which values are valid, and how the text of an environment variable is parsed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_DIGITS = re.compile(r"[0-9]{1,18}")

_FLAGS = {"true": True, "false": False}


@dataclass(frozen=True)
class Kind:
    """A type of setting: its name, which values are valid, and how the text of a variable is parsed."""

    description: str
    is_valid: Callable[[Any], bool]
    parse: Callable[[str], Any]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _parse_integer(text: str) -> Any:
    return int(text) if _DIGITS.fullmatch(text) else text


def _parse_list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(entry, (str, int, float, bool)) for entry in value.values())


def _parse_pairs(text: str) -> Any:
    pairs = [pair.partition("=") for pair in text.split(";") if pair.strip()]
    return (
        {key.strip(): value.strip() for key, _, value in pairs} if all(separator for _, separator, _ in pairs) else text
    )


def _is_groups(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(names, list) and all(map(_is_text, names)) for names in value.values()
    )


def _parse_groups(text: str) -> Any:
    pairs = [pair.partition("=") for pair in text.split(";") if pair.strip()]
    if not all(separator for _, separator, _ in pairs):
        return text
    return {key.strip(): _parse_list(names) for key, _, names in pairs}


TEXT = Kind("a string", _is_text, str)

FLAG = Kind("true or false", lambda value: isinstance(value, bool), lambda text: _FLAGS.get(text.lower(), text))

TEXTS = Kind("a list of strings", lambda value: isinstance(value, list) and all(map(_is_text, value)), _parse_list)

GROUPS = Kind("a mapping of names to lists of strings", _is_groups, _parse_groups)

PAIRS = Kind("a mapping of names to values", _is_mapping, _parse_pairs)


def integer(minimum: int, maximum: int) -> Kind:
    """Return the type of an integer within bounds."""

    def is_valid(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and minimum <= value <= maximum

    return Kind(f"an integer from {minimum:,} to {maximum:,}", is_valid, _parse_integer)


def integers(minimum: int, maximum: int) -> Kind:
    """Return the type of a list of integers within bounds."""
    element = integer(minimum, maximum)

    def is_valid(value: Any) -> bool:
        return isinstance(value, list) and all(map(element.is_valid, value))

    return Kind(
        f"a list of integers from {minimum:,} to {maximum:,}",
        is_valid,
        lambda text: [_parse_integer(part) for part in _parse_list(text)] if text.strip() else [],
    )


def one_of(*choices: str) -> Kind:
    """Return the type of a choice."""
    return Kind(f"one of: {', '.join(choices)}", lambda value: value in choices, str)


def setting(default: Any, kind: Kind, what: str) -> Any:
    """Return the field of a setting, with its type and description."""
    return field(default=default, metadata={"kind": kind, "what": what})
