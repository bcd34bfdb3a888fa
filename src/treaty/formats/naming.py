"""Derive names that a format accepts from the names in a contract."""

from __future__ import annotations

import re
from collections.abc import Collection

from treaty.contracts.names import split_words

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INVALID_CHARS = re.compile(r"[^A-Za-z0-9_]+")


def is_identifier(name: str) -> bool:
    """Whether a name consists of ASCII letters, digits and underscores and does not start with a digit."""
    return _IDENTIFIER.fullmatch(name) is not None


def make_identifier(name: str, taken: Collection[str] = ()) -> str:
    """Return an identifier based on the name that is not taken yet."""
    plain = _INVALID_CHARS.sub("_", name) or "_"
    if not is_identifier(plain):
        plain = f"_{plain}"
    candidate, number = plain, 2
    while candidate in taken:
        candidate, number = f"{plain}_{number}", number + 1
    return candidate


def make_type_name(*names: str) -> str:
    """Return a type name joined from the names of its parents: order, line items → OrderLineItems."""
    joined = "".join(word.capitalize() for name in names for word in split_words(_INVALID_CHARS.sub(" ", name)))
    return joined if is_identifier(joined) else f"T{joined}"


def make_upper_snake_case(name: str) -> str:
    """Return a type name in upper case with underscores: OrderStatus → ORDER_STATUS."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def make_field_names(names: Collection[str | None]) -> list[str]:
    """Return unique identifiers for the names of sibling fields."""
    valid = {name for name in names if name is not None and is_identifier(name)}
    chosen: list[str] = []
    for name in names:
        if name is not None and is_identifier(name) and name not in chosen:
            chosen.append(name)
        else:
            chosen.append(make_identifier(name or "", {*valid, *chosen}))
    return chosen


def name_from_path(path: str, endings: tuple[str, ...]) -> str:
    """Return the last part of a path or URI, without its file ending."""
    last = path.replace("\\", "/").rpartition("/")[2].rpartition(":")[2]
    ending = next((ending for ending in endings if last.lower().endswith(ending)), "")
    return last[: len(last) - len(ending)] or "schema"


def unique_name(name: str, taken: Collection[str], separator: str = " ") -> str:
    """Return the name, with a number if it is taken."""
    if name not in taken:
        return name
    return next(free for number in range(2, len(taken) + 3) if (free := f"{name}{separator}{number}") not in taken)
