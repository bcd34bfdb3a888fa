"""Everything that touches Iceberg tables: reading at a stamp, staging on a branch, publishing whole runs."""

from treaty.pipeline.tables.compacting import Wear
from treaty.pipeline.tables.describing import commented, described
from treaty.pipeline.tables.layout import OUTCOME, RUN, STANDING
from treaty.pipeline.tables.staging import Staged
from treaty.pipeline.tables.stamps import NewStamp, Stamp
from treaty.pipeline.tables.tables import Tables

__all__ = ["OUTCOME", "RUN", "STANDING", "NewStamp", "Staged", "Stamp", "Tables", "Wear", "commented", "described"]
