"""One box opened: a row for each field, and an arrow from every field to whoever reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from treaty.catalog.drawing.parties import Parties
from treaty.catalog.drawing.pieces import Row, Tie
from treaty.catalog.places import Place
from treaty.catalog.words import counted

MOST_ROWS = 40
_MOST_ARROWS = 400


def opened(found: Parties, opened_id: str, fields: Mapping[str, Place], elsewhere: Place) -> tuple[Parties, list[Tie]]:
    """Return the parties with one of them opened, and the arrows that this makes.

    Fields that somebody reads have a row; how many others there are stands in the last one. An arrow begins at the
    heading where it is unknown which fields are read, or where there are too many.
    """
    found = _before_and_after(found, opened_id)
    readers = Counter(field for tie in found.ties if tie.tail == opened_id for field in tie.fields)
    order = [*fields, *(field for field in readers if field not in fields)]
    read = [field for field in order if readers[field]]
    number = {field: position for position, field in enumerate(read[:MOST_ROWS])}
    rows = [Row(name, readers[name], fields.get(name, elsewhere)) for name in number]
    if len(order) > len(rows):
        rows.append(Row(_others(len(order) - len(rows), bool(rows), len(read) > MOST_ROWS), 0, elsewhere))
    pieces = tuple(replace(piece, rows=tuple(rows)) if piece.id == opened_id else piece for piece in found.pieces)
    arrows: list[Tie] = []
    for tie in found.ties:
        arrows += _from_rows(tie, number) if tie.tail == opened_id and len(arrows) < _MOST_ARROWS else [tie]
    return Parties(pieces, found.ties), arrows


def _before_and_after(found: Parties, middle: str) -> Parties:
    """Leave out what goes past the opened box: its fields are in question, not the ways around it."""
    onward: dict[str, list[str]] = {}
    back: dict[str, list[str]] = {}
    for tie in found.ties:
        onward.setdefault(tie.tail, []).append(tie.head)
        back.setdefault(tie.head, []).append(tie.tail)
    sides = [_reached(onward, middle), _reached(back, middle)]
    ties = tuple(tie for tie in found.ties if any(tie.tail in side and tie.head in side for side in sides))
    past = Counter(end for tie in found.ties if tie not in ties for end in (tie.tail, tie.head))
    pieces = (piece for piece in found.pieces if any(piece.id in side for side in sides))
    return Parties(tuple(replace(piece, unseen=piece.unseen + past[piece.id]) for piece in pieces), ties)


def _reached(ways: Mapping[str, list[str]], start: str) -> set[str]:
    seen = {start}
    waiting = [start]
    while waiting:
        new = set(ways.get(waiting.pop(), ())) - seen
        seen |= new
        waiting += new
    return seen


def _others(number: int, is_rest: bool, are_read: bool) -> str:
    """Say how many fields have no row; nested ones count, too."""
    said = f"{number} more" if is_rest else counted(number, "field")
    return said if are_read else f"{said}, read by none"


def _from_rows(tie: Tie, number: Mapping[str, int]) -> list[Tie]:
    known = [field for field in tie.fields if field in number]
    rest = [] if known and len(known) == len(tie.fields) else [tie]
    return [replace(tie, row=number[field], words=f"{tie.words}: {field}") for field in known] + rest
