"""Near-duplicates of publications: similarity of schema and lineage, its laws, and the pairs that are reported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treaty.contracts.versions import Line
from treaty.governance.near_duplicates import Shape, compare_shapes, find_near_duplicates

SALES = {"order_id": "string", "net_amount": "decimal", "country": "string", "day": "date"}
SOURCES = frozenset({"orders@1 net", "orders@1 id"})


def shape(name: str, fields: dict[str, str], sources: frozenset[str] = frozenset(), major: int = 1) -> Shape:
    return Shape(Line(name, major), fields, sources)


CASES = {
    "the same": (SALES, SOURCES, SALES, SOURCES, 1.0),
    "other spellings of the names": (
        SALES,
        SOURCES,
        {"orderId": "string", "NetAmount": "decimal", "COUNTRY": "string", "day": "date"},
        SOURCES,
        1.0,
    ),
    "one field more": (SALES, SOURCES, {**SALES, "channel": "string"}, SOURCES, 0.9),
    "one field of another type": (SALES, SOURCES, {**SALES, "day": "string"}, SOURCES, 0.9375),
    "the same fields of other data": (SALES, SOURCES, SALES, frozenset({"stock@1 id"}), 0.5),
    "lineage that is not known": (SALES, SOURCES, {**SALES, "channel": "string"}, frozenset(), 0.8),
    "nothing in common": (SALES, SOURCES, {"a": "string", "b": "string", "c": "string"}, frozenset({"x"}), 0.0),
}


@pytest.mark.parametrize("case", CASES)
def test_similarity_is_of_schema_and_lineage(case: str) -> None:
    first, first_sources, second, second_sources, score = CASES[case]

    pair = compare_shapes(shape("sales", first, first_sources), shape("revenue", second, second_sources))

    assert pair.score == pytest.approx(score)


def test_the_most_similar_pairs_come_first_and_other_lines_of_a_contract_do_not_count() -> None:
    shapes = [
        shape("sales", SALES, SOURCES),
        shape("sales", SALES, SOURCES, major=2),
        shape("revenue", {**SALES, "channel": "string"}, SOURCES),
        shape("copy", SALES, SOURCES),
        shape("stock", {"item": "string", "count": "integer", "day": "date"}),
        shape("tiny", {"order_id": "string", "day": "date"}),
    ]

    found = [(str(pair.first), str(pair.second), round(pair.score, 2)) for pair in find_near_duplicates(shapes)]

    assert found == [
        ("copy@1", "sales@1", 1.0),
        ("copy@1", "sales@2", 1.0),
        ("copy@1", "revenue@1", 0.9),
        ("revenue@1", "sales@1", 0.9),
        ("revenue@1", "sales@2", 0.9),
    ]


FIELDS = st.dictionaries(st.sampled_from(["id", "net", "Net_", "day", "land"]), st.sampled_from(["string", "date"]))
SHAPES = st.builds(
    lambda name, fields, sources: shape(name, fields, sources),
    st.sampled_from("abcd"),
    FIELDS,
    st.frozensets(st.sampled_from("xyz")),
)


@given(SHAPES, SHAPES)
def test_similarity_is_symmetric_and_a_share(first: Shape, second: Shape) -> None:
    one, other = compare_shapes(first, second), compare_shapes(second, first)

    assert one.score == other.score
    assert 0.0 <= one.score <= 1.0


@given(SHAPES)
def test_a_publication_is_the_same_as_itself(one: Shape) -> None:
    assert compare_shapes(one, one).score == 1.0


@given(st.lists(SHAPES, max_size=6), st.floats(0.1, 1.0))
def test_every_pair_that_is_similar_enough_is_found(shapes: list[Shape], threshold: float) -> None:
    unique = list({one.line: one for one in shapes}.values())

    found = {frozenset((pair.first, pair.second)) for pair in find_near_duplicates(unique, threshold)}

    expected = {
        frozenset((one.line, other.line))
        for one in unique
        for other in unique
        if one.line.contract != other.line.contract
        and min(len(one.fields), len(other.fields)) >= 3
        and compare_shapes(one, other).score >= threshold
        and compare_shapes(one, other).shared
    }
    assert found == expected
