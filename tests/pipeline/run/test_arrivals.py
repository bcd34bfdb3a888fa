"""Files that cannot be read are set apart once, with a reason, and the rest of their source is read."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pyarrow as arrow  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]
import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.pipeline.layers.arrivals import contract
from tests.pipeline.projects import laid_out
from tests.pipeline.run.kiosk import NOW
from treaty.contracts.versions import Line
from treaty.pipeline.project import read_project
from treaty.pipeline.run import Outcome, RunOptions, RunSummary, run_project
from treaty.pipeline.sources import files as file_source
from treaty.pipeline.sources.file_listing import ListedFile
from treaty.pipeline.sources.text_files import read_lines
from treaty.pipeline.tables import Tables
from treaty.pipeline.tables.table_reader import ReadRequest, read_table

SOURCES = {
    "sources/sales.yaml": "contract: shop.sales@1\nfiles: landing/sales/*\nformat: csv\n",
    "sources/clicks.yaml": "contract: shop.clicks@1\nfiles: landing/clicks/*\nformat: jsonl\n",
    "sources/stock.yaml": "contract: shop.stock@1\nfiles: landing/stock/*.parquet\n",
}
CONTRACTS = {Line(f"shop.{name}", 1): contract(name, {"id": {}, "name": {}}) for name in ("sales", "clicks", "stock")}
NOISE = Random(7).randbytes(200_000).hex()  # noqa: S311
GOOD = b"id,name\n1,a\n"
DELIVERED = {
    "sales/good.csv": GOOD,
    "sales/good.csv.gz": gzip.compress(GOOD),
    "sales/_draft.csv": GOOD,
    "sales/blank.csv": b"\n\n",
    "sales/cr.csv": GOOD.replace(b"\n", b"\r"),
    "sales/header.csv": b"id,name\n",
    "sales/latin.csv": b"7,seven\n8,eight\n",
    "sales/packed.csv": gzip.compress(GOOD),
    "sales/plain.csv.gz": GOOD,
    "sales/semicolon.csv": b"id;name\n1;a\n",
    "sales/torn.csv.gz": gzip.compress(GOOD + NOISE.encode())[:-1000],
    "sales/utf16.csv": GOOD.decode().encode("utf-16"),
    "sales/utf16le.csv": GOOD.decode().encode("utf-16-le"),
    "clicks/good.jsonl": b'{"id": "1", "name": "a"}\n',
    "clicks/removed.jsonl": b'{"id": "2", "name": "b"}\n',
    "clicks/torn.jsonl.gz": gzip.compress(b'{"id": "1"}\n' + NOISE.encode())[:-1000],
    "stock/footer.parquet": b"PAR1 and nothing else",
}
SET_APART = {
    "sales/_draft.csv": "its name begins with _, and Spark ignores such files; rename it",
    "sales/blank.csv": "it has only empty lines",
    "sales/cr.csv": "its lines end in CR only; end them with LF or CR LF",
    "sales/latin.csv": "the header has none of the contract's columns; first line: 7,seven",
    "sales/link.csv": "it is a link to gone.csv, which does not exist",
    "sales/packed.csv": "it is compressed with gzip; its name must end in .gz, and not csv",
    "sales/plain.csv.gz": "it is not a readable archive: Error -3 while decompressing data: incorrect header check",
    "sales/semicolon.csv": "the header has none of the contract's columns; first line: id;name; its separator seems to "
    "be ';', not ','",
    "sales/torn.csv.gz": "it cannot be read to its end: Unexpected end of input stream",
    "sales/utf16.csv": "it is encoded in UTF-16; deliver it in UTF-8",
    "sales/utf16le.csv": "it is encoded in UTF-16; deliver it in UTF-8",
    "clicks/removed.jsonl": "it was removed before it could be read",
    "clicks/torn.jsonl.gz": "it cannot be read to its end: Unexpected end of input stream",
}


def _write(folder: Path, name: str, content: bytes) -> None:
    path = folder / "landing" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _deliver_stock(folder: Path) -> None:
    good = folder / "landing" / "stock" / "good.parquet"
    pyarrow.parquet.write_table(arrow.table({"id": ["1"], "name": ["a"]}), good)
    wide = arrow.table({"id": [str(number) for number in range(1000)], "name": [NOISE[:99]] * 1000})
    pages = good.with_name("pages.parquet")
    pyarrow.parquet.write_table(wide, pages, compression="snappy", use_dictionary=False)
    content = bytearray(pages.read_bytes())
    content[100:600] = b"\xff" * 500
    pages.write_bytes(content)


def _run(tables: Tables, folder: Path, hour: int) -> RunSummary:
    return run_project(tables, read_project(folder), dict(CONTRACTS), now=NOW.replace(hour=hour))


def test_unreadable_files_are_set_apart_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out(tmp_path, SOURCES)
    for name, content in DELIVERED.items():
        _write(tmp_path, name, content)
    (tmp_path / "landing" / "sales" / "link.csv").symlink_to("gone.csv")
    _deliver_stock(tmp_path)
    tables = Tables(spark, "lake.poison")

    def read_after_removal(session: SparkSession, listed: Sequence[ListedFile]) -> DataFrame:
        for file in listed:
            if file.name == "landing/clicks/removed.jsonl":
                Path(file.path).unlink()
        return read_lines(session, listed)

    with monkeypatch.context() as patch:
        patch.setattr(file_source, "read_lines", read_after_removal)
        first = _run(tables, tmp_path, 1)

    assert first.succeeded, [step.reasons for step in first.steps]
    remarks = dict(remark.split(": ", 1) for step in first.steps for remark in step.remarks)
    assert remarks.keys() == {f"landing/{name}" for name in (*SET_APART, "stock/footer.parquet", "stock/pages.parquet")}
    assert {name: remarks[f"landing/{name}"] for name in SET_APART} == SET_APART
    assert (first.newly_set_apart, first.set_apart) == (15, 15)
    assert {table: tables.read(table).count() for table in ("raw.sales", "raw.clicks", "raw.stock")} == {
        "raw.sales": 2,
        "raw.clicks": 1,
        "raw.stock": 1,
    }
    shown = read_table(
        tables.catalog,
        ReadRequest("arrivals.stock", columns=("file", "outcome", "rows", "run"), limit=9),
        lambda: nullcontext(tables),
    )
    assert shown.rows == (
        ("landing/stock/footer.parquet", "set apart", "0", str(first.run)),
        ("landing/stock/good.parquet", "read", "1", str(first.run)),
        ("landing/stock/pages.parquet", "set apart", "0", str(first.run)),
    )
    empty = read_table(
        tables.catalog,
        ReadRequest("arrivals", outcome="empty", columns=("source", "file", "reason")),
        lambda: nullcontext(tables),
    )
    assert empty.rows == (("sales", "landing/sales/header.csv", "it has a header and no records"),)

    def refuse(*_: object) -> DataFrame:
        raise AssertionError("a file was read again")

    with monkeypatch.context() as patch:
        patch.setattr(file_source, "read_lines", refuse)
        patch.setattr(file_source, "group_by_schema", refuse)
        second = _run(tables, tmp_path, 2)

    assert {step.outcome for step in second.steps} == {Outcome.NOTHING_NEW}
    assert (second.remarks, second.newly_set_apart, second.set_apart) == (0, 0, 14)  # one is gone

    _write(tmp_path, "sales/torn.csv.gz", gzip.compress(GOOD))
    _write(tmp_path, "clicks/removed.jsonl", b'{"id": "2", "name": "b"}\n')
    _write(tmp_path, "clicks/good.jsonl", b'{"id": "1", "name": "a"}\n{"id": "3", "name": "c"}\n')
    os.utime(tmp_path / "landing" / "sales" / "cr.csv")
    third = _run(tables, tmp_path, 3)

    assert {step.table: step.counts.rows_in for step in third.steps if step.layer == "raw"} == {
        "raw.sales": 1,
        "raw.clicks": 1,
        "raw.stock": 0,
    }
    assert sorted(remark.partition(":")[0] for step in third.steps for remark in step.remarks) == [
        "landing/clicks/good.jsonl",
        "landing/sales/cr.csv",
    ]
    assert tables.read("events.sales").select("_source_file", "_position").distinct().count() == 3


BOOK = {
    "sources/sales.yaml": "contract: shop.sales@1\nfiles: landing/*.csv*\nformat: csv\noptions: {multiline: true}\n"
    "identity: [id]\n",
    "products/book.yaml": "contract: shop.book@1\nfrom: [sales]\n",
}
BOOK_CONTRACTS = {
    Line("shop.sales", 1): contract("sales", {"id": {}, "key": {}, "name": {}}),
    Line("shop.book", 1): contract("book", {"key": {"primaryKey": True, "required": True}, "name": {}}),
}
DAYS = {
    "c.csv": b'id,key,name\n1,A,first\n2,B,"two\nlines"\n',
    "a.csv.gz": gzip.compress(b"id,key,name\n1,A,conflict\n3,A,second\n"),
    "torn.csv.gz": gzip.compress(b"id,key,name\n9,Z,torn\n" + NOISE.encode())[:-1000],
    "b.csv": b"id,key,name\n1,A,first\n4,B,third\nbroken\n",
    "0.csv": b"7,no,header\n",
}
"""Files in the order in which they arrive, one on each day; their names have another order."""


def test_slices_of_two_drivers_equal_one_run_and_a_replay_whatever_the_file_names(
    spark: SparkSession, tmp_path: Path
) -> None:
    sliced = _Book(tmp_path / "sliced", Tables(spark, "lake.sliced_book"))
    second = _Book(tmp_path / "second", sliced.tables)
    (tmp_path / "sliced" / "landing").mkdir(parents=True)
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "landing").symlink_to(tmp_path / "sliced" / "landing")

    def run_both(hour: int) -> None:
        options = RunOptions(wait=300)
        with ThreadPoolExecutor(2) as pool:  # the first time, both also create all tables
            runs = list(pool.map(lambda book: book.run(hour, options).run, (sliced, second)))
        assert len(set(runs)) == 2

    for day, name in enumerate(DAYS):
        sliced.deliver(name, day)
        if day % 2:
            run_both(day)
    run_both(9)
    at_once = _Book(tmp_path / "once", Tables(spark, "lake.book_at_once"))
    for day, name in reversed(list(enumerate(DAYS))):
        at_once.deliver(name, day)
    at_once.run(1)

    assert at_once.rows("products.book", "key", "name") == [("A", "second"), ("B", "third")]
    assert at_once.rows("events.sales", "id", "_outcome", "_source_file", "_position") == [
        ("None", "conflicting", "landing/a.csv.gz", "2"),
        ("None", "quarantined", "landing/b.csv", "4"),
        ("1", "accepted", "landing/c.csv", "2"),
        ("1", "duplicate", "landing/b.csv", "2"),
        ("2", "accepted", "landing/c.csv", "3"),
        ("3", "accepted", "landing/a.csv.gz", "3"),
        ("4", "accepted", "landing/b.csv", "3"),
    ]
    assert sliced.everything() == at_once.everything()

    replayed = sliced.run(10, RunOptions(rebuild=True, from_raw=True))
    assert replayed.succeeded
    assert sliced.everything() == at_once.everything()


@dataclass(frozen=True)
class _Book:
    """A project with one source and the latest row of each key, by arrival."""

    folder: Path
    tables: Tables

    def deliver(self, name: str, day: int) -> None:
        _write(self.folder, name, DAYS[name])
        moment = NOW.timestamp() + day
        os.utime(self.folder / "landing" / name, (moment, moment))

    def run(self, hour: int, options: RunOptions | None = None) -> RunSummary:
        laid_out(self.folder, BOOK)
        now = NOW.replace(hour=hour)
        summary = run_project(self.tables, read_project(self.folder), dict(BOOK_CONTRACTS), options, now=now)
        assert summary.succeeded, [step.reasons for step in summary.steps]
        return summary

    def rows(self, table: str, *columns: str) -> list[tuple[str, ...]]:
        frame = self.tables.read(table)
        return sorted(
            (tuple(map(str, row)) for row in frame.select(*columns).collect()), key=lambda row: (row[0] != "None", row)
        )

    def everything(self) -> dict[str, list[tuple[str, ...]]]:
        events = ("id", "key", "name", "_outcome", "_source_file", "_position", "_file_modified", "_digest")
        return {
            "events": self.rows("events.sales", *events),
            "book": self.rows("products.book", "key", "name", "_outcome"),
            "ledger": self.rows("arrivals._files", "file", "size", "outcome", "reason"),
        }
