"""How a step ends: what passed its audit is published, what did not stays on its branch."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.pipeline.layers.audit import Audit
from treaty.pipeline.run.step_context import Moment, News, Work
from treaty.pipeline.run.summary import Counts, Outcome, StepSummary
from treaty.pipeline.tables import OUTCOME, RUN, Staged


def finish(work: Work, staged: Staged, verdict: Audit, counts: Counts, found: News) -> StepSummary:
    """Publish the branch of a step, or leave it for inspection."""
    work.tell(Moment.AUDITED, verdict.verdict)
    if not verdict.passed:
        branch = staged.abandon()
        return work.ended(
            Outcome.REFUSED,
            counts,
            why=found.why,
            mode=found.mode,
            reasons=verdict.reasons,
            remarks=verdict.remarks,
            branch=branch,
        )
    work.run.stamps[work.table] = staged.publish()
    work.tell(Moment.PUBLISHED)
    if staged.wear.is_worn:
        work.run.tables.compact(work.table)
        del work.run.stamps[work.table]  # it has other files now
    age = verdict.newest_age
    return work.ended(Outcome.DONE, counts, why=found.why, mode=found.mode, remarks=verdict.remarks, newest_age=age)


_COUNTED = {
    "accepted": "accepted",
    "duplicate": "duplicate",
    "conflicting": "conflicting",
    "quarantined": "quarantined",
    "valid": "valid",
    "resolved": "resolved",
    "held": "held",
    "deleted": "deleted",
}
"""The outcomes of rows, and where each is counted."""


def counted(rows: DataFrame, run: int, sums: Mapping[str, str] | None = None) -> Counts:
    """Return how many rows of a run there are by outcome, and the sums of some columns by what they are called."""
    asked = {name: F.coalesce(F.sum(column), F.lit(0)).alias(name) for name, column in (sums or {}).items()}
    groups = rows.where(F.col(RUN) == F.lit(run)).groupBy(OUTCOME).agg(F.count("*").alias("rows"), *asked.values())
    found: dict[str, int] = {}
    for row in groups.collect():
        found[_COUNTED[row[OUTCOME]]] = row["rows"]
        for name in asked:
            found[name] = found.get(name, 0) + row[name]
    return Counts(**found)
