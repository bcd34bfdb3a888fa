"""Reads YAML or JSON documents into plain data with line numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treaty.contracts.findings import LineTree, Place, line_number_at
from treaty.contracts.frozen import lazy
from treaty.contracts.text.limits import KeyNumbers, Limits, invalid_document
from treaty.contracts.values import Json
from treaty.errors import InvalidDocument

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class ParsedDocument:
    """A document as plain data, with the places of its parts."""

    source: str
    data: dict[str, Json]
    _lines: Callable[[], LineTree | None]

    @lazy
    def _tree(self) -> LineTree | None:
        return self._lines()

    def place(self, pointer: Sequence[str | int] = ()) -> Place:
        """Return the place of the part that a pointer leads to."""
        return Place(self.source, None if self._tree is None else line_number_at(self._tree, pointer))

    def part(self, data: dict[str, Json], pointer: Sequence[str | int]) -> ParsedDocument:
        """Return the mapping that a pointer leads to, as a document of its own with the same places."""

        def lines() -> LineTree | None:
            tree = self._tree
            for key in pointer:
                child = tree[key] if tree is not None else None  # type: ignore[index]
                tree = child[1] if child is not None else None
            return tree

        return ParsedDocument(self.source, data, lines)


def read_document(content: str | bytes, source: str = "<text>", limits: Limits | None = None) -> ParsedDocument:
    """Read a YAML or JSON mapping, or raise InvalidDocument."""
    return _read(content, source, limits or Limits(), KeyNumbers.REFUSED)


def read_document_with_number_keys(
    content: str | bytes, source: str = "<text>", limits: Limits | None = None
) -> ParsedDocument:
    """Read a YAML or JSON mapping in which keys such as the status code 200 need no quotes; they become texts."""
    return _read(content, source, limits or Limits(), KeyNumbers.AS_TEXT)


def _read(content: str | bytes, source: str, limits: Limits, numbers: KeyNumbers) -> ParsedDocument:
    text = _decode(content, source, limits)
    if not text.strip():
        raise invalid_document("the document is empty", Place(source), "write a contract, or try: treaty init")
    return _mapping(source, *_parse(text, source, limits, numbers))


def read_json(content: str | bytes, source: str = "<text>", limits: Limits | None = None) -> ParsedDocument:
    """Read a JSON mapping; YAML is refused."""
    import treaty.contracts.text.json_reader as json_text  # cheaper per request than `from … import`

    limits = limits or Limits()
    if isinstance(content, bytes):
        try:
            data = json_text.read_small(content, limits)
        except ValueError:
            pass  # read again below, for an error with a position
        else:
            return _mapping(source, data, lambda: json_text.lines_of(content.decode(), source))
    return _mapping(source, *json_text.read(_decode(content, source, limits), source, limits))


def _mapping(source: str, data: Json, lines: Callable[[], LineTree | None]) -> ParsedDocument:
    if not isinstance(data, dict):
        actual = {list: "a list", str: "a text", type(None): "nothing"}.get(type(data), f"the value {data!r}")
        raise invalid_document(f"a document is a mapping of keys to values; this is {actual}", Place(source, 1))
    return ParsedDocument(source, data, lines)


def check_plain(data: Json, source: str, limits: Limits | None = None) -> None:
    """Refuse data that JSON cannot represent: other types, keys that are not strings, infinite numbers or too deep."""
    pending: list[tuple[Json, int]] = [(data, 1)]
    max_depth = (limits or Limits()).depth
    while pending:
        value, depth = pending.pop()
        if depth > max_depth + 1:
            raise invalid_document(f"nested deeper than {max_depth} levels", Place(source), "flatten it")
        if isinstance(value, dict):
            pending += [(part, depth + 1) for pair in value.items() for part in pair]
            if any(not isinstance(key, str) for key in value):
                raise invalid_document("a key is not a text", Place(source), "use texts as keys")
        elif isinstance(value, list):
            pending += [(item, depth + 1) for item in value]
        elif isinstance(value, str):
            if not value.isascii() and _SURROGATE.search(value):
                raise invalid_document(
                    "a lone surrogate is not a character", Place(source), "write complete characters"
                )
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise invalid_document(f"{value} is not a finite number", Place(source), "use a finite number, or null")
        elif value is not None and not isinstance(value, (bool, int)):
            raise invalid_document(f"a {type(value).__name__} is not a JSON value", Place(source), "write it as a text")


def _parse(text: str, source: str, limits: Limits, numbers: KeyNumbers) -> tuple[Json, Callable[[], LineTree | None]]:
    """Read text that starts like JSON as JSON, and everything else, including flow YAML, as YAML."""
    from treaty.contracts.text import json_reader, yaml_reader

    if text.lstrip()[0] not in "{[":
        return yaml_reader.read(text, source, limits, numbers)
    try:
        return json_reader.read(text, source, limits)
    except json_reader.NotJson as not_json:
        try:
            return yaml_reader.read(text, source, limits, numbers)
        except InvalidDocument:
            raise not_json from None


def _decode(content: str | bytes, source: str, limits: Limits) -> str:
    size = len(content) if isinstance(content, bytes) else len(content.encode("utf-8", "surrogatepass"))
    if size > limits.bytes:
        raise invalid_document(
            f"the document has {size:,} bytes; at most {limits.bytes:,} are read",
            Place(source),
            "split it, or raise limits.bytes",
        )
    if isinstance(content, str):
        return content.removeprefix("\ufeff")
    try:
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise invalid_document(
            f"not UTF-8 text at byte {error.start}", Place(source, line), "save the file as UTF-8"
        ) from None
