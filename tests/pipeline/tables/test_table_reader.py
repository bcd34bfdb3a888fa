"""Selecting the snapshot of a table."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from treaty.errors import InvalidDocument, NotFound
from treaty.pipeline.tables import Stamp
from treaty.pipeline.tables.table_reader import TableReference, stamp_as_of

STAMPS = tuple(
    Stamp(run, {}, f"shop.orders {version}", "", {}, run, datetime(2026, 1, day, 12, tzinfo=UTC))
    for run, version, day in [(300, "2.0.0", 30), (200, "1.1.0", 20), (100, "1.0.0", 10)]
)
MEANT = {
    (None, None): 300,
    (None, "200"): 200,
    (None, "2026-01-20T12:00Z"): 200,
    (None, "2026-01-20T11:59:59Z"): 100,
    (None, "2026-01-20T13:30+02:00"): 100,
    (None, "2027-01-01"): 300,
    (1, None): 200,
    (1, "2027-01-01"): 200,
}
REFUSED = {
    (None, "150"): (
        NotFound,
        r"run 150 published nothing in products\.orders; its runs are: 300 \(2026-01-30 12:00\), 2",
    ),
    (None, "2026-01-01"): (NotFound, r"nothing was published in products\.orders by 2026-01-01 00:00:00 UTC; its runs"),
    (None, "yesterday"): (InvalidDocument, "'yesterday' is neither a run number nor a time"),
    (1, "300"): (NotFound, "run 300 published nothing"),
    (7, None): (NotFound, r"never published under version 7, only under: shop\.orders 2\.0\.0, shop\.orders 1\.1\.0"),
}


@pytest.mark.parametrize("asked", MEANT)
def test_run_or_a_time_selects_a_snapshot(asked: tuple[int | None, str | None]) -> None:
    major, as_of = asked
    assert stamp_as_of(TableReference("products.orders", major), STAMPS, as_of).run == MEANT[asked]


@pytest.mark.parametrize("asked", REFUSED)
def test_unknown_snapshot_is_refused_with_alternatives(asked: tuple[int | None, str]) -> None:
    kind, words = REFUSED[asked]
    major, as_of = asked
    with pytest.raises(kind, match=words):
        stamp_as_of(TableReference("products.orders", major), STAMPS, as_of)
    with pytest.raises(NotFound, match=r"nothing was published in products\.orders yet; start with: treaty run"):
        stamp_as_of(TableReference("products.orders"), (), as_of)
