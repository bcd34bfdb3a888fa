"""All Iceberg I/O: reading a table at a stamp, staging rows on a branch, publishing a run in one commit."""

from treaty.pipeline.tables.contract_properties import table_properties, with_comments
from treaty.pipeline.tables.layout import CURRENT_OUTCOMES, OUTCOME, RUN, FileStats
from treaty.pipeline.tables.snapshots import NewStamp, Stamp
from treaty.pipeline.tables.staging import Staged
from treaty.pipeline.tables.table_store import Tables

__all__ = [
    "OUTCOME",
    "RUN",
    "CURRENT_OUTCOMES",
    "NewStamp",
    "Staged",
    "Stamp",
    "Tables",
    "FileStats",
    "with_comments",
    "table_properties",
]
