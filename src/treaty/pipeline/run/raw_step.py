"""The raw layer of a run: what is new in a source is kept as it came."""

from __future__ import annotations

from treaty.pipeline.layers.raw import RAW
from treaty.pipeline.project.declarations import Source
from treaty.pipeline.run.step_context import Moment, Work
from treaty.pipeline.run.summary import Counts, Outcome, StepSummary
from treaty.pipeline.sources import Asking, arrivals, known_files, remember_files
from treaty.pipeline.tables import described


def take_in(work: Work, source: Source) -> StepSummary:
    """Append what is new to the raw table, in one commit."""
    run, tables = work.run, work.run.tables
    tables.ensure(work.table, RAW, described(work.contract))
    known = known_files(tables, source.name)
    before = run.stamp(work.table)
    found = arrivals(run.spark, source, Asking(run.number, run.now, known, before, run.jdbc_password))
    if found.rows is None:
        if before is None:  # whoever reads it finds that nothing came
            run.stamps[work.table] = tables.append(
                work.table, run.spark.createDataFrame([], RAW), work.stamp({}, found.extra)
            )
        return work.ended(Outcome.NOTHING_NEW, remarks=_worth_saying(found.notes))
    work.tell(Moment.STAGED, f"{found.new:,} new")
    stamp = tables.append(work.table, found.rows, work.stamp({}, found.extra))
    run.stamps[work.table] = stamp
    work.tell(Moment.PUBLISHED)
    remember_files(tables, source.name, run.number)
    rows = tables.changed(work.table, run.number - 1, stamp).count()
    return work.ended(Outcome.DONE, Counts(rows_in=rows), why=f"{found.new:,} new", remarks=found.notes)


def _worth_saying(notes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(note for note in notes if not note.startswith("nothing new"))
