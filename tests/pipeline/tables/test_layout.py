"""When a table needs compaction."""

from __future__ import annotations

import pytest

from treaty.pipeline.tables import FileStats
from treaty.pipeline.tables.layout import file_stats_of

MB = 1024 * 1024


@pytest.mark.parametrize(
    ("wear", "worn"),
    [
        (FileStats(), False),
        (FileStats(data_files=100, delete_files=10, rows=10_000, deleted=100, bytes=1000 * MB), False),
        (FileStats(data_files=100, delete_files=64, rows=10_000, deleted=100, bytes=1000 * MB), True),
        (FileStats(data_files=300, rows=10_000, bytes=300 * MB), True),
        (FileStats(data_files=300, rows=10_000_000, bytes=30_000 * MB), False),
        (FileStats(data_files=3, delete_files=2, rows=100, deleted=51, bytes=MB), True),
    ],
)
def test_deletes_and_small_files_require_compaction(wear: FileStats, worn: bool) -> None:
    assert wear.needs_compaction is worn


def test_file_statistics_come_from_the_snapshot_summary() -> None:
    summary = {"total-data-files": "4", "total-delete-files": "2", "total-records": "9", "total-position-deletes": "3"}
    assert file_stats_of({**summary, "total-files-size": "77"}) == FileStats(4, 2, 9, 3, 77)
    assert file_stats_of({}) == FileStats()
