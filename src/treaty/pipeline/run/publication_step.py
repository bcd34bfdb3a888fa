"""The publications of a run: rows on their way out, judged once more, and shown only if all of them may be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame

from treaty.pipeline.layers.audit import Keys, Written, audit
from treaty.pipeline.layers.keys import of_keys
from treaty.pipeline.layers.publications import (
    build_publication,
    judged_for_publication,
    outgoing,
    salt_for,
)
from treaty.pipeline.layers.publications.view_sql import Pinned, view_query
from treaty.pipeline.project.declarations import Form, Publication
from treaty.pipeline.run.affected_keys import touched, worked_out
from treaty.pipeline.run.step_context import Moment, News, Work, news
from treaty.pipeline.run.summary import Counts, Outcome, StepSummary
from treaty.pipeline.run.template import finish
from treaty.pipeline.sinks import Consignment, Delivered, deliver
from treaty.pipeline.tables import OUTCOME, STANDING, Stamp, commented, described
from treaty.pipeline.tables.views import create_view, view_stamp
from treaty.spark.schema import select_object, struct_type


def publish(work: Work, publication: Publication) -> StepSummary:
    """Publish what is new, as a table, a view or a feed."""
    if publication.form is Form.VIEW:
        return show(work, publication)
    summary = _as_table(work, publication)
    stamp = work.run.stamp(work.table)
    if publication.form is Form.FEED and summary.outcome.is_good and stamp is not None:
        return _delivered(work, publication, stamp, summary)
    return summary


def _as_table(work: Work, publication: Publication) -> StepSummary:
    run, tables, contract = work.run, work.run.tables, work.contract
    found = _with_clock(publication, news(work))
    if found.is_nothing:
        return work.ended(Outcome.NOTHING_NEW)
    columns = commented(struct_type(select_object(contract)), contract)
    tables.ensure(work.table, columns, described(contract))
    key = work.key.columns if work.key else ()
    new = touched(work, found, publication.inputs, key)
    salt = salt_for(run.secret, publication) if run.secret else None
    rows = build_publication(new.inputs, publication, contract, run.now, salt=salt)
    if new.keys is not None:
        # Spark takes long to plan rules on top of joins; few rows are worked out before they are judged
        rows = worked_out(rows)
    out = outgoing(judged_for_publication(rows, contract))
    staged = tables.stage(work.table, run.number)
    work.tell(Moment.STAGED, found.why)
    if new.keys is None:
        staged.delete_all()
    else:
        staged.delete_keys(new.keys, key)
    staged.append(out.rows, work.stamp(found.reflects, found.noted(run.number)))
    work.tell(Moment.WRITTEN)
    of_rows = out.audit()
    whole = audit(staged.read(), contract, run.now, keys=Keys.CHECKED, written=_written(staged.read(), new.keys, key))
    verdict = of_rows.joined(whole)
    counts = Counts(published=of_rows.rows - of_rows.bad_rows, quarantined=of_rows.bad_rows)
    return finish(work, staged, verdict, counts, found)


def _written(rows: DataFrame, keys: DataFrame | None, key: Sequence[str]) -> Written | None:
    return None if keys is None else Written(of_keys(rows, keys, key), tuple(key))


def _with_clock(publication: Publication, found: News) -> News:
    """Let time be news where rows wait for it."""
    if publication.delay is None or not found.is_nothing:
        return found
    return replace(found, is_whole=True, why="time has passed")


def _delivered(work: Work, publication: Publication, stamp: Stamp, summary: StepSummary) -> StepSummary:
    """Deliver what stands published, unless that run was delivered already."""
    assert publication.feed is not None  # noqa: S101  the declaration says so
    rows = work.run.tables.read(work.table, stamp)
    what = Consignment(publication.table, work.contract, stamp.run, work.run.now)
    delivery = deliver(rows, publication.feed, what)
    if delivery.delivered is Delivered.BEFORE:
        return summary
    remark = f"delivered {delivery.manifest.rows:,} rows to {delivery.folder}"
    why = summary.why or "not delivered yet"
    return replace(summary, outcome=Outcome.DONE, why=why, remarks=(*summary.remarks, remark))


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
