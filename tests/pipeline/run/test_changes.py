"""Keys of small changes: which are written into queries as literals."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as arrow  # type: ignore[import-untyped]
import pytest

from treaty.pipeline.run.changes import LITERAL_KEY_LIMIT, literal_keys


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        ({"id": ["a", "it's"]}, ["a", "it's"]),
        ({"id": [1, 2]}, [1, 2]),
        ({"id": arrow.array([], arrow.string())}, None),
        ({"id": [1.5]}, None),
        ({"id": [Decimal("1.50")]}, None),
        ({"id": ["a"], "line": [1]}, None),
        ({"id": [str(number) for number in range(LITERAL_KEY_LIMIT + 1)]}, None),
    ],
)
def test_a_few_texts_and_whole_numbers_are_literals(columns: dict[str, object], values: list[object] | None) -> None:
    assert literal_keys(arrow.table(columns)) == values
