"""The queries of the case files, and the inputs they read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
    _parse_datatype_json_value,
)

from tests.documents import CASES
from treaty.pipeline.project.declarations import Sql
from treaty.pipeline.project.project_sql import parse_query
from treaty.sql.project_queries import Query

FOLDER = CASES / "sql_projects"
TABLES: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "inputs.yaml").read_text())["tables"]
KEYS: dict[str, list[str]] = {name: table["key"] for name, table in TABLES.items() if "key" in table}


def _type(declared: Any) -> DataType:
    if isinstance(declared, list):
        return ArrayType(_type(declared[0]))
    if isinstance(declared, dict):
        return MapType(StringType(), _type(declared["{}"])) if "{}" in declared else _struct(declared)
    return _parse_datatype_json_value(declared)


def _struct(declared: dict[str, Any]) -> StructType:
    return StructType([StructField(name, _type(inner)) for name, inner in declared.items()])


COLUMNS: Mapping[str, StructType] = {name: _struct(table["columns"]) for name, table in TABLES.items()}


def cases(file: str) -> list[Any]:
    """Return the cases of a file, each under its name."""
    data = yaml.safe_load((FOLDER / f"{file}.yaml").read_text())
    return [pytest.param(case, id=case["name"]) for case in data["cases"]]


def query(text: str) -> Query:
    """Read a query over the inputs."""
    return parse_query(Sql(Path("sql/case.sql"), text), COLUMNS)
