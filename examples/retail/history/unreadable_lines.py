"""Lines that are not events: truncated, empty or in the wrong encoding."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .arrivals import Sending
from .defect_marks import Outcome
from .disturbance import Disturbance, DisturbanceContext
from .events import Event
from .random_draws import Draws

_BAD_BYTES = b"\xff\xfe\xc3\x28"


def _bad_utf8(line: bytes, draws: Draws, length: int) -> bytes:
    """Put invalid UTF-8 into the order id, where replacing the bytes violates the pattern."""
    return line.replace(b"ORD-", b"ORD-" + _BAD_BYTES, 1)


def _truncated(line: bytes, draws: Draws, length: int) -> bytes:
    return line[: draws.between(1, len(line) - 1)].decode(errors="ignore").encode()


def _empty(line: bytes, draws: Draws, length: int) -> bytes:
    return b""


def _array(line: bytes, draws: Draws, length: int) -> bytes:
    return b"[" + line + b"]"


def _zeros(line: bytes, draws: Draws, length: int) -> bytes:
    """Return zero bytes, as a crashed machine leaves in a file."""
    return bytes(min(len(line), 64))


def _long(line: bytes, draws: Draws, length: int) -> bytes:
    head = line[: line.index(b'"', 2)]
    return head + b"x" * (length - len(head))


POISONS: Mapping[str, Callable[[bytes, Draws, int], bytes]] = {
    "bad_utf8": _bad_utf8,
    "truncated_json": _truncated,
    "empty_line": _empty,
    "json_array": _array,
    "zero_bytes": _zeros,
    "long_line": _long,
}


def poisoned(kind: str, event: Event) -> Disturbance:
    """Send an unreadable line before the valid line of an event."""

    def disturb(context: DisturbanceContext) -> list[Sending]:
        place = context.place_of(event)
        whole = context.sendings[place]
        line = POISONS[kind](whole.bytes(), context.draws, context.long_line)
        bad = whole._replace(at=whole.fact.at, line=line)
        return context.replaced(place, bad.marked("poison", kind, Outcome.QUARANTINED, rule="malformed"), whole)

    return disturb
