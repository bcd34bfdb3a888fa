"""Read files, tables and databases as DataFrames without losing values, columns or malformed rows."""

from treaty.spark.columns import MALFORMED_COLUMN
from treaty.spark.readers.data_reader import Data, open_data, read_data
from treaty.spark.readers.read_errors import explain_errors
from treaty.spark.readers.sources import (
    Database,
    DataFormat,
    Files,
    Source,
    Table,
    options_for,
    parse_source,
    required_packages,
)

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
]
