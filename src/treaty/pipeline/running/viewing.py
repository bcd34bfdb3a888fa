"""A publication that is a view: its query over inputs pinned to this run, audited before it is replaced."""

from __future__ import annotations

from collections.abc import Mapping

from treaty.pipeline.declarations import Publication
from treaty.pipeline.layers.auditing import audit
from treaty.pipeline.layers.publications import judged_for_publication, outgoing
from treaty.pipeline.layers.publications.viewing import Pinned, view_query
from treaty.pipeline.running.happenings import Moment
from treaty.pipeline.running.summary import Counts, Outcome, StepSummary
from treaty.pipeline.running.work import Work, news
from treaty.pipeline.tables import OUTCOME, STANDING, Stamp
from treaty.pipeline.tables.views import create_view, view_stamp


def show(work: Work, publication: Publication) -> StepSummary:
    """Replace the view, if its rows may be seen."""
    run, tables = work.run, work.run.tables
    found = news(work, view_stamp(run.spark, tables.place, work.table))
    if found.is_nothing:
        return work.ended(Outcome.NOTHING_NEW)
    query = view_query(run.spark, publication, work.contract, _pinned(work, publication, found.inputs))
    work.tell(Moment.STAGED, found.why)
    rows = run.spark.sql(query.undelayed)
    out = outgoing(judged_for_publication(rows, work.contract))
    out.rows.write.format("noop").mode("overwrite").save()
    verdict = out.audit().joined(audit(rows, work.contract, run.now))
    work.tell(Moment.AUDITED, verdict.verdict)
    counts = Counts(published=verdict.rows)
    if not verdict.passed:
        return work.ended(Outcome.REFUSED, counts, why=found.why, reasons=verdict.reasons, remarks=verdict.remarks)
    create_view(run.spark, tables.place, work.table, query.text, work.stamp(found.reflects, {}), run.now)
    work.tell(Moment.PUBLISHED)
    return work.ended(Outcome.DONE, counts, why=found.why, mode="view", remarks=verdict.remarks)


def _pinned(work: Work, publication: Publication, stamps: Mapping[str, Stamp]) -> dict[str, Pinned]:
    tables = work.run.tables
    found = {}
    for name in publication.inputs:
        table = work.tables_of[name]
        columns = tables.read(table, stamps[table]).columns
        outcomes = STANDING if OUTCOME in columns else ()
        found[name] = Pinned(tables.place.full(table), stamps[table].snapshot, tuple(columns), outcomes)
    return found
