"""A graph as a figure: positioned nodes and edges for the SVG, and the same content as table rows."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from treaty.catalog.formatting import pluralize, show_hidden_characters
from treaty.catalog.links import Link
from treaty.catalog.svg.graph_layout import Arrow, Layout, Size, compute_layout, curve_and_tip

WIDTH, HEIGHT = 244.0, 54.0
ROW_HEIGHT = HEIGHT / 2
_TEXT_OFFSET = {True: 40.0, False: 16.0}
"""Left edge of the text in a node with and without a state icon."""

_HEADING_SIZE, _NOTE_SIZE, _ROW_SIZE = 12.5, 11.0, 11.5
_HEADER_ROWS = 2
_NARROW = frozenset("iIjl.,:;'|!()[]{}frt ·")
_WIDE = frozenset("mwMWÄÖÜ@%—…")
_ELLIPSIS = "…"
_MIN_SEGMENT = 4
"""A segment of a dotted name that is cut to fewer characters is dropped."""


@dataclass(frozen=True)
class Row:
    """One field within a node, and the number of consumers that use it."""

    name: str
    consumers: int
    link: Link

    @property
    def label(self) -> str:
        """Text for screen readers and tooltips."""
        return f"{self.name}, used by {self.consumers}" if self.consumers else self.name

    @property
    def short_name(self) -> str:
        """The name, shortened to fit."""
        return shorten_text(self.name, WIDTH - 52, _ROW_SIZE)


@dataclass(frozen=True)
class Node:
    """A line, consumer or domain: the heading and note in its box, and a description for screen readers."""

    id: str
    kind: str
    name: str
    heading: str
    note: str
    description: str
    link: Link
    state: str | None = None
    """The state by its place in the life cycle."""
    health: str | None = None
    """The state by its health."""
    is_origin: bool = False
    rows: tuple[Row, ...] = ()
    hidden_edges: int = 0
    """Dependencies on nodes that are not in the graph."""

    @property
    def label(self) -> str:
        """Text for screen readers and tooltips."""
        if not self.hidden_edges:
            return self.description
        return f"{self.description}, {pluralize(self.hidden_edges, 'dependency', 'dependencies')} not shown"


@dataclass(frozen=True)
class Edge:
    """An arrow from a node, or one of its rows, to another node. No fields means that they are not known."""

    tail: str
    head: str
    kind: str
    fields: tuple[str, ...] = ()
    row: int | None = None
    label: str = ""


@dataclass(frozen=True)
class Box:
    """A node with its position."""

    number: int
    x: float
    y: float
    node: Node

    @property
    def height(self) -> float:
        """Height in pixels."""
        return _height(self.node)

    @property
    def width(self) -> float:
        """Width in pixels, the same for all nodes."""
        return WIDTH

    @property
    def text_offset(self) -> float:
        """Distance of the text from the left edge."""
        return _TEXT_OFFSET[self.node.state is not None or self.node.health is not None]

    @property
    def heading(self) -> str:
        """The heading, shortened to fit."""
        return shorten_text(self.node.heading, WIDTH - self.text_offset - 12, _HEADING_SIZE)

    @property
    def note(self) -> str:
        """The note, shortened to fit."""
        return shorten_text(self.node.note, WIDTH - self.text_offset - 12, _NOTE_SIZE)


@dataclass(frozen=True)
class Curve:
    """An edge with its SVG path. `tail` and `head` are box numbers, `tail` with a row if the edge starts at one."""

    tail: str
    head: str
    path: str
    tip: str
    edge: Edge


@dataclass(frozen=True)
class TableRow:
    """A node in the table, with its sources and the nodes that use it."""

    node: Node
    sources: tuple[tuple[Node, Edge], ...]
    used_by: tuple[tuple[Node, Edge], ...]


@dataclass(frozen=True)
class Figure:
    """A graph ready for the template. Without boxes if the layout failed, which leaves the table."""

    label: str
    width: float
    height: float
    boxes: tuple[Box, ...]
    curves: tuple[Curve, ...]
    table: tuple[TableRow, ...]
    omitted: str | None = None

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of nodes, for the legend."""
        return frozenset(row.node.kind for row in self.table)

    @property
    def edge_kinds(self) -> frozenset[str]:
        """Kinds of edges, for the legend."""
        return frozenset(curve.edge.kind for curve in self.curves)

    @property
    def states(self) -> frozenset[str | None]:
        """States of nodes, for the legend."""
        return frozenset(row.node.state for row in self.table)

    @property
    def healths(self) -> frozenset[str | None]:
        """Healths of nodes, for the legend."""
        return frozenset(row.node.health for row in self.table)

    @property
    def has_health(self) -> bool:
        """Whether anything was measured, so that colors can show health."""
        return bool(self.healths - {None, "none"})

    @property
    def has_hidden_edges(self) -> bool:
        """Whether some nodes have dependencies that are not shown."""
        return any(row.node.hidden_edges for row in self.table)

    @property
    def is_isolated(self) -> bool:
        """Whether there are no dependencies at all."""
        return not any(row.sources or row.used_by for row in self.table)


def compose(
    label: str,
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    *,
    arrows: Sequence[Edge] | None = None,
    omitted: str | None = None,
) -> Figure:
    """Lay out a graph. `arrows` replaces `edges` in the SVG where edges start at single fields."""
    visible_edges = edges if arrows is None else arrows
    number = {node.id: position for position, node in enumerate(nodes)}
    sizes = [Size(WIDTH, _height(node), _HEADER_ROWS + len(node.rows) if node.rows else 0) for node in nodes]
    layout = compute_layout(sizes, [_arrow(edge, number) for edge in visible_edges])
    table = _table(nodes, edges)
    if layout is None:
        return Figure(label, 0, 0, (), (), table, omitted)
    placed = (Box(index, corner.x, corner.y, nodes[index]) for index, corner in enumerate(layout.corners))
    boxes = sorted(placed, key=lambda box: (box.x, box.y))  # the tab order follows the reading order
    return Figure(
        label, layout.width, layout.height, tuple(boxes), _curves(visible_edges, layout, number), table, omitted
    )


def shorten_text(text: str, width: float, size: float) -> str:
    """Shorten a text to a width in pixels. Of a dotted name the end is kept, because it is more specific."""
    plain = " ".join(str(show_hidden_characters(text)).split())
    if _text_width(plain, size) <= width:
        return plain
    available = width - _text_width(_ELLIPSIS, size)
    if "." in plain and " " not in plain:
        end = _fit(plain[::-1], available, size)[::-1]
        segment, _, rest = end.partition(".")
        return _ELLIPSIS + (rest if len(segment) < _MIN_SEGMENT and rest else end)
    return _fit(plain, available, size).rstrip(" .·") + _ELLIPSIS


def _height(node: Node) -> float:
    return HEIGHT + ROW_HEIGHT * len(node.rows)


def _arrow(edge: Edge, number: dict[str, int]) -> Arrow:
    return Arrow(number[edge.tail], number[edge.head], None if edge.row is None else edge.row + _HEADER_ROWS)


def _curves(edges: Sequence[Edge], layout: Layout, number: dict[str, int]) -> tuple[Curve, ...]:
    curves = []
    for edge, points in zip(edges, layout.curves, strict=True):
        row = "" if edge.row is None else f".{edge.row}"
        path, tip = curve_and_tip(points)
        curves.append(Curve(f"{number[edge.tail]}{row}", str(number[edge.head]), path, tip, edge))
    return tuple(curves)


def _table(nodes: Sequence[Node], edges: Sequence[Edge]) -> tuple[TableRow, ...]:
    by_id = {node.id: node for node in nodes}
    sources: dict[str, list[tuple[Node, Edge]]] = {node.id: [] for node in nodes}
    used_by: dict[str, list[tuple[Node, Edge]]] = {node.id: [] for node in nodes}
    for edge in edges:
        sources[edge.head].append((by_id[edge.tail], edge))
        used_by[edge.tail].append((by_id[edge.head], edge))
    return tuple(TableRow(node, tuple(sources[node.id]), tuple(used_by[node.id])) for node in nodes)


def _fit(text: str, width: float, size: float) -> str:
    for position, char in enumerate(text):
        width -= _character_width(char) * size
        if width < 0:
            return text[:position]
    return text


def _text_width(text: str, size: float) -> float:
    return sum(map(_character_width, text)) * size


def _character_width(char: str) -> float:
    """Estimate the width of a character in em, rather too wide than too narrow."""
    if char in _NARROW:
        return 0.42
    if unicodedata.combining(char):
        return 0.0
    if char in _WIDE or unicodedata.east_asian_width(char) in "WF":
        return 1.02
    return 0.78 if char.isupper() else 0.66
