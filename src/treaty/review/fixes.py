"""Sets the version and adds a changelog entry in a document without changing any other byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from treaty.contracts.loader import parse
from treaty.contracts.text import Limits, read_document
from treaty.contracts.text.writer import write_yaml
from treaty.contracts.values import Json
from treaty.errors import InvalidDocument

_NOT_PLAIN = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\uffff]")


def block_lines(version: str, changes: Sequence[str], indent: int, newline: str) -> str:
    """Return a changelog entry as an item of a YAML block sequence."""
    lines = write_yaml([_entry(version, changes)]).removesuffix("\n").split("\n")
    return "".join(f"{' ' * indent}{line}{newline}" for line in lines)


def flow_item(version: str, changes: Sequence[str]) -> str:
    """Return a changelog entry on one line, for JSON and flow YAML."""
    return _json(_entry(version, changes))


def spread_item(version: str, changes: Sequence[str], step: str, indent: str, newline: str) -> str:
    """Return a changelog entry as indented JSON; the first line is not indented."""
    text = json.dumps(_entry(version, changes), indent=step or None, ensure_ascii=False)
    return _escaped(text).replace("\n", newline + indent)


def _entry(version: str, changes: Sequence[str]) -> dict[str, Any]:
    return {"version": version, "changes": list(changes)}


def _json(data: Any) -> str:
    return _escaped(json.dumps(data, ensure_ascii=False))


def _escaped(text: str) -> str:
    """Escape non-printable characters in a notation that JSON and YAML share."""
    return _NOT_PLAIN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


CHANGELOG = "changelog"
_MARK = "\ufeff"
_BLOCK_SCALARS = ("|", ">")


@dataclass(frozen=True)
class Fixed:
    """The fixed document."""

    content: bytes
    version: str


@dataclass(frozen=True)
class NotFixed:
    """Why a document was not changed, and what to do by hand."""

    reason: str


def fix(content: bytes, version: str, changes: Sequence[str], limits: Limits | None = None) -> Fixed | NotFixed:
    """Return a document with a new version and changelog entry, or why that is not possible."""
    try:
        text = content.decode("utf-8")
        mark = _MARK if text.startswith(_MARK) else ""
        before = read_document(content, "the document", limits).data
        edited = _edited(text.removeprefix(_MARK), before, version, changes)
        after = read_document(edited, "the document", limits)
        parse(after)
        if not _is_right(before, after.data, version, changes):
            raise InvalidDocument("other parts of the document would change")
    except (InvalidDocument, UnicodeDecodeError) as error:
        return NotFixed(f"{error}; set version: {version} by hand")
    return Fixed((mark + edited).encode("utf-8"), version)


def _edited(text: str, data: dict[str, Json], version: str, changes: Sequence[str]) -> str:
    top, ends = locate(text)
    scalar = top.at("version")
    if scalar is None or scalar.kind != "scalar" or scalar.is_named or scalar.style in _BLOCK_SCALARS:
        raise InvalidDocument("its version is an alias, has an anchor or a tag, or is a block scalar")
    quote = scalar.style if scalar.style in ("'", '"') else ""
    edits = [(scalar.start, scalar.end, f"{quote}{version}{quote}")]
    if changes and not _has_entry(data, version):
        edits.append(_entry_edit(text, data, top, ends, version, changes))
    for start, end, replacement in sorted(edits, reverse=True):
        text = text[:start] + replacement + text[end:]
    return text


def _entry_edit(
    text: str, data: dict[str, Json], top: Node, ends: int, version: str, changes: Sequence[str]
) -> tuple[int, int, str]:
    """Return the edit that adds the entry: first in an existing changelog, else as a new changelog."""
    newline = "\r\n" if "\r\n" in text else "\n"
    listed = top.at(*_where(data))
    if listed is not None and (listed.kind != "sequence" or listed.is_named):
        raise InvalidDocument("its changelog is an alias, has an anchor, or is not a list")
    if listed is not None and not listed.is_flow:
        line = text.rfind("\n", 0, listed.start) + 1
        if text[line : listed.start].strip():
            raise InvalidDocument("its changelog starts in the middle of a line")
        return line, line, block_lines(version, changes, listed.start - line, newline)
    if listed is not None:
        inside = listed.start + 1
        first = listed.at(0)
        return inside, inside, _before(text, inside, first.start if first else inside, version, changes, newline)
    if not top.is_flow:
        gap = "" if text[:ends].endswith(("\n", "\r")) or not text[:ends] else newline
        head = f"{gap}{' ' * top.column}{CHANGELOG}:{newline}"
        return ends, ends, head + block_lines(version, changes, top.column + 2, newline)
    scalar = top.at("version")
    assert scalar is not None  # noqa: S101 - checked by the caller
    return scalar.end, scalar.end, _member(text, scalar, version, changes, newline)


def _before(text: str, inside: int, first: int, version: str, changes: Sequence[str], newline: str) -> str:
    """Return an entry for the start of a flow sequence, in the layout of its first item."""
    lead = text[inside:first]
    if "\n" not in lead:
        return f"{flow_item(version, changes)}, " if lead == "" else f"{lead}{flow_item(version, changes)},"
    indent = lead[lead.rfind("\n") + 1 :]
    step = _step(text)
    return f"{lead}{spread_item(version, changes, step, indent, newline)},"


def _member(text: str, scalar: Node, version: str, changes: Sequence[str], newline: str) -> str:
    """Return a changelog as a member of a flow mapping, after the version."""
    line = text.rfind("\n", 0, scalar.key_start) + 1
    indent = text[line : scalar.key_start]
    if line == 0 or indent.strip():
        return f', "{CHANGELOG}": [{flow_item(version, changes)}]'
    step = _step(text) or indent
    inner = indent + step
    entry = spread_item(version, changes, step, inner, newline)
    return f',{newline}{indent}"{CHANGELOG}": [{newline}{inner}{entry}{newline}{indent}]'


def _step(text: str) -> str:
    """Return the indentation of the first level of a JSON document."""
    for line in text.splitlines()[1:]:
        if line.strip():
            return line[: len(line) - len(line.lstrip())]
    return ""


def _where(data: dict[str, Json]) -> tuple[str | int, ...]:
    """Return the pointer of the changelog: a plain key, or a custom property."""
    if CHANGELOG not in data and isinstance(data.get("customProperties"), list):
        for index, entry in enumerate(data["customProperties"]):
            if isinstance(entry, dict) and entry.get("property") == CHANGELOG:
                return "customProperties", index, "value"
    return (CHANGELOG,)


def _listed(data: dict[str, Json]) -> list[Json]:
    """Return the entries of the changelog."""
    value: Json = data
    for part in _where(data):
        value = value.get(part) if isinstance(value, dict) else value[int(part)]
    return value if isinstance(value, list) else []


def _has_entry(data: dict[str, Json], version: str) -> bool:
    return any(isinstance(entry, dict) and entry.get("version") == version for entry in _listed(data))


def _is_right(before: dict[str, Json], after: dict[str, Json], version: str, changes: Sequence[str]) -> bool:
    """Return whether only the version and the changelog entry changed."""
    is_new = bool(changes) and not _has_entry(before, version)
    entry: list[Json] = [{"version": version, "changes": list(changes)}] if is_new else []
    expected = [*entry, *_listed(before)]
    return after.get("version") == version and _listed(after) == expected and _without(before) == _without(after)


def _without(data: dict[str, Json]) -> dict[str, Json]:
    """Return a document without its version and changelog."""
    rest = {key: value for key, value in data.items() if key not in ("version", CHANGELOG)}
    if isinstance(rest.get("customProperties"), list):
        rest["customProperties"] = [
            entry
            for entry in rest["customProperties"]
            if not (isinstance(entry, dict) and entry.get("property") == CHANGELOG)
        ]
    return rest


@dataclass
class Node:
    """A YAML value with its position in the text, its style, and its children by key or index."""

    kind: str
    start: int
    end: int
    column: int
    style: str | None = None
    is_flow: bool = False
    is_named: bool = False
    children: dict[str | int, Node] = field(default_factory=dict)
    key_start: int = 0

    def at(self, *pointer: str | int) -> Node | None:
        """Return the value at a pointer, or None."""
        node: Node | None = self
        for part in pointer:
            node = node.children.get(part) if node is not None else None
        return node


def locate(text: str) -> tuple[Node, int]:
    """Return the root of a document and its end; tabs between JSON tokens are read as spaces."""
    events = _events(text)
    top: Node | None = None
    ends = len(text)
    for event in events:
        if isinstance(event, yaml.DocumentEndEvent) and event.explicit and event.start_mark:
            ends = event.start_mark.index
        elif isinstance(event, yaml.NodeEvent) and top is None:
            top = _node(event, events)
    if top is None:
        raise InvalidDocument("the document is empty")
    return top, ends


def _events(text: str) -> Iterator[Any]:
    for form in (text, text.replace("\t", " ")):
        try:
            return iter(list(yaml.parse(form, Loader=yaml.SafeLoader)))
        except yaml.YAMLError:
            continue
    raise InvalidDocument("the positions of its values cannot be determined")


def _node(event: Any, events: Iterator[Any]) -> Node:
    start, end = event.start_mark, event.end_mark
    named = bool(event.anchor) or isinstance(event, yaml.AliasEvent) or bool(getattr(event, "tag", None))
    if isinstance(event, yaml.MappingStartEvent):
        node = Node("mapping", start.index, end.index, start.column, is_flow=bool(event.flow_style), is_named=named)
        for key in events:
            if isinstance(key, yaml.MappingEndEvent):
                break
            value = _node(next(events), events)
            value.key_start = key.start_mark.index
            node.children[key.value] = value
        return node
    if isinstance(event, yaml.SequenceStartEvent):
        node = Node("sequence", start.index, end.index, start.column, is_flow=bool(event.flow_style), is_named=named)
        for item in events:
            if isinstance(item, yaml.SequenceEndEvent):
                break
            node.children[len(node.children)] = _node(item, events)
        return node
    return Node("scalar", start.index, end.index, start.column, getattr(event, "style", None), is_named=named)


__all__ = [
    "Fixed",
    "NotFixed",
    "fix",
]
