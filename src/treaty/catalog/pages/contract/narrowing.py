"""Two values of one term, each told by what the other does not say."""

from __future__ import annotations

from typing import Any

from treaty.contracts.values import brief, same

_LONGEST = 400


def narrowed(before: Any, after: Any) -> tuple[str | None, str | None]:
    """Return two values in short: of lists and mappings only the entries that differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [key for key in {**before, **after} if not same(before.get(key), after.get(key))]
        parts = [(key, *narrowed(before.get(key), after.get(key))) for key in keys]
        return _lines([(key, one) for key, one, _ in parts]), _lines([(key, other) for key, _, other in parts])
    if _are_lists_of_things(before, after):
        return _only_here(before, after), _only_here(after, before)
    return _written(before), _written(after)


def _are_lists_of_things(before: Any, after: Any) -> bool:
    """Tell lists of mappings, which are long, from lists of words, which read best as a whole."""
    both = isinstance(before, list) and isinstance(after, list)
    return both and any(isinstance(one, dict) for one in (*before, *after))


def _only_here(mine: list[Any], theirs: list[Any]) -> str | None:
    here = [one for one in mine if not any(same(one, other) for other in theirs)]
    return brief("\n".join(filter(None, map(_written, here))), _LONGEST) or None


def _lines(said: list[tuple[str, str | None]]) -> str | None:
    return brief("\n".join(f"{key}: {text}" for key, text in said if text is not None), _LONGEST) or None


def _written(value: Any) -> str | None:
    if value is None or value in ("", [], {}):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return _lines([(key, _written(one)) for key, one in value.items()])
    if isinstance(value, (list, tuple)):
        return brief(", ".join(filter(None, map(_written, value))), _LONGEST)
    return brief(value, _LONGEST)
