"""Read files, tables and databases as DataFrames without losing values, columns or malformed rows.

Names are imported on first use, so that sources can be parsed and checked without PySpark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from treaty.spark.readers.sources import (
    Database,
    DataFormat,
    Files,
    Source,
    Table,
    options_for,
    parse_source,
    required_packages,
    resolve_jdbc_url,
)

if TYPE_CHECKING:
    from treaty.spark.columns import MALFORMED_COLUMN
    from treaty.spark.readers.data_reader import Data, open_data, read_data
    from treaty.spark.readers.read_errors import explain_errors

_MODULES = {
    "MALFORMED_COLUMN": "treaty.spark.columns",
    "Data": "treaty.spark.readers.data_reader",
    "open_data": "treaty.spark.readers.data_reader",
    "read_data": "treaty.spark.readers.data_reader",
    "explain_errors": "treaty.spark.readers.read_errors",
}


def __getattr__(name: str) -> Any:
    """Import a name that needs PySpark on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module 'treaty.spark.readers' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


__all__ = [
    "MALFORMED_COLUMN",
    "Data",
    "DataFormat",
    "Database",
    "Files",
    "Source",
    "Table",
    "explain_errors",
    "required_packages",
    "open_data",
    "options_for",
    "parse_source",
    "read_data",
    "resolve_jdbc_url",
]
