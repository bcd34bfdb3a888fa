"""JSON to plain data; line numbers are worked out only when somebody asks for one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.reading.limits import Limits, refuse
from treaty.contracts.reading.lines import LineTree
from treaty.contracts.values import Json
from treaty.errors import InvalidDocument

_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBER_OR_WORD = re.compile(r"[^\s,\]}]+")
_LONGEST_NUMBER = 1_000


class NotJson(InvalidDocument):
    """The text breaks JSON's grammar; it may still be YAML that opens with a bracket."""


def read(text: str, source: str, limits: Limits) -> tuple[Json, Callable[[], LineTree | None]]:
    """Read JSON strictly: no duplicate keys, no NaN, no lone surrogates, no deep nesting."""
    _guard_depth(text, source, limits)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise refuse(f"the key {twice!r} stands twice in one mapping", Place(source), "keep one of them")
        return found

    def constant(name: str) -> None:
        raise refuse(f"{name} is not a JSON value", Place(source), "use a finite number, or null")

    def number(kind: Callable[[str], Any]) -> Callable[[str], Any]:
        def parse(digits: str) -> Any:
            if len(digits) > _LONGEST_NUMBER:
                raise refuse(f"a number of {len(digits):,} digits", Place(source), "write it as a text")
            value = kind(digits)
            if value in (float("inf"), float("-inf")):
                raise refuse(f"the number {digits} is out of range", Place(source), "write it as a text")
            return value

        return parse

    try:
        data = json.loads(
            text,
            object_pairs_hook=unique,
            parse_constant=constant,
            parse_int=number(int),
            parse_float=number(float),
        )
    except json.JSONDecodeError as error:
        refused = refuse(f"not valid JSON: {error.msg}", Place(source, error.lineno), f"see column {error.colno}")
        raise NotJson(str(refused), refused.findings) from None
    if "\\u" in text or "\\U" in text:
        _guard_surrogates(data, source)
    elif _SURROGATE.search(text):
        raise refuse("a lone surrogate is not a character", Place(source), "save the file as UTF-8")
    return data, lambda: _lines(text)


def _guard_depth(text: str, source: str, limits: Limits) -> None:
    depth = 0
    for found in _BRACKETS.finditer(text):
        if found[0] in "[{":
            depth += 1
            if depth > limits.depth:
                line = text.count("\n", 0, found.start()) + 1
                raise refuse(f"nested deeper than {limits.depth} levels", Place(source, line), "flatten it")
        elif found[0] in "]}":
            depth -= 1


def _guard_surrogates(value: Json, source: str) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            _guard_surrogates(key, source)
            _guard_surrogates(item, source)
    elif isinstance(value, list):
        for item in value:
            _guard_surrogates(item, source)
    elif isinstance(value, str) and _SURROGATE.search(value):
        raise refuse(f"the text {value!r} has a lone surrogate", Place(source), "write whole characters")


def _lines(text: str) -> LineTree | None:
    """Walk valid JSON once more, noting the line of every key and element."""
    line, position = 1, 0
    stack: list[LineTree] = []
    root: LineTree | None = None
    key: str | None = None

    def note(tree: LineTree | None, at: int) -> None:
        nonlocal key
        if not stack:
            return
        parent = stack[-1]
        if isinstance(parent, dict):
            if key is not None:
                parent[key] = (parent[key][0], tree)
                key = None
        else:
            parent.append((at, tree))

    while position < len(text):
        character = text[position]
        if character == "\n":
            line += 1
        elif character in "{[":
            tree: LineTree = {} if character == "{" else []
            note(tree, line)
            root = tree if root is None else root
            stack.append(tree)
        elif character in "}]":
            stack.pop()
        elif character == '"':
            content, end = scanstring(text, position + 1, False)
            parent = stack[-1] if stack else None
            if isinstance(parent, dict) and key is None:
                key = content
                parent[content] = (line, None)
            else:
                note(None, line)
            line += text.count("\n", position, end)
            position = end
            continue
        elif character not in " \t\r,:":
            found = _NUMBER_OR_WORD.match(text, position)
            note(None, line)
            position = found.end() if found else position + 1
            continue
        position += 1
    return root
