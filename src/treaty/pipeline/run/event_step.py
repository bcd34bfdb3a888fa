"""The events of a run: raw rows parsed, judged and told apart from redeliveries, each with what became of it."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import functions as F

from treaty.pipeline.layers.audit import Keys, audit
from treaty.pipeline.layers.events import (
    deduplicated,
    event_columns,
    held_to_contract,
    identity_of,
    known_identities,
)
from treaty.pipeline.project.declarations import Source
from treaty.pipeline.run.step_context import Moment, Work, news
from treaty.pipeline.run.summary import Outcome, StepSummary
from treaty.pipeline.run.template import counted, finish
from treaty.pipeline.tables import OUTCOME, RUN, commented, described


def accept(work: Work, source: Source) -> StepSummary:
    """Append an event for each new raw row, or write all of them anew."""
    run, tables, contract = work.run, work.run.tables, work.contract
    found = news(work)
    if found.is_nothing:
        return work.ended(Outcome.NOTHING_NEW)
    (raw_table,) = work.step.reads
    raw = found.inputs[raw_table]
    tables.ensure(work.table, commented(event_columns(contract), contract), described(contract), [OUTCOME])
    new = tables.changed(raw_table, found.since(raw_table), raw)
    known = None
    if not found.is_whole:
        known = known_identities(tables.standing(work.table, found.before), new, source, contract)
    held = held_to_contract(new, source, contract)
    rows = deduplicated(held, known, identity_of(source, contract)).withColumn(RUN, F.lit(run.number))
    staged = tables.stage(work.table, run.number)
    work.tell(Moment.STAGED, found.why)
    if found.is_whole:
        staged.delete_all()
    staged.append(rows, work.stamp(found.reflects, found.noted(run.number)))
    work.tell(Moment.WRITTEN)
    standing = staged.read().where(F.col(OUTCOME) == F.lit("accepted"))
    verdict = audit(standing, contract, run.now, keys=Keys.REPLACED)
    counts = counted(staged.read(), run.number)
    total = counts.accepted + counts.duplicate + counts.conflicting + counts.quarantined
    return finish(work, staged, verdict, replace(counts, rows_in=total), found)
