"""How tables are laid out in files: the settings of Iceberg that every table of the pipeline has."""

from __future__ import annotations

from collections.abc import Collection, Sequence

RUN = "_run"
OUTCOME = "_outcome"
STANDING = ("accepted", "valid", "resolved")
"""The outcomes that the next step sees."""

_EVERY_TABLE = {
    "format-version": "2",
    "write.delete.mode": "merge-on-read",  # the cost of a change follows the change
    "write.update.mode": "merge-on-read",
    "write.merge.mode": "merge-on-read",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "50",
}
_FEW_PARTITIONS = {"write.distribution-mode": "none", "write.spark.fanout.enabled": "true"}
"""For partitions that can be counted on one hand: rows go straight to their files, without a shuffle."""
_MANY_PARTITIONS = {"write.distribution-mode": "hash", "write.spark.fanout.enabled": "false"}
"""A file open for each of many partitions would exhaust the memory."""
_FINDS_NEW_ROWS = {f"write.metadata.metrics.column.{RUN}": "full"}
"""Wide tables have no statistics for their last columns unless it is said."""


def layout(columns: Collection[str], partition: Sequence[str]) -> dict[str, str]:
    """Return the settings of a table with these columns."""
    return {
        **_EVERY_TABLE,
        **(_FEW_PARTITIONS if set(partition) <= {OUTCOME} else _MANY_PARTITIONS),
        **(_FINDS_NEW_ROWS if RUN in columns else {}),
    }
