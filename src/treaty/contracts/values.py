"""JSON values, frozen for use in the model and thawed for output."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A JSON value: dict, list, str, int, float, bool or None."""

_NESTED = (dict, list)


class FrozenMap(Mapping[str, Any]):
    """A hashable, immutable mapping of frozen values; the order of keys does not matter for equality."""

    __slots__ = ("_hash", "_items")

    def __init__(self, items: Mapping[str, Any] | None = None) -> None:
        self._items: dict[str, Any] = {
            key: freeze(value) if isinstance(value, _NESTED) else value for key, value in (items or {}).items()
        }
        self._hash: int | None = None

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, or the default."""
        return self._items.get(key, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenMap):
            return self is other or json_equal(self._items, other._items)
        return NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._items.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"FrozenMap({self._items!r})"


EMPTY = FrozenMap()


def freeze(value: Json) -> Any:
    """Return a value with lists as tuples and dicts as FrozenMaps."""
    if isinstance(value, dict):
        return FrozenMap(value) if value else EMPTY
    if isinstance(value, list):
        return tuple([freeze(item) for item in value])
    return value


def thaw(value: Any) -> Json:
    """Return a frozen value as plain lists and dicts."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [thaw(item) for item in value]
    return value


def json_equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal in JSON: 1 equals 1.0, but not true."""
    if one is other:
        return True
    if isinstance(one, bool) or isinstance(other, bool):
        return isinstance(one, bool) and isinstance(other, bool) and one == other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(json_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(json_equal, one, other))
    return bool(one == other)


def canonical_json(value: Any) -> str:
    """Return JSON text that is the same for equal values, for sorting and comparing."""
    return json.dumps(thaw(value), sort_keys=True, ensure_ascii=False)


def abbreviate(value: Any, width: int = 60) -> str:
    """Return a value as text of limited length, for messages."""
    text = value if isinstance(value, str) else json.dumps(thaw(value), ensure_ascii=False)
    return text if len(text) <= width else text[: width - 1] + "…"
