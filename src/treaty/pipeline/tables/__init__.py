"""Everything that touches Iceberg tables: reading at a stamp, staging on a branch, publishing whole runs."""

from treaty.pipeline.tables.contract_properties import commented, described
from treaty.pipeline.tables.layout import OUTCOME, RUN, STANDING, Wear
from treaty.pipeline.tables.snapshots import NewStamp, Stamp
from treaty.pipeline.tables.staging import Staged
from treaty.pipeline.tables.table_store import Tables

__all__ = ["OUTCOME", "RUN", "STANDING", "NewStamp", "Staged", "Stamp", "Tables", "Wear", "commented", "described"]
