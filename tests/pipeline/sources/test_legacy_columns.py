"""The columns of a legacy feed, found without Spark."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as arrow  # type: ignore[import-untyped]
import pyarrow.parquet as parquet  # type: ignore[import-untyped]
import pytest

from treaty.errors import InvalidDocument, NotFound
from treaty.legacy.feeds import LegacyDatabase, LegacyFeed, LegacyFiles, LegacyTable
from treaty.pipeline.sources.legacy_columns import find_legacy_columns


def columns(folder: Path, pattern: str, **options: str) -> tuple[str, ...] | None:
    origin = LegacyFiles(f"{folder}/{pattern}", None, options)
    return find_legacy_columns(LegacyFeed("mart", origin, ("no",), "day", "Finance"), None)


TEXTS: dict[str, tuple[str, bytes, dict[str, str]]] = {
    "with commas": ("a.csv", b"no,day\n1,2\n", {}),
    "with a byte order mark": ("a.csv", b"\xef\xbb\xbfno,day\n1,2\n", {}),
    "with tabs": ("a.tsv", b"no\tday\n1\t2\n", {}),
    "with another separator": ("a.csv", b"no;day\n1;2\n", {"sep": ";"}),
    "in another encoding": ("a.csv", "no,day\nä,2\n".encode("utf-16"), {"encoding": "utf-16"}),
    "compressed": ("a.csv.gz", gzip.compress(b"no,day\n1,2\n"), {}),
    "of JSON": ("a.jsonl", b'\n{"no": 1, "day": 2}\n', {}),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_the_columns_of_a_text_file(tmp_path: Path, kind: str) -> None:
    name, content, options = TEXTS[kind]
    (tmp_path / name).write_bytes(content)

    assert columns(tmp_path, name, **options) == ("no", "day")


def test_without_a_header_columns_have_the_names_that_spark_gives_them(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"1,2\n")

    assert columns(tmp_path, "*.csv", header="false") == ("_c0", "_c1")


def test_the_columns_of_a_parquet_file(tmp_path: Path) -> None:
    parquet.write_table(arrow.table({"no": [1], "day": [2]}), tmp_path / "a.parquet")

    assert columns(tmp_path, "*.parquet") == ("no", "day")


def test_the_newest_file_with_rows_counts(tmp_path: Path) -> None:
    (tmp_path / "revenue_1.csv").write_bytes(b"no,day,old\n1,2,3\n")
    (tmp_path / "revenue_2.csv").write_bytes(b"no,day\n1,2\n")
    (tmp_path / "revenue_3.csv").write_bytes(b"no,day\n")

    assert columns(tmp_path, "revenue_*.csv") == ("no", "day")


def test_a_feed_that_is_not_there_or_has_no_row_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_bytes(b"no,day\n")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")

    with pytest.raises(NotFound, match=r"no file matches .*/gone\.csv"):
        columns(tmp_path, "gone.csv")
    with pytest.raises(InvalidDocument, match="has no row in any of its files"):
        columns(tmp_path, "*.csv")
    with pytest.raises(InvalidDocument, match=r"broken\.parquet cannot be read as parquet"):
        columns(tmp_path, "*.parquet")


@pytest.mark.parametrize("origin", [LegacyTable("other.mart.revenue"), LegacyDatabase("jdbc:sqlite:x", "revenue")])
def test_what_only_spark_reads_is_left_to_the_run(origin: LegacyTable | LegacyDatabase) -> None:
    assert find_legacy_columns(LegacyFeed("mart", origin, ("no",), "day", "Finance"), None) is None
