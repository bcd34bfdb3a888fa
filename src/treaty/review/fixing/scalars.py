"""Where values stand in a text: the marks of a YAML parser, which reads JSON too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from treaty.errors import InvalidDocument


@dataclass
class Node:
    """A value in a text: from where to where a scalar goes, how it is written, and what is in it by key or position."""

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
        """Return the value that keys and positions lead to."""
        found: Node | None = self
        for part in pointer:
            found = found.children.get(part) if found is not None else None
        return found


def locate(text: str) -> tuple[Node, int]:
    """Return the top of a document, and where the document ends; tabs between JSON's tokens are read as blanks."""
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
    raise InvalidDocument("the places of its values cannot be told")


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
