"""Field paths: one syntax, read as it is printed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import names, texts
from treaty.contracts import FieldPath, parse_path
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, Step
from treaty.errors import InvalidDocument

PATHS = [
    ("city", FieldPath().field("city")),
    ("customer.city", FieldPath().field("customer").field("city")),
    ("customer.addresses[].city", FieldPath().field("customer").field("addresses").into(ITEMS).field("city")),
    ("matrix[][]", FieldPath().field("matrix").into(ITEMS).into(ITEMS)),
    ("prices{}", FieldPath().field("prices").into(MAP_VALUES)),
    ("prices{key}", FieldPath().field("prices").into(MAP_KEYS)),
    ("prices{}.amount", FieldPath().field("prices").into(MAP_VALUES).field("amount")),
    ("orders:customer.city", FieldPath(object="orders").field("customer").field("city")),
    ("`first.name`", FieldPath().field("first.name")),
    ("a.`first name`", FieldPath().field("a").field("first name")),
    ("`a``b`", FieldPath().field("a`b")),
    ("`[]`", FieldPath().field("[]")),
    ("`{key}`", FieldPath().field("{key}")),
    ("`a:b`.c", FieldPath().field("a:b").field("c")),
    ("`my orders`:id", FieldPath(object="my orders").field("id")),
    ("größe.列-1", FieldPath().field("größe").field("列-1")),
    ("``", FieldPath().field("")),
    ("a.``.b", FieldPath().field("a").field("").field("b")),
    ("``:a", FieldPath(object="").field("a")),
]


@pytest.mark.parametrize(("text", "path"), PATHS)
def test_a_path_is_printed_in_one_way(text: str, path: FieldPath) -> None:
    assert str(path) == text


@pytest.mark.parametrize(("text", "path"), PATHS)
def test_a_path_is_read_as_it_is_printed(text: str, path: FieldPath) -> None:
    assert parse_path(text) == path


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", ".a", "a.", "a..b", "a b", " a", "a ", "a\n", "a.[]", "a[", "a[]b", "a[0]", "a{", "a{}b", "a{keys}"),
        *("`", "`a", "a`b`", "`a`b", "`a`` ", "a:", ":a", "a:b:c", "a: b", "orders:", "a[]."),
    ],
    ids=repr,
)
def test_an_invalid_path_is_refused_with_the_position(text: str) -> None:
    with pytest.raises(InvalidDocument, match=r"cannot read field path .* at character [0-9]+; write it like"):
        parse_path(text)


marks = st.sampled_from((ITEMS, MAP_VALUES, MAP_KEYS)).map(lambda mark: Step(mark, is_mark=True))
steps = st.lists(st.one_of(names().map(Step), marks), min_size=1, max_size=5).map(tuple)
paths = st.builds(FieldPath, steps, st.one_of(st.none(), names()))


@given(paths)
def test_any_path_reads_back_from_its_text(path: FieldPath) -> None:
    assert parse_path(str(path)) == path


@given(paths, paths)
def test_different_paths_have_different_texts(one: FieldPath, other: FieldPath) -> None:
    assert (str(one) == str(other)) is (one == other)


@given(texts(40))
def test_any_text_is_a_path_or_refused(text: str) -> None:
    try:
        path = parse_path(text)
    except InvalidDocument:
        return
    assert parse_path(str(path)) == path


def test_a_path_covers_itself_and_what_is_inside_it() -> None:
    customer, city, other = parse_path("customer"), parse_path("customer.addresses[].city"), parse_path("customers")

    assert customer.covers(customer)
    assert customer.covers(city)
    assert not city.covers(customer)
    assert not customer.covers(other)
    assert FieldPath().covers(city)


def test_a_path_with_an_object_covers_only_that_object() -> None:
    orders, lines = parse_path("orders:id"), parse_path("lines:id")

    assert not orders.covers(lines)
    assert parse_path("id").covers(orders)
    assert orders.covers(parse_path("id"))


def test_a_path_has_a_parent() -> None:
    assert str(parse_path("orders:customer.city").parent) == "orders:customer"
