"""Names in the order in which they can be made."""

from __future__ import annotations

import pytest

from treaty.pipeline.plan.planner import in_order


@pytest.mark.parametrize(
    ("reads", "order", "circle"),
    [
        ({}, (), ()),
        ({"b": (), "a": ()}, ("a", "b"), ()),
        ({"a": ("b",), "b": ("c",), "c": ()}, ("c", "b", "a"), ()),
        ({"a": ("elsewhere",)}, ("a",), ()),
        ({"a": ("b",), "b": ("a",), "c": ()}, ("c",), ("a", "b")),
        ({"a": ("a",)}, (), ("a",)),
        ({"x": ("a",), "a": ("b",), "b": ("c",), "c": ("b",)}, (), ("b", "c")),
    ],
)
def test_each_comes_after_what_it_reads(
    reads: dict[str, tuple[str, ...]], order: tuple[str, ...], circle: tuple[str, ...]
) -> None:
    assert in_order(reads) == (order, circle)
