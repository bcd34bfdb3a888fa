"""Wrong paths, separators and names of rules are reported before Spark starts."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty, Write
from treaty.cli import data_tests, drafts
from treaty.cli.data_checks import detect_separator, local_size
from treaty.errors import Unavailable

CONTRACT = """kind: DataContract
apiVersion: v3.2.0
id: orders
version: 1.0.0
status: draft
schema:
- name: orders
  properties:
  - {name: order_id, logicalType: string, primaryKey: true}
  - {name: status, logicalType: string, enum: [{value: new}]}
  - {name: total, logicalType: number}
"""
COMMA = "order_id,status,total\nO1,new,5\n"
SEMICOLON = COMMA.replace(",", ";")

REFUSED = [
    (("test", "orders.yaml", "nowhere.csv"), "nowhere.csv does not exist; check the path"),
    (("test", "orders.yaml", "no/such/*.csv"), "no file matches no/such/*.csv; check the path"),
    (("test", "orders.yaml", "comma.csv", "--reference", "customers=gone.csv"), "gone.csv does not exist"),
    (("test", "orders.yaml", "semicolon.csv"), "3 columns missing, the file has ';': use --option \"sep=;\""),
    (("test", "orders.yaml", "tab.csv.gz"), '3 columns missing, the file has tab: use --option "sep=\\t"'),
    (("test", "orders.yaml", "comma.csv", "--option", "sep=;"), "the file has ',': use --option \"sep=,\""),
    (
        ("test", "orders.yaml", "comma.csv", "--severity", "enmu=warning"),
        "no kind of rule 'enmu'; did you mean 'enum'?",
    ),
    (
        ("test", "orders.yaml", "comma.csv", "--severity", "enum:statsu=warning"),
        "there is no field 'statsu'; did you mean 'status'?",
    ),
    (("test", "orders.yaml", "comma.csv", "--order", "when"), "there are: order_id, status, total"),
    (("infer", "nowhere.csv"), "nowhere.csv does not exist; check the path"),
    (("infer", "semicolon.csv"), "its header is one column, but has ';': use --option \"sep=;\""),
]


@pytest.mark.parametrize(("arguments", "problem"), REFUSED, ids=[" ".join(case[0]) for case in REFUSED])
def test_a_mistake_is_reported_before_spark_starts(
    treaty: Treaty,
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    problem: str,
) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(data_tests, "command_session", refuse)
    monkeypatch.setattr(drafts, "command_session", refuse)
    write("orders.yaml", CONTRACT)
    write("comma.csv", COMMA)
    write("semicolon.csv", SEMICOLON)
    (tmp_path / "tab.csv.gz").write_bytes(gzip.compress(COMMA.replace(",", "\t").encode()))

    result = treaty(*arguments)

    assert result.code == 1
    assert problem in result.errors


@pytest.mark.parametrize("arguments", [("comma.csv",), ("semicolon.csv", "--option", "sep=;")])
def test_data_without_a_mistake_goes_to_spark(
    treaty: Treaty, write: Write, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    def started(*arguments: object) -> None:
        raise Unavailable("Spark was started")

    monkeypatch.setattr(data_tests, "command_session", started)
    write("orders.yaml", CONTRACT)
    write("comma.csv", COMMA)
    write("semicolon.csv", SEMICOLON)

    result = treaty("test", "orders.yaml", *arguments, "--severity", "enum:status=warning", "--order", "total")

    assert "Spark was started" in result.errors


@pytest.mark.parametrize(
    ("name", "text", "separator"),
    [
        ("semicolon.csv", 'id;note\n1;"late, ""see"" the CRM, again"\n2;"a, b, c"\n', ";"),
        ("tab.tsv", COMMA.replace(",", "\t"), "\t"),
        ("comma.csv", 'id,"a;b",e\n', None),
        ("column.csv", "id\n", None),
        ("orders.jsonl", '{"a;b": 1}\n', None),
    ],
)
def test_the_separator_of_a_new_project_is_that_of_the_header(
    tmp_path: Path, name: str, text: str, separator: str | None
) -> None:
    (tmp_path / name).write_text(text)

    assert detect_separator(tmp_path / name) == separator


@pytest.mark.parametrize(
    ("path", "size"),
    [("a.jsonl", 5), ("*.jsonl", 12), (".", 21), ("{a,b}.jsonl", 0), ("s3://events/a.jsonl", 0), ("gone.jsonl", 0)],
)
def test_the_size_of_local_data_is_known_before_spark_starts(
    path: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name, text in {"a.jsonl": "12345", "b.jsonl": "1234567", "folder/c.json": "123456789"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    assert local_size(path) == size
