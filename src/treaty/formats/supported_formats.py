"""The formats, in one table; a format's code is loaded when something is read or written in it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument, Unavailable
from treaty.formats.detection import (
    FormatTest,
    contains_text,
    is_dbt_schema,
    is_json_schema,
    is_spark_schema,
    is_sql_ddl,
    never,
)
from treaty.formats.results import ReadResult, WriteResult


@dataclass(frozen=True, slots=True)
class Format:
    """A foreign format: what it is called, how its files are told, and in which dialects it is written."""

    name: str
    title: str
    suffixes: tuple[str, ...]
    suffix: str
    tells: FormatTest
    dialects: tuple[str, ...] = ()
    reads_dialects: bool = False

    def read(self, text: str, *, name: str, dialect: str | None = None) -> ReadResult:
        """Read the contracts in a text; the name of its file tells what the text does not."""
        chosen = self._in(dialect) if self.reads_dialects else {}
        read: ReadResult = self._code().read(text, name, **chosen)
        return read

    def write(self, contract: Contract, *, dialect: str | None = None) -> WriteResult:
        """Write a contract, and name what the text does not say."""
        written: WriteResult = self._code().write(contract, **self._in(dialect))
        return written

    def _code(self) -> Any:
        """Load the format's code, or say what to install."""
        try:
            return import_module(f"treaty.formats.{self.name.replace('-', '_')}")
        except ModuleNotFoundError as error:
            message = f"{self.title} needs the package {error.name}, which is not installed"
            raise Unavailable(f"{message}; run: pip install 'treaty[formats]'") from None

    def _in(self, dialect: str | None) -> dict[str, str]:
        if dialect is None:
            return {}
        if dialect not in self.dialects:
            known = ", ".join(self.dialects) or "none"
            raise InvalidDocument(f"{self.title} has no dialect {dialect!r}; it has: {known}")
        return {"dialect": dialect}


_WAREHOUSES = ("spark", "databricks", "postgres", "snowflake", "bigquery", "duckdb")

FORMATS: tuple[Format, ...] = (
    Format("avro", "Avro schema", (".avsc",), ".avsc", contains_text('"')),
    Format(
        "json-schema",
        "JSON Schema",
        (".json", ".yaml", ".yml"),
        ".schema.json",
        is_json_schema,
        ("2020-12", "draft-07"),
    ),
    Format("protobuf", "Protobuf", (".proto",), ".proto", contains_text("message"), ("proto3", "proto2")),
    Format(
        "sql",
        "SQL DDL",
        (".sql", ".ddl"),
        ".sql",
        is_sql_ddl,
        _WAREHOUSES,
        reads_dialects=True,
    ),
    Format("dbt", "dbt schema.yml", (".yml", ".yaml"), ".yml", is_dbt_schema, _WAREHOUSES),
    Format("spark", "Spark StructType", (".json",), ".struct.json", is_spark_schema),
    Format("pydantic", "Pydantic models", (".py",), ".py", never),
)
"""In the order in which a file is tried."""

if len({one.name for one in FORMATS}) != len(FORMATS):
    raise ValueError("two formats have one name")


def detect_format(path: str, text: str) -> Format | None:
    """Tell from its name and content which format a file of a repository is in; contracts themselves are in none."""
    lower = path.lower()
    return next((one for one in FORMATS if lower.endswith(one.suffixes) and one.tells(lower, text)), None)


def get_format(name: str) -> Format:
    """Return the format of that name."""
    found = next((one for one in FORMATS if one.name == name), None)
    if found is None:
        raise InvalidDocument(f"unknown format {name!r}; use one of: {', '.join(one.name for one in FORMATS)}")
    return found
