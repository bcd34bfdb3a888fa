"""JSON to plain data; line numbers are worked out only when somebody asks for one."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.reading.limits import Limits, refuse
from treaty.contracts.reading.lines import LineTree
from treaty.contracts.values import Json
from treaty.errors import InvalidDocument

_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{},]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]|\s+|[^\s,:\[\]{}"]+', re.DOTALL)
_LONGEST_NUMBER = 1_000


class NotJson(InvalidDocument):
    """The text breaks JSON's grammar; it may still be YAML that opens with a bracket."""


def read(text: str, source: str, limits: Limits) -> tuple[Json, Callable[[], LineTree | None]]:
    """Read JSON strictly: no duplicate keys, no NaN, no lone surrogates, no deep nesting."""
    _guard_size(text, source, limits)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
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


def _guard_size(text: str, source: str, limits: Limits) -> None:
    """Refuse what is nested too deeply or has too many values, before anything is built."""
    depth = values = 0
    for found in _STRUCTURE.finditer(text):
        sign = found[0]
        if sign in "[{":
            depth += 1
            if depth > limits.depth:
                line = text.count("\n", 0, found.start()) + 1
                raise refuse(f"nested deeper than {limits.depth} levels", Place(source, line), "flatten it")
        elif sign in "]}":
            depth -= 1
        values += sign in "[{,"
    if values > limits.nodes:
        raise refuse(f"more than {limits.nodes:,} values", Place(source), "write less")


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
    walker = _Walker()
    for found in _TOKEN.finditer(text):
        walker.step(found)
    return walker.root


class _Walker:
    """Builds the line tree from the tokens of valid JSON."""

    def __init__(self) -> None:
        self.root: LineTree | None = None
        self.line = 1
        self.stack: list[LineTree] = []
        self.key: str | None = None

    def step(self, found: re.Match[str]) -> None:
        sign = found[0]
        if sign in "{[":
            tree: LineTree = {} if sign == "{" else []
            self._note(tree)
            self.root = self.root if self.root is not None else tree
            self.stack.append(tree)
        elif sign in "}]":
            self.stack.pop()
        elif sign.isspace():
            self.line += sign.count("\n")
        elif sign.startswith('"') and self.stack and isinstance(self.stack[-1], dict) and self.key is None:
            self.key = json.loads(sign)
            self.stack[-1][self.key] = (self.line, None)
        else:
            self._note(None)

    def _note(self, tree: LineTree | None) -> None:
        if not self.stack:
            return
        parent = self.stack[-1]
        if isinstance(parent, list):
            parent.append((self.line, tree))
        elif self.key is not None:
            parent[self.key] = (parent[self.key][0], tree)
            self.key = None
