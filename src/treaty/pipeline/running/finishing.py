"""How a step ends: what passed its audit is published, what did not stays on its branch."""

from __future__ import annotations

from treaty.pipeline.layers.audits import Audit
from treaty.pipeline.running.happenings import Moment
from treaty.pipeline.running.summary import Counts, Outcome, StepSummary
from treaty.pipeline.running.work import News, Work
from treaty.pipeline.tables import Staged


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
