"""The products on sale and their promotions."""

from __future__ import annotations

from typing import NamedTuple

ARTICLES = 5_000
_FAMILIES = (
    ("SOCK", 300, 1_500, 60),
    ("MUGS", 500, 2_500, 350),
    ("BOOK", 800, 4_500, 420),
    ("TOYS", 900, 8_000, 700),
    ("SHRT", 1_500, 9_000, 250),
    ("LAMP", 2_000, 15_000, 1_800),
    ("SHOE", 4_000, 18_000, 1_100),
    ("COAT", 6_000, 40_000, 1_500),
    ("BIKE", 20_000, 150_000, 14_000),
)
"""Code, lowest and highest price in euro cents, weight in grams."""
_SIZES = ("", "S", "M", "L", "XL")
PROMOTIONS = (("SUMMER26", 10), ("WELCOME10", 10), ("LOYAL5", 5), ("CLEARANCE2026", 30), ("APP3", 3))
"""Name, and discount in percent."""


class Article(NamedTuple):
    """A product on sale."""

    sku: str
    euro_cents: int
    grams: int
    in_stock: int


def _article(number: int) -> Article:
    family, cheapest, dearest, grams = _FAMILIES[number % len(_FAMILIES)]
    price = cheapest + number * 7_919 % (dearest - cheapest)
    return Article(f"{family}{number:05}{_SIZES[number // 7 % len(_SIZES)]}", price, grams, 5 + number % 41)


ASSORTMENT = tuple(_article(number) for number in range(ARTICLES))
