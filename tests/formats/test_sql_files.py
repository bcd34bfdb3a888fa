"""SQL files as databases dump them: the dialect is detected, and what does not describe tables is skipped."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import CASES
from treaty.contracts.model import Contract, Field
from treaty.contracts.text import read_document
from treaty.contracts.values import EMPTY
from treaty.errors import InvalidDocument, NoContract
from treaty.formats import get_format
from treaty.formats.sql.dialects import detect_dialect
from treaty.formats.sql.statements import table_statements

FOLDER = CASES / "sql_files"
EXPECTED: dict[str, Any] = read_document((FOLDER / "expected.yaml").read_bytes()).data


def _summary(field: Field) -> str:
    """Return the terms of a column in one line."""
    options = {key: value for key, value in (field.options or EMPTY).items() if key not in ("format", "timezone")}
    terms = [
        str(field.type or "untyped"),
        *(name for name, stated in (("key", field.primary_key), ("required", field.is_required)) if stated),
        *(["unique"] if field.unique else []),
        *([f"enum {' '.join(str(item['value']) for item in field.enum)}"] if field.enum else []),
        *(f"{key} {value}" for key, value in options.items()),
        *([f"default {field.treaty['default']}"] if "default" in field.treaty else []),
        *(f"to {relation['to']}" for relation in field.relationships or ()),
        *(["partition"] if field.more.get("partitioned") else []),
        *(f"rule {construct.text}" for construct in field.foreign),
    ]
    return ", ".join(terms)


def _tables(contracts: tuple[Contract, ...]) -> dict[str, dict[str, str]]:
    return {one.id: {field.name or "": _summary(field) for field in one.schema[0].fields} for one in contracts}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_of_a_database_is_read(name: str) -> None:
    text = (FOLDER / name).read_text()

    assert detect_dialect(text) == EXPECTED[name]["dialect"]
    assert _tables(get_format("sql").read(text, name=name).contracts) == EXPECTED[name]["tables"]


def test_every_file_has_an_expectation() -> None:
    assert {file.name for file in FOLDER.glob("*.sql")} == EXPECTED.keys()


@pytest.mark.parametrize(
    "text", ["SELECT 1;", "CREATE VIEW v AS SELECT 1;", "CREATE TABLE a AS SELECT 1 AS x;", "-- CREATE TABLE a (b int)"]
)
def test_a_file_without_a_table_says_so(text: str) -> None:
    with pytest.raises(NoContract, match=r"v\.sql: no CREATE TABLE statement lists columns"):
        get_format("sql").read(text, name="v.sql")


def test_an_error_names_the_line_of_the_statement() -> None:
    with pytest.raises(InvalidDocument, match=r"orders\.sql:5: cannot read SQL as postgres"):
        get_format("sql").read("SELECT 1;\n\nCREATE TABLE a (\n  b int (((\n);\n", name="orders.sql")


def test_an_unknown_dialect_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidDocument, match="unknown SQL dialect 'cobol'; use one of: postgres, mysql, tsql, "):
        get_format("sql").read("-- dialect: cobol\nCREATE TABLE a (b int);", name="a.sql")


def test_a_dialect_that_is_only_read_can_be_named() -> None:
    text = "CREATE TABLE t (id NUMBER(10));"

    (contract,) = get_format("sql").read(text, name="t.sql", dialect="oracle").contracts

    assert contract.schema[0].fields[0].physical_type == "NUMBER(10)"


STATEMENTS = {
    "a semicolon in a text": ("CREATE TABLE a (b text DEFAULT ';');", [1]),
    "a semicolon in a comment": ("/* ; */ CREATE TABLE a (b int); -- ;\nCREATE TABLE c (d int)", [1, 2]),
    "a batch without semicolons": ("CREATE TABLE a (b int)\nGO\nCREATE TABLE c (d int)\nGO\n", [1, 3]),
    "statements without a terminator": ("CREATE TABLE a (b int)\nCREATE TABLE c (d int)\n", [1, 2]),
    "a body in dollar quotes": ("CREATE FUNCTION f() AS $$ CREATE TABLE x (y int); $$;\nCREATE TABLE a (b int);", [2]),
    "rows of COPY": ("COPY a (b) FROM stdin;\nit's; CREATE TABLE x (y int)\n\\.\nCREATE TABLE a (b int);", [4]),
    "data with escaped quotes": ("INSERT INTO a VALUES ('it\\'s');\nCREATE TABLE a (b text);", [2]),
    "another word than CREATE TABLE": ("ALTER TABLE a ADD b int; DROP TABLE c; COMMENT ON TABLE a IS 'x'", [1, 1]),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_about_tables_are_found(name: str) -> None:
    text, lines = STATEMENTS[name]

    assert [statement.line for statement in table_statements(text)] == lines


@pytest.mark.parametrize("part", ["'\\", "CREATE TABLE\n", "(", "\n", "/*", "$a$b$", "COPY a FROM stdin\n", "[a"])
def test_hostile_text_is_split_in_linear_time(part: str) -> None:
    count = sum(1 for _ in table_statements(part * (200_000 // len(part))))  # quadratic time would take minutes

    assert count in (0, 200_000 // len("CREATE TABLE\n"))
