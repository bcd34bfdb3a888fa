"""Row groups in which rows were looked for are kept, decoded, up to a number of bytes."""

from __future__ import annotations

import pyarrow as pa  # type: ignore[import-untyped]

from tests.serving.shop import ROWS, Lake
from treaty.contracts.versions import Line
from treaty.serving.conditions import Comparison, Condition
from treaty.serving.row_groups import ColumnCache, RowGroupReader

COLUMN = pa.chunked_array([pa.array(range(100), pa.int64())])


def test_columns_that_were_not_used_for_longest_go_first() -> None:
    cache = ColumnCache(limit=2 * COLUMN.nbytes)
    for name in "ab":
        cache.put(("file", 0, name), COLUMN)
    assert cache.get(("file", 0, "a")) is not None
    cache.put(("file", 0, "c"), COLUMN)
    cache.put(("file", 0, "c"), COLUMN)

    assert [name for name in "abc" if cache.get(("file", 0, name)) is not None] == ["a", "c"]


def test_a_column_that_is_larger_than_the_cache_is_not_kept() -> None:
    cache = ColumnCache(limit=10)
    cache.put(("file", 0, "a"), COLUMN)

    assert cache.get(("file", 0, "a")) is None


class _Recorded(ColumnCache):
    """Tells which columns were put into it."""

    def __init__(self) -> None:
        super().__init__()
        self.put_in: list[str] = []

    def put(self, key: tuple[str, int, str], column: pa.ChunkedArray) -> None:
        self.put_in.append(key[2])
        super().put(key, column)


def test_a_row_that_is_looked_for_twice_is_decoded_once_and_a_scan_is_not_kept(lake: Lake) -> None:
    table = lake.service().publication(Line("shop.orders", 1)).table
    snapshot, cache = table.snapshot(), _Recorded()
    reader, schema = RowGroupReader(cache), table.schema(snapshot)

    def read(*conditions: Condition) -> list[str]:
        groups = reader.read(table.loaded().table.io, table.files(snapshot), schema, schema.names, conditions)
        return [key for group in groups for key in group.rows["order_id"].to_pylist()]

    scanned = read(Condition("country", Comparison.EQUAL, ("de",)))
    all_rows = read()
    before = list(cache.put_in)
    found = [read(Condition("order_id", Comparison.EQUAL, ("ORD-0042",))) for _ in range(2)]

    assert len(scanned) == 34
    assert len(all_rows) == len(ROWS)
    assert before == []
    assert found == [["ORD-0042"], ["ORD-0042"]]
    assert sorted(cache.put_in) == sorted(schema.names)
