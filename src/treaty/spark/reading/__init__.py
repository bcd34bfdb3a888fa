"""Reading data by what a person calls them: files, tables, databases; so that nothing in them is lost."""

from treaty.spark.preparing import MALFORMED
from treaty.spark.reading.data import Data, open_data, read_data
from treaty.spark.reading.failures import explained
from treaty.spark.reading.file_formats import DataFormat
from treaty.spark.reading.sources import Database, Files, Source, Table, needs, options_for, parse_source

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
