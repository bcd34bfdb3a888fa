"""The line of a contract, as a declaration names it."""

from __future__ import annotations

from treaty.consumers.subscriptions import parse_line
from treaty.errors import InvalidDocument
from treaty.pipeline.declarations import Line
from treaty.pipeline.reading.entries import Entry

_HINT = "name the contract and its MAJOR, like contract: retail.orders.order_placed@1"


def read_line(entry: Entry) -> Line:
    """Read `contract: id@MAJOR`; what is none is noted."""
    text = entry.needed_text("contract", _HINT)
    try:
        found = parse_line(text)
    except InvalidDocument:
        if text:
            entry.note(f"{text!r} is no line of a contract", _HINT, "contract")
        return Line(text, 0)
    return Line(found.contract, found.major)
