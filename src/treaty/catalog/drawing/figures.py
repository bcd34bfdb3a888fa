"""A graph as a figure: boxes at their places, arrows as curves, and the same once more as a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treaty.catalog.drawing.curves import curve_and_tip
from treaty.catalog.drawing.layout import Arrow, Layout, Size, lay_out
from treaty.catalog.drawing.pieces import HEIGHT, WIDTH, Piece, Tie
from treaty.catalog.drawing.texts import shortened

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
    piece: Piece

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
        return shortened(self.piece.heading, WIDTH - self.text_at - 12, _HEADING)

    @property
    def note(self) -> str:
        """Its note as it fits."""
        return shortened(self.piece.note, WIDTH - self.text_at - 12, _NOTE)


@dataclass(frozen=True)
class Curve:
    """An arrow where it goes; its ends name boxes, or a row of one."""

    tail: str
    head: str
    path: str
    tip: str
    tie: Tie


@dataclass(frozen=True)
class Entry:
    """A piece in the list: what it rests on, and whom it feeds."""

    piece: Piece
    before: tuple[tuple[Piece, Tie], ...]
    after: tuple[tuple[Piece, Tie], ...]


@dataclass(frozen=True)
class Drawing:
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
    pieces: Sequence[Piece],
    ties: Sequence[Tie],
    *,
    arrows: Sequence[Tie] | None = None,
    left_out: str | None = None,
) -> Drawing:
    """Lay pieces out; the list shows each tie once, arrows may be more where one begins at each field."""
    drawn = ties if arrows is None else arrows
    number = {piece.id: position for position, piece in enumerate(pieces)}
    sizes = [Size(WIDTH, _height(piece), _HEADER_ROWS + len(piece.rows) if piece.rows else 0) for piece in pieces]
    layout = lay_out(sizes, [_arrow(tie, number) for tie in drawn])
    entries = _entries(pieces, ties)
    if layout is None:
        return Drawing(label, 0, 0, (), (), entries, left_out)
    placed = (Box(at, corner.x, corner.y, pieces[at]) for at, corner in enumerate(layout.corners))
    boxes = sorted(placed, key=lambda box: (box.x, box.y))  # as one reads, and as Tab goes
    curves = _curves(drawn, layout, number)
    return Drawing(label, layout.width, layout.height, tuple(boxes), curves, entries, left_out)


def _height(piece: Piece) -> float:
    return HEIGHT + ROW * len(piece.rows)


def _arrow(tie: Tie, number: dict[str, int]) -> Arrow:
    return Arrow(number[tie.tail], number[tie.head], None if tie.row is None else tie.row + _HEADER_ROWS)


def _curves(ties: Sequence[Tie], layout: Layout, number: dict[str, int]) -> tuple[Curve, ...]:
    found = []
    for tie, points in zip(ties, layout.curves, strict=True):
        row = "" if tie.row is None else f".{tie.row}"
        path, tip = curve_and_tip(points)
        found.append(Curve(f"{number[tie.tail]}{row}", str(number[tie.head]), path, tip, tie))
    return tuple(found)


def _entries(pieces: Sequence[Piece], ties: Sequence[Tie]) -> tuple[Entry, ...]:
    known = {piece.id: piece for piece in pieces}
    before: dict[str, list[tuple[Piece, Tie]]] = {piece.id: [] for piece in pieces}
    after: dict[str, list[tuple[Piece, Tie]]] = {piece.id: [] for piece in pieces}
    for tie in ties:
        before[tie.head].append((known[tie.tail], tie))
        after[tie.tail].append((known[tie.head], tie))
    return tuple(Entry(piece, tuple(before[piece.id]), tuple(after[piece.id])) for piece in pieces)
