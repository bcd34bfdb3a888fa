"""What a graph is made of before it is laid out: boxes by what they say, and arrows by whom they tie."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.catalog.drawing.texts import shortened
from treaty.catalog.places import Place
from treaty.catalog.words import counted

WIDTH, HEIGHT = 244.0, 54.0


@dataclass(frozen=True)
class Row:
    """One field within a box, and how many are known to read it."""

    name: str
    readers: int
    place: Place

    @property
    def words(self) -> str:
        """What is said of it beside the drawing."""
        return f"{self.name}, read by {self.readers}" if self.readers else self.name

    @property
    def short(self) -> str:
        """Its name as it fits."""
        return shortened(self.name, WIDTH - 52, 11.5)


@dataclass(frozen=True)
class Piece:
    """What one box says: a heading and a note in it, everything in words beside it."""

    id: str
    kind: str
    name: str
    heading: str
    note: str
    words: str
    place: Place
    state: str | None = None
    is_origin: bool = False
    rows: tuple[Row, ...] = ()
    unseen: int = 0  # dependences with what is not drawn

    @property
    def saying(self) -> str:
        """Everything that is said of it beside the drawing."""
        return f"{self.words}, {counted(self.unseen, 'dependence')} not drawn" if self.unseen else self.words


@dataclass(frozen=True)
class Tie:
    """One arrow from a piece to another; it may begin at one of the rows. Without fields it is unknown which."""

    tail: str
    head: str
    kind: str
    fields: tuple[str, ...] = ()
    row: int | None = None
    words: str = ""
