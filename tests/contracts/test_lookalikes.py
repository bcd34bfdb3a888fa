"""Names that people read as the same share a skeleton; other names do not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treaty.contracts.lookalikes import find_mixed_scripts, prefixes, skeleton

LOOKALIKES = [
    ("orders", "Orders"),
    ("orders", "ORDERS"),
    ("pay.cards", "р\u0430\u0443.cards"),  # Cyrillic
    ("orders", "ｏｒｄｅｒｓ"),
    ("orders", "𝗼𝗿𝗱𝗲𝗿𝘀"),
    ("name", "\u039d\u0391\u039c\u0395"),  # Greek capitals
    ("order_items", "order-items"),
    ("order-items", "order–items"),
    ("orders2", "orders２"),
    ("orders2", "orders\u0968"),  # Devanagari
    ("coop", "\u0441\u043e\u043e\u0440"),
    ("file", "ﬁle"),
    ("ids", "\u0131ds"),
    ("straße", "STRASSE"),
]


@pytest.mark.parametrize(("one", "other"), LOOKALIKES)
def test_lookalikes_have_one_skeleton(one: str, other: str) -> None:
    assert one != other
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("orders", "orders2"),
        ("orders", "order"),
        ("table1", "tablel"),
        ("mail", "mall"),
        ("pay.cards", "pay/cards"),
        ("pay.cards", "paycards"),
        ("größe", "grosse"),
        ("заказы", "zakazy"),
        ("注文", "注文書"),
    ],
)
def test_other_names_are_told_apart(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


@given(st.text(max_size=20))
@settings(max_examples=150)
def test_a_skeleton_is_its_own_skeleton(name: str) -> None:
    assert skeleton(skeleton(name)) == skeleton(name)


@given(st.text(alphabet="abcxyzABC019_-./:", min_size=1, max_size=20))
@settings(max_examples=100)
def test_the_skeleton_of_an_ascii_name_is_the_name_in_lower_case(name: str) -> None:
    assert skeleton(name) == name.lower().replace("_", "-")


def test_prefixes_end_with_a_separator_and_the_longest_comes_first() -> None:
    assert prefixes("Pay.eu/cards_v2") == ["pay.eu/cards-", "pay.eu/", "pay."]
    assert prefixes("orders") == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("p\u0430y.cards", ("p\u0430y", ["Cyrillic", "Latin"])),
        ("pay.\u03bfrders", ("\u03bfrders", ["Greek", "Latin"])),
        ("pay.заказы", None),
        ("größe", None),
        ("注文_orders", None),
        ("注文orders", None),
        ("orders", None),
    ],
)
def test_a_word_that_mixes_scripts_is_found(name: str, expected: tuple[str, list[str]] | None) -> None:
    assert find_mixed_scripts(name) == expected
