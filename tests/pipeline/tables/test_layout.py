"""When a table is worth rewriting."""

from __future__ import annotations

import pytest

from treaty.pipeline.tables import Wear
from treaty.pipeline.tables.layout import wear_of

MB = 1024 * 1024


@pytest.mark.parametrize(
    ("wear", "worn"),
    [
        (Wear(), False),
        (Wear(data_files=100, delete_files=10, rows=10_000, deleted=100, bytes=1000 * MB), False),
        (Wear(data_files=100, delete_files=64, rows=10_000, deleted=100, bytes=1000 * MB), True),
        (Wear(data_files=300, rows=10_000, bytes=300 * MB), True),
        (Wear(data_files=300, rows=10_000_000, bytes=30_000 * MB), False),
        (Wear(data_files=3, delete_files=2, rows=100, deleted=51, bytes=MB), True),
    ],
)
def test_a_table_is_worn_by_deletes_and_by_small_files(wear: Wear, worn: bool) -> None:
    assert wear.is_worn is worn


def test_wear_is_read_from_the_totals_of_a_snapshot() -> None:
    summary = {"total-data-files": "4", "total-delete-files": "2", "total-records": "9", "total-position-deletes": "3"}
    assert wear_of({**summary, "total-files-size": "77"}) == Wear(4, 2, 9, 3, 77)
    assert wear_of({}) == Wear()
