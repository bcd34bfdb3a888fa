"""Reading data by what a person calls them: files, tables, databases; so that nothing in them is lost."""

from treaty.spark.columns import MALFORMED
from treaty.spark.readers.data_reader import Data, open_data, read_data
from treaty.spark.readers.read_errors import explained
from treaty.spark.readers.sources import Database, DataFormat, Files, Source, Table, needs, options_for, parse_source

__all__ = [
    "MALFORMED",
    "Data",
    "DataFormat",
    "Database",
    "Files",
    "Source",
    "Table",
    "explained",
    "needs",
    "open_data",
    "options_for",
    "parse_source",
    "read_data",
]
