"""The lines of quarantined rows in their source files."""

from __future__ import annotations

from pathlib import Path

import pytest

from treaty.cli.source_lines import locate_lines
from treaty.pipeline.quarantine import QuarantinedRow

CSV = 'order_id;note\nO1;"two\nlines"\n\nO2;many\nO3;\nO4\n'
JSON = '{"order_id": "O1"}\n\n{"order_id": "O2"}\n'

CASES = [
    ("first row", "a.csv", QuarantinedRow({"order_id": "O1", "note": "two\nlines"}, (), "a.csv", 1), 2),
    ("after a value with a line break", "a.csv", QuarantinedRow({"order_id": "O2", "note": "many"}, (), "a.csv", 2), 5),
    ("empty value", "a.csv", QuarantinedRow({"order_id": "O3", "note": None}, (), "a.csv", 3), 6),
    ("JSON lines with an empty line", "a.jsonl", QuarantinedRow({"order_id": "O2"}, (), "a.jsonl", 2), 3),
]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(CSV)
    Path("a.jsonl").write_text(JSON)


@pytest.mark.parametrize(("name", "file", "row", "line"), CASES, ids=[case[0] for case in CASES])
def test_a_row_gets_its_line(name: str, file: str, row: QuarantinedRow, line: int) -> None:
    (located,) = locate_lines([row])

    assert located.place == f"line {line} of {file}"


CHANGED = [
    QuarantinedRow({"order_id": "O9", "note": "many"}, (), "a.csv", 2),
    QuarantinedRow({"other": "O2"}, (), "a.csv", 2),
    QuarantinedRow({"order_id": "O2"}, (), "gone.csv", 2),
    QuarantinedRow({"order_id": "O2"}, (), "s3://bucket/a.csv", 2),
    QuarantinedRow({"order_id": "O2"}, (), "a.parquet", 2),
]


@pytest.mark.parametrize("row", CHANGED, ids=["other value", "other columns", "no file", "remote file", "no text"])
def test_a_row_that_its_file_does_not_have_keeps_its_number(row: QuarantinedRow) -> None:
    assert locate_lines([row]) == [row]
    assert row.place == f"row 2 of {row.file}"
