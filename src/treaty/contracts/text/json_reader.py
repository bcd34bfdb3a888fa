"""Reads JSON strictly; line numbers are computed only when they are needed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import jiter

from treaty.contracts.findings import LineTree, Place
from treaty.contracts.text.limits import Limits, invalid_document
from treaty.contracts.values import Json, abbreviate
from treaty.errors import InvalidDocument

_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[\]{},]', re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]|\s+|[^\s,:\[\]{}"]+', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_DECIMAL = re.compile(r"-?[0-9]+(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)")
_CONSTANTS = frozenset({"NaN", "Infinity", "-Infinity"})
MAX_NUMBER_LENGTH = 1_000
_AS_ZEROS = bytes.maketrans(b"123456789E", b"000000000e")
_LARGE_EXPONENTS = (b"e000", b"e+000")
_MANY_DIGITS = b"0" * 200
"""A number that overflows a float contains this once every digit is a zero, or it has a large exponent.

Strings may contain it too; the slow path then decides.
"""


class NotJson(InvalidDocument):
    """The text is not JSON; it may still be YAML that starts with a bracket."""


class _RefusedValue(Exception):
    """The decoder found something that is refused; walking the text finds its position."""


def read(text: str, source: str, limits: Limits) -> tuple[Json, Callable[[], LineTree | None]]:
    """Read JSON strictly: no duplicate keys, no NaN, no lone surrogates, no deep nesting."""
    _guard_size(text, source, limits)
    try:
        data = _read_fast(text.encode())
    except ValueError:
        data = _read_with_errors(text, source)
    return data, lambda: lines_of(text, source)


def read_small(content: bytes, limits: Limits) -> Json:
    """Read a small, valid document; raises ValueError for everything else, which `read` then handles."""
    if len(content) > min(limits.bytes, limits.nodes) or content.count(b"[") + content.count(b"{") > limits.depth:
        raise ValueError
    return _read_fast(content)


def lines_of(text: str, source: str) -> LineTree | None:
    """Return the line numbers of all parts of a document."""
    return _Walker(source).walk(text)


def _read_fast(content: bytes) -> Json:
    """Read a valid document; raises ValueError without a position for everything else."""
    zeros = content.translate(_AS_ZEROS)
    plain, signed = _LARGE_EXPONENTS
    if plain in zeros or signed in zeros or _MANY_DIGITS in zeros:
        raise ValueError
    return jiter.from_json(content, allow_inf_nan=False, cache_mode="keys", catch_duplicate_keys=True)


def _read_with_errors(text: str, source: str) -> Json:
    try:
        data = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _not_json(error, source) from None
    except _RefusedValue:
        _check_grammar(text, source)
        _Walker(source).walk(text)
        raise invalid_document("the document has a value that JSON does not allow", Place(source)) from None
    if (not text.isascii() and _SURROGATE.search(text)) or ("\\u" in text and "\\ud" in text.lower()):
        _Walker(source).walk(text)
    return data


def _not_json(error: json.JSONDecodeError, source: str) -> NotJson:
    refused = invalid_document(f"not valid JSON: {error.msg}", Place(source, error.lineno), f"see column {error.colno}")
    return NotJson(str(refused), refused.findings)


def _check_grammar(text: str, source: str) -> None:
    """Refuse a text that is not JSON, before other problems are reported."""
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        raise _not_json(error, source) from None


def _guard_size(text: str, source: str, limits: Limits) -> None:
    """Refuse a document that is nested too deeply or has too many values, before anything is built."""
    if len(text) <= limits.nodes and text.count("[") + text.count("{") <= limits.depth:
        return  # too small to exceed a limit
    depth = values = 0
    for found in _STRUCTURE.finditer(text):
        sign = found[0]
        if sign in "[{":
            depth += 1
            if depth > limits.depth:
                line = text.count("\n", 0, found.start()) + 1
                refused = invalid_document(
                    f"nested deeper than {limits.depth} levels", Place(source, line), "flatten it"
                )
                raise NotJson(str(refused), refused.findings)
        elif sign in "]}":
            depth -= 1
        values += sign in "[{,"
    if values > limits.nodes:
        raise invalid_document(f"more than {limits.nodes:,} values", Place(source), "shorten the document")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RefusedValue
    return found


def _constant(name: str) -> None:
    raise _RefusedValue


def _integer(digits: str) -> int:
    if len(digits) > MAX_NUMBER_LENGTH:
        raise _RefusedValue
    return int(digits)


def _decimal(digits: str) -> float:
    value = float(digits)
    if len(digits) > MAX_NUMBER_LENGTH or value in (float("inf"), float("-inf")):
        raise _RefusedValue
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_constant, parse_int=_integer, parse_float=_decimal
)


class _Walker:
    """Walks valid JSON token by token, records the line of each key and element, and refuses invalid values."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.root: LineTree | None = None
        self.line = 1
        self.stack: list[LineTree] = []
        self.key: str | None = None

    def walk(self, text: str) -> LineTree | None:
        for found in _TOKEN.finditer(text):
            self._step(found[0])
        return self.root

    def _step(self, sign: str) -> None:
        if sign in "{[":
            tree: LineTree = {} if sign == "{" else []
            self._note(tree)
            self.root = self.root if self.root is not None else tree
            self.stack.append(tree)
        elif sign in "}]":
            self.stack.pop()
        elif sign.isspace():
            self.line += sign.count("\n")
        elif sign.startswith('"'):
            self._text(json.loads(sign))
        else:
            self._number_or_word(sign)
            self._note(None)

    def _text(self, content: str) -> None:
        if _SURROGATE.search(content):
            raise self._refuse(f"the text {content[:60]!r} has a lone surrogate", "write complete characters")
        parent = self.stack[-1] if self.stack else None
        if not isinstance(parent, dict) or self.key is not None:
            self._note(None)
            return
        if content in parent:
            first = parent[content][0]
            hint = f"it is already at line {first}; keep one"
            raise self._refuse(f"the key {abbreviate(content)!r} occurs twice in one mapping", hint)
        self.key = content
        parent[content] = (self.line, None)

    def _number_or_word(self, sign: str) -> None:
        if sign in _CONSTANTS:
            raise self._refuse(f"{sign} is not a JSON value", "use a finite number, or null")
        if len(sign) > MAX_NUMBER_LENGTH:
            raise self._refuse(f"a number of {len(sign):,} digits", "write it as a text")
        if _DECIMAL.fullmatch(sign) and float(sign) in (float("inf"), float("-inf")):
            raise self._refuse(f"the number {sign} is out of range", "write it as a text")

    def _note(self, tree: LineTree | None) -> None:
        if not self.stack:
            return
        parent = self.stack[-1]
        if isinstance(parent, list):
            parent.append((self.line, tree))
        elif self.key is not None:
            parent[self.key] = (parent[self.key][0], tree)
            self.key = None

    def _refuse(self, message: str, hint: str) -> InvalidDocument:
        return invalid_document(message, Place(self.source, self.line), hint)
