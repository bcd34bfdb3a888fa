"""A graph as a figure: boxes at their places, arrows as curves, and the same once more as a list."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from treaty.catalog.formatting import pluralize, show_hidden_characters
from treaty.catalog.links import Link
from treaty.catalog.svg.graph_layout import Arrow, Layout, Size, compute_layout, curve_and_tip

WIDTH, HEIGHT = 244.0, 54.0


@dataclass(frozen=True)
class Row:
    """One field within a box, and how many are known to read it."""

    name: str
    readers: int
    place: Link

    @property
    def words(self) -> str:
        """What is said of it beside the drawing."""
        return f"{self.name}, read by {self.readers}" if self.readers else self.name

    @property
    def short(self) -> str:
        """Its name as it fits."""
        return shorten_text(self.name, WIDTH - 52, 11.5)


@dataclass(frozen=True)
class Node:
    """What one box says: a heading and a note in it, everything in words beside it."""

    id: str
    kind: str
    name: str
    heading: str
    note: str
    words: str
    place: Link
    state: str | None = None
    is_origin: bool = False
    rows: tuple[Row, ...] = ()
    unseen: int = 0  # dependences with what is not drawn

    @property
    def saying(self) -> str:
        """Everything that is said of it beside the drawing."""
        return f"{self.words}, {pluralize(self.unseen, 'dependence')} not drawn" if self.unseen else self.words


@dataclass(frozen=True)
class Edge:
    """One arrow from a piece to another; it may begin at one of the rows. Without fields it is unknown which."""

    tail: str
    head: str
    kind: str
    fields: tuple[str, ...] = ()
    row: int | None = None
    words: str = ""


_NARROW = frozenset("iIjl.,:;'|!()[]{}frt ·")
_WIDE = frozenset("mwMWÄÖÜ@%—…")
_DOTS = "…"
_STUMP = 4
"""Signs of a step that are too few to say anything."""


def shorten_text(text: str, width: float, size: float) -> str:
    """Return as much of a text as fits; of a dotted name the end says more than the beginning."""
    plain = " ".join(str(show_hidden_characters(text)).split())
    if _wide(plain, size) <= width:
        return plain
    room = width - _wide(_DOTS, size)
    if "." in plain and " " not in plain:
        end = _fitting(plain[::-1], room, size)[::-1]
        stump, _, whole = end.partition(".")
        return _DOTS + (whole if len(stump) < _STUMP and whole else end)
    return _fitting(plain, room, size).rstrip(" .·") + _DOTS


def _fitting(text: str, room: float, size: float) -> str:
    for position, sign in enumerate(text):
        room -= _of(sign) * size
        if room < 0:
            return text[:position]
    return text


def _wide(text: str, size: float) -> float:
    return sum(map(_of, text)) * size


def _of(sign: str) -> float:
    """Estimate how wide a sign is, in the size of its font; rather too wide than too narrow."""
    if sign in _NARROW:
        return 0.42
    if unicodedata.combining(sign):
        return 0.0
    if sign in _WIDE or unicodedata.east_asian_width(sign) in "WF":
        return 1.02
    return 0.78 if sign.isupper() else 0.66


ROW = HEIGHT / 2
_TEXT_AT = {True: 40.0, False: 16.0}  # beside a sign, or without one
_HEADING, _NOTE = 12.5, 11.0
_HEADER_ROWS = 2


@dataclass(frozen=True)
class Box:
    """A piece where it stands."""

    number: int
    x: float
    y: float
    piece: Node

    @property
    def height(self) -> float:
        """How high it is."""
        return _height(self.piece)

    @property
    def width(self) -> float:
        """How wide it is, as all of them are."""
        return WIDTH

    @property
    def text_at(self) -> float:
        """Where its text begins."""
        return _TEXT_AT[self.piece.state is not None]

    @property
    def heading(self) -> str:
        """Its heading as it fits."""
        return shorten_text(self.piece.heading, WIDTH - self.text_at - 12, _HEADING)

    @property
    def note(self) -> str:
        """Its note as it fits."""
        return shorten_text(self.piece.note, WIDTH - self.text_at - 12, _NOTE)


@dataclass(frozen=True)
class Curve:
    """An arrow where it goes; its ends name boxes, or a row of one."""

    tail: str
    head: str
    path: str
    tip: str
    tie: Edge


@dataclass(frozen=True)
class Entry:
    """A piece in the list: what it rests on, and whom it feeds."""

    piece: Node
    before: tuple[tuple[Node, Edge], ...]
    after: tuple[tuple[Node, Edge], ...]


@dataclass(frozen=True)
class Figure:
    """A graph, ready to be drawn; without boxes where it could not be laid out, which leaves the list."""

    label: str
    width: float
    height: float
    boxes: tuple[Box, ...]
    curves: tuple[Curve, ...]
    entries: tuple[Entry, ...]
    left_out: str | None = None

    @property
    def kinds(self) -> frozenset[str]:
        """Which kinds of boxes the legend explains."""
        return frozenset(one.piece.kind for one in self.entries)

    @property
    def tie_kinds(self) -> frozenset[str]:
        """Which kinds of arrows it explains."""
        return frozenset(one.tie.kind for one in self.curves)

    @property
    def states(self) -> frozenset[str | None]:
        """Which signs it explains."""
        return frozenset(one.piece.state for one in self.entries)

    @property
    def hides(self) -> bool:
        """Whether some of its boxes depend on more than is drawn."""
        return any(one.piece.unseen for one in self.entries)

    @property
    def is_lone(self) -> bool:
        """Whether nothing is known to depend on anything here."""
        return not any(one.before or one.after for one in self.entries)


def compose(
    label: str,
    pieces: Sequence[Node],
    ties: Sequence[Edge],
    *,
    arrows: Sequence[Edge] | None = None,
    left_out: str | None = None,
) -> Figure:
    """Lay pieces out; the list shows each tie once, arrows may be more where one begins at each field."""
    drawn = ties if arrows is None else arrows
    number = {piece.id: position for position, piece in enumerate(pieces)}
    sizes = [Size(WIDTH, _height(piece), _HEADER_ROWS + len(piece.rows) if piece.rows else 0) for piece in pieces]
    layout = compute_layout(sizes, [_arrow(tie, number) for tie in drawn])
    entries = _entries(pieces, ties)
    if layout is None:
        return Figure(label, 0, 0, (), (), entries, left_out)
    placed = (Box(at, corner.x, corner.y, pieces[at]) for at, corner in enumerate(layout.corners))
    boxes = sorted(placed, key=lambda box: (box.x, box.y))  # as one reads, and as Tab goes
    curves = _curves(drawn, layout, number)
    return Figure(label, layout.width, layout.height, tuple(boxes), curves, entries, left_out)


def _height(piece: Node) -> float:
    return HEIGHT + ROW * len(piece.rows)


def _arrow(tie: Edge, number: dict[str, int]) -> Arrow:
    return Arrow(number[tie.tail], number[tie.head], None if tie.row is None else tie.row + _HEADER_ROWS)


def _curves(ties: Sequence[Edge], layout: Layout, number: dict[str, int]) -> tuple[Curve, ...]:
    found = []
    for tie, points in zip(ties, layout.curves, strict=True):
        row = "" if tie.row is None else f".{tie.row}"
        path, tip = curve_and_tip(points)
        found.append(Curve(f"{number[tie.tail]}{row}", str(number[tie.head]), path, tip, tie))
    return tuple(found)


def _entries(pieces: Sequence[Node], ties: Sequence[Edge]) -> tuple[Entry, ...]:
    known = {piece.id: piece for piece in pieces}
    before: dict[str, list[tuple[Node, Edge]]] = {piece.id: [] for piece in pieces}
    after: dict[str, list[tuple[Node, Edge]]] = {piece.id: [] for piece in pieces}
    for tie in ties:
        before[tie.head].append((known[tie.tail], tie))
        after[tie.tail].append((known[tie.head], tie))
    return tuple(Entry(piece, tuple(before[piece.id]), tuple(after[piece.id])) for piece in pieces)
