"""Field paths, such as ``customer.addresses[].city``.

``.name`` steps into an object, ``[]`` into the elements of an array, ``{}`` into the values of a map and
``{key}`` into its keys. Names with other characters are quoted with backticks: ``a.`first.name```.
If a contract has several schema objects, the name of the object comes first: ``orders:customer.city``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from treaty.errors import InvalidDocument

ITEMS = "[]"
MAP_VALUES = "{}"
MAP_KEYS = "{key}"
_MARKS = (ITEMS, MAP_VALUES, MAP_KEYS)

_PLAIN_NAME = re.compile(r"[^\s.`\[\]{}:#]+")
_TOKEN = re.compile(r"(?P<mark>\[\]|\{\}|\{key\})|(?P<dot>\.)|(?P<plain>[^\s.`\[\]{}:#]+)|`(?P<quoted>(?:[^`]|``)*)`")
_PREFIX = re.compile(r"(?P<plain>[^\s.`\[\]{}:#]+):|`(?P<quoted>(?:[^`]|``)*)`:")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path: a field name, or a mark such as ``[]``."""

    text: str
    is_mark: bool = False


@dataclass(frozen=True, slots=True)
class FieldPath:
    """The position of a field in a contract."""

    steps: tuple[Step, ...] = ()
    object: str | None = None

    def field(self, name: str) -> FieldPath:
        """Return the path of a named field inside this one."""
        return FieldPath((*self.steps, Step(name)), self.object)

    def into(self, mark: str) -> FieldPath:
        """Return the path of the array elements, map values or map keys of this field."""
        return FieldPath((*self.steps, Step(mark, is_mark=True)), self.object)

    @property
    def parent(self) -> FieldPath:
        """The path of the enclosing field or object."""
        return FieldPath(self.steps[:-1], self.object)

    def covers(self, other: FieldPath) -> bool:
        """Return whether `other` is this field or inside it."""
        same_object = self.object is None or other.object is None or self.object == other.object
        return same_object and other.steps[: len(self.steps)] == self.steps

    def touches(self, other: FieldPath) -> bool:
        """Return whether one of the two fields is the other or inside it."""
        return self.covers(other) or other.covers(self)

    def __str__(self) -> str:
        prefix = f"{_quote(self.object)}:" if self.object is not None else ""
        parts: list[str] = []
        for step in self.steps:
            name = step.text if step.is_mark else _quote(step.text)
            parts.append(f".{name}" if parts and not step.is_mark else name)
        return prefix + "".join(parts)


def parse_path(text: str) -> FieldPath:
    """Parse a path in the notation of `str(path)`."""
    position = 0
    owner: str | None = None
    if prefix := _PREFIX.match(text):
        owner, position = _unquote(prefix), prefix.end()
    steps: list[Step] = []
    expects_name = True
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise _bad_path(text, position)
        if token["mark"]:
            if expects_name and steps:
                raise _bad_path(text, position)
            steps.append(Step(token["mark"], is_mark=True))
            expects_name = False
        elif token["dot"]:
            if expects_name:
                raise _bad_path(text, position)
            expects_name = True
        else:
            if not expects_name:
                raise _bad_path(text, position)
            steps.append(Step(_unquote(token)))
            expects_name = False
        position = token.end()
    if expects_name:
        raise _bad_path(text, position)
    return FieldPath(tuple(steps), owner)


def _quote(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def _unquote(token: re.Match[str]) -> str:
    return token["plain"] if token["plain"] is not None else token["quoted"].replace("``", "`")


def _bad_path(text: str, position: int) -> InvalidDocument:
    return InvalidDocument(
        f"cannot read field path {text!r} at character {position + 1}; write it like customer.addresses[].city"
    )
