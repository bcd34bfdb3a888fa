"""Housekeeping: how long the history of tables is kept, and the removal and compaction of files."""

from treaty.pipeline.maintenance.housekeeping import TableUpkeep, Upkeep, maintain_all, maintain_changed
from treaty.pipeline.maintenance.retention import Retention

__all__ = ["Retention", "TableUpkeep", "Upkeep", "maintain_all", "maintain_changed"]
