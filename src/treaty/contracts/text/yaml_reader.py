"""Reads YAML from the event stream of the parser, so that hostile input is refused before anything is built.

Scalars follow the YAML 1.2 core schema: ``no`` and ``2026-01-03`` are strings, as in JSON. Digits with a leading zero
(``007``) are strings too, because a number would lose the zeros.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml

from treaty.contracts.findings import LineTree, Place
from treaty.contracts.text.limits import KeyNumbers, Limits, invalid_document
from treaty.contracts.values import Json, abbreviate
from treaty.errors import InvalidDocument

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+(?:\.[0-9]*)?")
_RADIX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_NUMERIC_START = frozenset("0123456789+-.")
MAX_NUMBER_LENGTH = 1_000
_TAG = "tag:yaml.org,2002:"
_MERGE = "<<"
MAX_DIRECTIVES = 10
_DIRECTIVE = re.compile("(?:^|[\n\r\x85\u2028\u2029])%")
_NOT_PRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(slots=True)
class _Open:
    """A mapping or sequence under construction."""

    data: Any
    lines: Any
    anchor: str | None
    line: int
    size: int = 1
    depth: int = 1
    key: str | None = None
    key_line: int = 0
    merges: bool = False
    merged: list[tuple[dict[str, Any], Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Node:
    data: Any
    lines: Any
    size: int = 1
    depth: int = 0


def read(
    text: str, source: str, limits: Limits, numbers: KeyNumbers = KeyNumbers.REFUSED
) -> tuple[Json, Callable[[], LineTree | None]]:
    """Read one YAML document; custom tags, duplicate keys and documents beyond the limits are refused."""
    if len(_DIRECTIVE.findall(text)) > MAX_DIRECTIVES:
        raise invalid_document(f"more than {MAX_DIRECTIVES} directives", Place(source, 1), "remove them")
    builder = _Builder(source, limits, numbers)
    try:
        builder.build(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(source, mark.line + 1 if mark else None)
        message = f"not valid YAML: {error.problem or error.context}"
        raise invalid_document(message, place, "check the indentation and quotes near it") from None
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        found = _NOT_PRINTABLE.search(text)
        line = text.count("\n", 0, found.start()) + 1 if found else None
        is_surrogate = found and "\ud800" <= found[0] <= "\udfff"
        what = "a lone surrogate is not a character" if is_surrogate else "control characters are not allowed"
        what = what if found else str(error).splitlines()[0]
        raise invalid_document(
            f"not valid YAML: {what}", Place(source, line), "remove it, or write it as an escape"
        ) from None
    root = builder.root
    return (root.data, lambda: root.lines) if root else (None, lambda: None)


class _Builder:
    """Builds data and its line tree from parser events, and enforces the limits."""

    def __init__(self, source: str, limits: Limits, numbers: KeyNumbers) -> None:
        self.source = source
        self.limits = limits
        self.numbers = numbers
        self.stack: list[_Open] = []
        self.anchors: dict[str, _Node] = {}
        self.root: _Node | None = None
        self.documents = 0
        self.aliases = 0
        self.nodes = 0

    def build(self, events: Iterable[Any]) -> None:
        for event in events:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._scalar(event)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self._open(event, is_mapping=kind is yaml.MappingStartEvent)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._close()
            elif kind is yaml.AliasEvent:
                self._alias(event)
            elif kind is yaml.DocumentStartEvent:
                self.documents += 1
                if self.documents > 1:
                    raise self._refuse("a second document starts here", event, "keep one contract in a file")

    def _open(self, event: Any, *, is_mapping: bool) -> None:
        if event.tag and event.tag not in ("!", _TAG + ("map" if is_mapping else "seq")):
            raise self._refuse(f"the tag {event.tag} is not plain YAML", event, "remove the tag")
        if len(self.stack) >= self.limits.depth:
            raise self._refuse(f"nested deeper than {self.limits.depth} levels", event, "flatten it")
        if self.stack and isinstance(self.stack[-1].data, dict) and self.stack[-1].key is None:
            raise self._refuse("a key must be a text", event, "use a plain name as the key")
        line = event.start_mark.line + 1
        self.stack.append(_Open({} if is_mapping else [], {} if is_mapping else [], event.anchor, line))

    def _close(self) -> None:
        frame = self.stack.pop()
        for data, lines in frame.merged:
            for key, value in data.items():
                if key not in frame.data:
                    frame.data[key] = value
                    frame.lines[key] = (frame.line, lines[key][1])
        node = _Node(frame.data, frame.lines, frame.size, frame.depth)
        if frame.anchor:
            self.anchors[frame.anchor] = node
        self._add(node, frame.line)

    def _scalar(self, event: Any) -> None:
        line = event.start_mark.line + 1
        frame = self.stack[-1] if self.stack else None
        if frame is not None and isinstance(frame.data, dict) and frame.key is None:
            self._key(frame, event, line)
            return
        node = _Node(self._value(event), None)
        if event.anchor:
            self.anchors[event.anchor] = node
        self._add(node, line)

    def _key(self, frame: _Open, event: Any, line: int) -> None:
        value = self._value(event)
        if self.numbers is KeyNumbers.AS_TEXT and type(value) is int:
            value = str(event.value)
        if not isinstance(value, str):
            shown = abbreviate(event.value) or "null"
            raise self._refuse(f"the key {shown!r} is not a text", event, f'quote it: "{shown}"')
        frame.merges = value == _MERGE and event.tag is None and event.implicit[0]
        if frame.merges and frame.merged:
            raise self._refuse("the key '<<' occurs twice in one mapping", event, "merge a list of mappings")
        if value in frame.data and not frame.merges:
            hint = f"it is already at line {frame.lines[value][0]}; keep one"
            raise self._refuse(f"the key {abbreviate(value)!r} occurs twice in one mapping", event, hint)
        frame.key, frame.key_line = value, line
        self._count(frame, 1, line)

    def _alias(self, event: Any) -> None:
        self.aliases += 1
        if self.aliases > self.limits.aliases:
            raise self._refuse(f"more than {self.limits.aliases} aliases", event, "write the values in full")
        node = self.anchors.get(event.anchor)
        if node is None:
            raise self._refuse(
                f"the alias *{event.anchor} has no complete anchor above it",
                event,
                f"define &{event.anchor} first",
            )
        if self.stack and isinstance(self.stack[-1].data, dict) and self.stack[-1].key is None:
            raise self._refuse("an alias cannot be a key", event, "write the key in full")
        self._add(node, event.start_mark.line + 1)

    def _add(self, node: _Node, line: int) -> None:
        if not self.stack:
            self.root = node
            return
        frame = self.stack[-1]
        frame.depth = max(frame.depth, node.depth + 1)
        if len(self.stack) + node.depth > self.limits.depth:
            raise invalid_document(
                f"nested deeper than {self.limits.depth} levels", Place(self.source, line), "flatten it"
            )
        self._count(frame, node.size, line)
        if isinstance(frame.data, list):
            frame.data.append(node.data)
            frame.lines.append((line, node.lines))
        elif frame.merges:
            self._merge(frame, node, line)
            frame.key = None
        else:
            assert frame.key is not None  # noqa: S101 - a mapping's value comes after its key
            frame.data[frame.key] = node.data
            frame.lines[frame.key] = (frame.key_line, node.lines)
            frame.key = None

    def _merge(self, frame: _Open, node: _Node, line: int) -> None:
        if isinstance(node.data, dict):
            frame.merged.append((node.data, node.lines))
        elif isinstance(node.data, list) and all(isinstance(item, dict) for item in node.data):
            frame.merged.extend((item, lines) for item, (_, lines) in zip(node.data, node.lines, strict=True))
        else:
            raise invalid_document(
                "<< takes a mapping or a list of mappings",
                Place(self.source, line),
                "merge an anchored mapping",
            )

    def _count(self, frame: _Open, size: int, line: int) -> None:
        """Count the values of a node with aliases expanded, to detect alias bombs without expanding them."""
        frame.size += size
        self.nodes += 1
        if frame.size > self.limits.nodes or self.nodes > self.limits.nodes:
            raise invalid_document(
                f"more than {self.limits.nodes:,} values once aliases are followed",
                Place(self.source, line),
                "shorten the document",
            )

    def _value(self, event: Any) -> Any:
        text = event.value
        if event.tag and event.tag not in ("!", _TAG + "str"):
            return self._tagged(event, text)
        if event.tag or not event.implicit[0]:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if text[0] not in _NUMERIC_START or _LEADING_ZERO.fullmatch(text):
            return text
        return self._number(event, text)

    def _tagged(self, event: Any, text: str) -> Any:
        wanted: dict[str, Any] = {"int": int, "float": float, "bool": bool, "null": type(None)}
        kind = wanted.get(event.tag.removeprefix(_TAG))
        if kind is None:
            raise self._refuse(f"the tag {event.tag} is not plain YAML", event, "remove the tag")
        value = _WORDS[text] if text in _WORDS else self._number(event, text)
        if kind is float and type(value) is int:
            return self._as_float(event, value)
        if type(value) is not kind:
            raise self._refuse(f"{text!r} is not a {event.tag.removeprefix(_TAG)}", event, "remove the tag")
        return value

    def _as_float(self, event: Any, value: int) -> float:
        try:
            return float(value)
        except OverflowError:
            raise self._refuse("the number is out of range", event, "quote it as a text") from None

    def _number(self, event: Any, text: str) -> Any:
        if len(text) > MAX_NUMBER_LENGTH and (_FLOAT.fullmatch(text) or _RADIX.fullmatch(text)):
            raise self._refuse(f"a number of {len(text):,} digits", event, "quote it as a text")
        if _INTEGER.fullmatch(text):
            return int(text)
        if _RADIX.fullmatch(text):
            return int(text, 0)
        if _NOT_FINITE.fullmatch(text):
            raise self._refuse(f"{text} is not a finite number", event, "use a finite number, or null")
        if _FLOAT.fullmatch(text):
            value = float(text)
            if math.isinf(value):
                raise self._refuse(f"the number {text} is out of range", event, "quote it as a text")
            return value
        return text

    def _refuse(self, message: str, event: Any, hint: str) -> InvalidDocument:
        return invalid_document(message, Place(self.source, event.start_mark.line + 1), hint)
