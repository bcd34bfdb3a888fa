"""Names that a format accepts, made from any name, each once."""

from __future__ import annotations

import re
from collections.abc import Collection

from treaty.contracts.names import words_of_name

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FOREIGN = re.compile(r"[^A-Za-z0-9_]+")


def is_identifier(name: str) -> bool:
    """Tell whether a name is letters, digits and underscores of ASCII, and opens with no digit."""
    return _IDENTIFIER.fullmatch(name) is not None


def make_identifier(name: str, taken: Collection[str] = ()) -> str:
    """Return the name as an identifier that is not taken yet."""
    plain = _FOREIGN.sub("_", name) or "_"
    if not is_identifier(plain):
        plain = f"_{plain}"
    found, number = plain, 2
    while found in taken:
        found, number = f"{plain}_{number}", number + 1
    return found


def make_type_name(*names: str) -> str:
    """Return a name for a type, made from the names it stands under: order, line items → OrderLineItems."""
    joined = "".join(word.capitalize() for name in names for word in words_of_name(_FOREIGN.sub(" ", name)))
    return joined if is_identifier(joined) else f"T{joined}"


def make_field_names(names: Collection[str | None]) -> list[str]:
    """Return the names of sibling fields as identifiers, no two alike."""
    fitting = {name for name in names if name is not None and is_identifier(name)}
    chosen: list[str] = []
    for name in names:
        if name is not None and is_identifier(name) and name not in chosen:
            chosen.append(name)
        else:
            chosen.append(make_identifier(name or "", {*fitting, *chosen}))
    return chosen


def name_from_path(path: str, endings: tuple[str, ...]) -> str:
    """Return the last part of a path or address, without the ending that says what it is."""
    last = path.replace("\\", "/").rpartition("/")[2].rpartition(":")[2]
    ending = next((ending for ending in endings if last.lower().endswith(ending)), "")
    return last[: len(last) - len(ending)] or "schema"
