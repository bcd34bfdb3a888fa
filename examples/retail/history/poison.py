"""Lines that are no event at all: torn, empty, in the wrong bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .arriving import Sending
from .draws import Draws
from .events import Event
from .marks import Outcome
from .scenes import Disturbance, Scene

_BAD_BYTES = b"\xff\xfe\xc3\x28"


def _bad_utf8(line: bytes, draws: Draws, length: int) -> bytes:
    """Put bytes that no UTF-8 has into the order's identity, where even a forgiving reader stumbles."""
    return line.replace(b"ORD-", b"ORD-" + _BAD_BYTES, 1)


def _truncated(line: bytes, draws: Draws, length: int) -> bytes:
    return line[: draws.between(1, len(line) - 1)].decode(errors="ignore").encode()


def _empty(line: bytes, draws: Draws, length: int) -> bytes:
    return b""


def _array(line: bytes, draws: Draws, length: int) -> bytes:
    return b"[" + line + b"]"


def _zeros(line: bytes, draws: Draws, length: int) -> bytes:
    """Return what a crashed machine leaves behind in a file."""
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
    """Let a poisoned line come before an event that then arrives whole."""

    def disturb(scene: Scene) -> list[Sending]:
        place = scene.place_of(event)
        whole = scene.sendings[place]
        line = POISONS[kind](whole.bytes(), scene.draws, scene.long_line)
        bad = whole._replace(at=whole.fact.at, line=line)
        return scene.replaced(place, bad.marked("poison", kind, Outcome.QUARANTINED, rule="malformed"), whole)

    return disturb
