"""All Iceberg I/O: reading a table at a stamp, staging rows on a branch, publishing a run in one commit."""

from treaty.pipeline.tables.contract_properties import table_properties, with_comments
from treaty.pipeline.tables.layout import ARRIVALS, ARRIVALS_LEDGER, CURRENT_OUTCOMES, OUTCOME, OUTCOMES, RUN, FileStats
from treaty.pipeline.tables.snapshots import NewStamp, Stamp
from treaty.pipeline.tables.staging import Staged
from treaty.pipeline.tables.table_catalog import Commit, Requirement, TableCatalog, TableState
from treaty.pipeline.tables.table_store import Tables

__all__ = [
    "ARRIVALS",
    "ARRIVALS_LEDGER",
    "OUTCOME",
    "RUN",
    "CURRENT_OUTCOMES",
    "OUTCOMES",
    "Commit",
    "NewStamp",
    "Requirement",
    "Staged",
    "Stamp",
    "TableCatalog",
    "TableState",
    "Tables",
    "FileStats",
    "with_comments",
    "table_properties",
]
