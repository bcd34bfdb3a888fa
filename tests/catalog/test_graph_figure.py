"""Layout and figures of graphs."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from treaty.catalog import links
from treaty.catalog.svg import graph_layout as graph_layout
from treaty.catalog.svg.graph_figure import Edge, Node, compose, shorten_text
from treaty.catalog.svg.graph_layout import Arrow, Layout, Point, Size, compute_layout
from treaty.catalog.svg.graph_nodes import MAX_FIELD_ROWS, NodesAndEdges, expand_fields, limit_size

BOX = Size(200, 50)


def laid(boxes: int, *arrows: tuple[int, int], sizes: list[Size] | None = None) -> Layout:
    found = compute_layout(sizes or [BOX] * boxes, [Arrow(*ends) for ends in arrows])
    assert found is not None
    return found


def piece(name: str) -> Node:
    return Node(name, "line", name, name, "", name, links.graph(name))


def points_on(curve: tuple[Point, ...]) -> list[Point]:
    """Walk along a Bézier curve."""
    found = []
    for start in range(0, len(curve) - 1, 3):
        a, b, c, d = curve[start : start + 4]
        for step in range(21):
            t = step / 20
            weights = ((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3)
            x = sum(weight * point.x for weight, point in zip(weights, (a, b, c, d), strict=True))
            y = sum(weight * point.y for weight, point in zip(weights, (a, b, c, d), strict=True))
            found.append(Point(x, y))
    return found


def test_nodes_are_laid_out_from_left_to_right() -> None:
    found = laid(3, (0, 1), (1, 2))

    assert found.corners[0].x + BOX.width < found.corners[1].x
    assert found.corners[1].x + BOX.width < found.corners[2].x


def test_edge_goes_from_the_right_side_to_the_left_side() -> None:
    found = laid(2, (0, 1))
    first, last = found.curves[0][0], found.curves[0][-1]

    assert first.x == pytest.approx(found.corners[0].x + BOX.width, abs=1)
    assert last.x == pytest.approx(found.corners[1].x, abs=1)
    assert last.y == pytest.approx(found.corners[1].y + BOX.height / 2, abs=1)


@pytest.mark.parametrize("seed", range(4))
def test_edges_do_not_cross_nodes(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    arrows = {tuple(sorted(chance.sample(range(25), 2))) for _ in range(45)}
    found = laid(25, *((tail, head) for tail, head in arrows))

    for curve in found.curves:
        for point in points_on(curve):
            for corner in found.corners:
                inside_x = corner.x + 4 < point.x < corner.x + BOX.width - 4
                inside_y = corner.y + 4 < point.y < corner.y + BOX.height - 4
                assert not (inside_x and inside_y)


def test_nodes_do_not_overlap() -> None:
    found = laid(9, *((0, head) for head in range(1, 9)))

    ordered = sorted(corner.y for corner in found.corners[1:])
    assert all(below - above >= BOX.height for above, below in pairwise(ordered))


@pytest.mark.parametrize("arrows", [((0, 0),), ((0, 1), (1, 0)), ((0, 1), (1, 2), (2, 0), (1, 1))])
def test_cycles_are_laid_out(arrows: tuple[tuple[int, int], ...]) -> None:
    found = laid(3, *arrows)

    assert len(found.curves) == len(arrows)


def test_single_node_and_empty_graph() -> None:
    assert laid(1).corners == (Point(14, 14),)
    assert laid(0).corners == ()


def test_layout_is_thread_safe() -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda width: compute_layout([Size(width, 40)] * 2, [Arrow(0, 1)]), range(100, 140)))

    assert all(found)


def test_edges_start_at_their_row() -> None:
    found = compute_layout([Size(200, 40 + 5 * 20, 7), BOX], [Arrow(0, 1, 2), Arrow(0, 1, 6)])

    assert found is not None
    upper, lower = (curve[0].y - found.corners[0].y for curve in found.curves)
    assert upper == pytest.approx(50, abs=3)
    assert lower == pytest.approx(130, abs=3)


def test_failed_layout_leaves_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_layout._ENGINE, "run", lambda dot: 1 / 0)

    figure = compose("all", [piece("a"), piece("only when it fails")], [Edge("a", "only when it fails", "reads")] * 7)

    assert figure.boxes == ()
    assert [entry.node.name for entry in figure.table] == ["a", "only when it fails"]


def test_failed_layout_is_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [Size(201.5, 33), Size(90, 33)]
    for nonsense in (lambda dot: 1 / 0, lambda dot: "no JSON", lambda dot: "{}"):
        with monkeypatch.context() as failing:
            failing.setattr(graph_layout._ENGINE, "run", nonsense)
            assert compute_layout(sizes, [Arrow(0, 1)]) is None

    assert compute_layout(sizes, [Arrow(0, 1)]) is not None


def test_names_are_not_passed_to_graphviz() -> None:
    sizes = [Size(244, 54)] * 2

    assert "digraph" in graph_layout._dot(sizes, [Arrow(0, 1)])
    assert compose("x", [piece('"];evil'), piece("</svg>")], [Edge('"];evil', "</svg>", "reads")]).curves


def test_boxes_are_in_reading_order() -> None:
    figure = compose("x", [piece("end"), piece("start")], [Edge("start", "end", "reads")])

    assert [(box.node.name, box.number) for box in figure.boxes] == [("start", 1), ("end", 0)]


def test_nodes_are_limited_by_edges() -> None:
    names = [str(number) for number in range(10)]
    edges = tuple(Edge(tail, head, "reads") for tail in names for head in names if tail < head)

    kept, left_out = limit_size(NodesAndEdges(tuple(map(piece, names)), edges), max_nodes=8, max_edges=6)

    assert (len(kept.nodes), left_out, len(kept.edges)) == (4, 6, 6)


def test_expanded_node_has_a_row_per_used_field() -> None:
    found = NodesAndEdges(
        tuple(map(piece, ("source", "orders", "ml", "bi"))),
        (
            Edge("source", "orders", "made_from"),
            Edge("source", "bi", "reads"),
            Edge("orders", "ml", "reads", ("id", "ltv")),
            Edge("orders", "bi", "reads"),
        ),
    )
    fields = {name: links.contract("orders") for name in ("id", "name", "ltv", "zip")}

    after, arrows = expand_fields(found, "orders", fields, links.contract("orders"))

    rows = next(one for one in after.nodes if one.name == "orders").rows
    assert [(row.name, row.consumers) for row in rows] == [("id", 1), ("ltv", 1), ("2 more, not used", 0)]
    assert {one.name: one.hidden_edges for one in after.nodes} == {"source": 1, "orders": 0, "ml": 0, "bi": 1}
    starts = {(tie.tail, tie.head, tie.row) for tie in arrows}
    assert starts == {("source", "orders", None), ("orders", "ml", 0), ("orders", "ml", 1), ("orders", "bi", None)}


def test_rows_of_an_expanded_node_are_limited() -> None:
    fields = tuple(f"field {number}" for number in range(300))
    found = NodesAndEdges((piece("a"), piece("b")), (Edge("a", "b", "reads", fields),))

    after, arrows = expand_fields(found, "a", {}, links.contract("a"))

    assert len(after.nodes[0].rows) == MAX_FIELD_ROWS + 1
    assert after.nodes[0].rows[-1].name == "260 more"
    assert [tie.row for tie in arrows][-1] is None


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("orders", "orders"),
        ("retail.publications.customer_order_timeline", "…customer_order_timeline"),
        ("a name of very many words that goes on", "a name of very many word…"),
        ("two\nlines", "two lines"),
        ("back\u202ewards", "back⟨U+202E⟩wards"),
        ("", ""),
    ],
)
def test_texts_are_shortened(text: str, short: str) -> None:
    assert shorten_text(text, 200, 12) == short


def test_wide_characters_take_more_space() -> None:
    assert len(shorten_text("注" * 60, 200, 12)) < len(shorten_text("a" * 60, 200, 12))
