"""The table of supported formats. The code of a format is imported on first use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from treaty.contracts.model import Contract, Form
from treaty.errors import InvalidDocument, Unavailable
from treaty.formats.detection import (
    FormatTest,
    contains_text,
    is_asyncapi,
    is_data_contract_specification,
    is_dbt_schema,
    is_json_schema,
    is_odcs_2,
    is_openapi,
    is_spark_schema,
    is_sql_ddl,
    never,
)
from treaty.formats.nearby_files import NO_FILES, NearbyFiles
from treaty.formats.results import ReadResult, WriteResult


@dataclass(frozen=True, slots=True)
class Format:
    """A foreign format: its name, file suffixes, detection, dialects, and whether it refers to other files."""

    name: str
    title: str
    suffixes: tuple[str, ...]
    suffix: str
    detect: FormatTest
    dialects: tuple[str, ...] = ()
    reads_dialects: bool = False
    read_only_dialects: tuple[str, ...] = ()
    writes: bool = True
    reads_files: bool = False

    def read(self, text: str, *, name: str, dialect: str | None = None, files: NearbyFiles = NO_FILES) -> ReadResult:
        """Read the contracts in a text; the file name supplies what the text does not state.

        `files` are the files near it, which the text may refer to, if the format has such references.
        """
        arguments: dict[str, Any] = (
            self._dialect_argument(dialect, self.read_only_dialects) if self.reads_dialects else {}
        )
        arguments |= {"files": files} if self.reads_files else {}
        read: ReadResult = self._module().read(text, name, **arguments)
        return replace(read, contracts=tuple(replace(one, form=Form.SCHEMA) for one in read.contracts))

    def write(self, contract: Contract, *, dialect: str | None = None) -> WriteResult:
        """Write a contract and report the losses."""
        if not self.writes:
            raise InvalidDocument(f"{self.title} is only read; write odcs instead")
        written: WriteResult = self._module().write(contract, **self._dialect_argument(dialect))
        return written

    def _module(self) -> Any:
        """Import the code of the format, or report which package is missing."""
        try:
            return import_module(f"treaty.formats.{self.name.replace('-', '_')}")
        except ModuleNotFoundError as error:
            message = f"{self.title} needs the package {error.name}, which is not installed"
            raise Unavailable(f"{message}; run: pip install 'treaty[formats]'") from None

    def _dialect_argument(self, dialect: str | None, more: tuple[str, ...] = ()) -> dict[str, str]:
        if dialect is None:
            return {}
        if dialect not in (*self.dialects, *more):
            known = ", ".join((*self.dialects, *more)) or "none"
            raise InvalidDocument(f"{self.title} has no dialect {dialect!r}; it has: {known}")
        return {"dialect": dialect}


_DOCUMENT_SUFFIXES = (".yaml", ".yml", ".json")
_WAREHOUSES = ("spark", "databricks", "postgres", "snowflake", "bigquery", "duckdb")

FORMATS: tuple[Format, ...] = (
    Format("avro", "Avro schema", (".avsc", ".avpr"), ".avsc", contains_text('"'), reads_files=True),
    Format(
        "openapi",
        "OpenAPI",
        _DOCUMENT_SUFFIXES,
        ".openapi.yaml",
        is_openapi,
        reads_files=True,
    ),
    Format(
        "asyncapi",
        "AsyncAPI",
        _DOCUMENT_SUFFIXES,
        ".asyncapi.yaml",
        is_asyncapi,
        reads_files=True,
    ),
    Format(
        "json-schema",
        "JSON Schema",
        (".json", ".yaml", ".yml"),
        ".schema.json",
        is_json_schema,
        ("2020-12", "draft-07"),
        reads_files=True,
    ),
    Format(
        "protobuf",
        "Protobuf",
        (".proto",),
        ".proto",
        contains_text("message"),
        ("proto3", "proto2"),
        reads_files=True,
    ),
    Format(
        "sql",
        "SQL DDL",
        (".sql", ".ddl"),
        ".sql",
        is_sql_ddl,
        _WAREHOUSES,
        reads_dialects=True,
        read_only_dialects=("mysql", "tsql", "oracle", "redshift", "sqlite", "clickhouse", "trino"),
    ),
    Format("dbt", "dbt schema.yml", (".yml", ".yaml"), ".yml", is_dbt_schema, _WAREHOUSES),
    Format("spark", "Spark StructType", (".json",), ".struct.json", is_spark_schema),
    Format("pydantic", "Pydantic models", (".py",), ".py", never),
    Format(
        "data-contract-specification",
        "Data Contract Specification",
        _DOCUMENT_SUFFIXES,
        ".yaml",
        is_data_contract_specification,
        writes=False,
    ),
    Format("odcs-2", "ODCS 2", _DOCUMENT_SUFFIXES, ".yaml", is_odcs_2, writes=False),
)
"""In the order in which detection tries them."""

if len({one.name for one in FORMATS}) != len(FORMATS):
    raise ValueError("two formats have the same name")


def detect_format(path: str, text: str) -> Format | None:
    """Detect the format of a file from its path and text; None for contracts and unknown files."""
    lower = path.lower()
    return next((one for one in FORMATS if lower.endswith(one.suffixes) and one.detect(lower, text)), None)


def get_format(name: str) -> Format:
    """Return a format by its name."""
    match = next((one for one in FORMATS if one.name == name), None)
    if match is None:
        raise InvalidDocument(f"unknown format {name!r}; use one of: {', '.join(one.name for one in FORMATS)}")
    return match
