"""The publication that would serve a direct reader: by the feed that it replaces, or by lineage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treaty.contracts.versions import Line, parse_line
from treaty.legacy.serving_lines import Derivation, Edge, ReplacedFeed, derivations_of, serving_line

RAW, PRODUCT, TRUTH = Line("raw", 1), Line("orders", 1), Line("truth", 1)
SALES, TIMELINE = Line("sales", 1), Line("timeline", 1)
PUBLICATIONS = {SALES, TIMELINE}
EDGES = [
    Edge(PRODUCT, RAW, frozenset({"payload"})),
    Edge(TRUTH, PRODUCT, frozenset({"id"})),
    Edge(SALES, TRUTH, frozenset({"net"})),
    Edge(TIMELINE, PRODUCT, frozenset({"id", "placed_at"})),
    Edge(SALES, PRODUCT, frozenset({"id", "net", "country"})),
]
FEEDS = [ReplacedFeed("legacy_revenue", ("warehouse.legacy_revenue",), SALES)]

CASES = [
    ("a legacy feed", "warehouse.legacy_revenue", None, (), "sales@1"),
    ("a draft of a legacy feed", "mart.warehouse.legacy_revenue@1", "mart.warehouse.legacy_revenue@1", (), "sales@1"),
    ("the columns of one publication", "orders@1", "orders@1", ("net", "country"), "sales@1"),
    ("the columns of the other", "orders@1", "orders@1", ("placed_at",), "timeline@1"),
    ("columns that are not known: the nearest, then by name", "orders@1", "orders@1", (), "sales@1"),
    ("from far away", "raw@1", "raw@1", ("payload",), "sales@1"),
    ("a line from which only one is made", "truth@1", "truth@1", (), "sales@1"),
    ("a table that nothing is known of", "lake.other", None, (), None),
    ("a publication", "sales@1", "sales@1", (), None),
]


@pytest.mark.parametrize(("what", "source", "line", "columns", "expected"), CASES)
def test_a_direct_reader_gets_the_publication_that_serves_it(
    what: str, source: str, line: str | None, columns: tuple[str, ...], expected: str | None
) -> None:
    found = serving_line(
        source, parse_line(line) if line else None, columns, derivations_of(EDGES, PUBLICATIONS), FEEDS
    )

    assert (str(found) if found else None) == expected, what


def test_distance_counts_the_steps_between() -> None:
    derived = derivations_of(EDGES, PUBLICATIONS)

    assert derived[RAW] == (Derivation(SALES, 2), Derivation(TIMELINE, 2))
    assert derived[TRUTH] == (Derivation(SALES, 1, frozenset({"net"})),)


LINES = st.sampled_from([Line(name, 1) for name in "abcdef"])
GRAPHS = st.lists(st.builds(Edge, LINES, LINES, st.frozensets(st.sampled_from("xyz"), max_size=2)), max_size=12)


@given(GRAPHS, st.frozensets(LINES), LINES, st.frozensets(st.sampled_from("xyz")))
def test_what_serves_is_a_publication_that_can_be_reached(
    edges: list[Edge], publications: frozenset[Line], source: Line, columns: frozenset[str]
) -> None:
    found = serving_line(str(source), source, columns, derivations_of(edges, publications))

    reached = {source}
    while new := {edge.line for edge in edges if edge.upstream in reached} - reached:
        reached |= new
    candidates = (reached - {source}) & publications
    assert (found in candidates) if candidates else (found is None)


@given(GRAPHS, st.frozensets(LINES), LINES, st.frozensets(st.sampled_from("xyz")))
def test_the_order_of_edges_does_not_matter(
    edges: list[Edge], publications: frozenset[Line], source: Line, columns: frozenset[str]
) -> None:
    forward, backward = (derivations_of(some, publications) for some in (edges, edges[::-1]))

    assert serving_line(str(source), source, columns, forward) == serving_line(str(source), source, columns, backward)
