"""The raw layer: append what is new in a source exactly as it arrived."""

from __future__ import annotations

from pyspark.sql import DataFrame

from treaty.pipeline.layers.audit import Audit
from treaty.pipeline.layers.raw import RAW
from treaty.pipeline.project.declarations import Source
from treaty.pipeline.run.changes import Changes
from treaty.pipeline.run.step_context import Phase
from treaty.pipeline.run.summary import Counts, Outcome, StepSummary
from treaty.pipeline.run.template import LayerStep
from treaty.pipeline.sources import ArrivalRequest, Arrivals, known_files, read_arrivals, remember_files
from treaty.pipeline.tables import table_properties


class RawStep(LayerStep[Source, Arrivals, DataFrame, None]):
    """Append new arrivals in one commit. Raw rows are under no contract, so nothing is staged or audited."""

    arrivals = Arrivals()

    def detect_changes(self) -> Changes:
        """Look for rows in the source that no run has read."""
        run = self.current_run
        self.tables.ensure(self.table, RAW, table_properties(self.contract))
        known = known_files(self.tables, self.declared.name)
        published = run.stamp(self.table)
        request = ArrivalRequest(run.number, run.now, known, published, run.jdbc_password)
        self.arrivals = read_arrivals(run.spark, self.declared, request)
        reason = "" if self.arrivals.rows is None else f"{self.arrivals.new:,} new"
        return Changes(published, {}, is_full=False, reason=reason)

    def skip(self) -> StepSummary:
        """Publish an empty first snapshot, so that later steps find a stamp even if nothing has arrived yet."""
        if self.current_run.stamp(self.table) is None:
            self._append(self.current_run.spark.createDataFrame([], RAW))
        remarks = tuple(note for note in self.arrivals.notes if not note.startswith("nothing new"))
        return self.context.summary(Outcome.NOTHING_NEW, remarks=remarks)

    def restrict_to_affected_keys(self, changes: Changes) -> Arrivals:
        """Return all arrivals; raw rows have no key."""
        return self.arrivals

    def compute(self, changes: Changes, inputs: Arrivals) -> DataFrame:
        """Return the rows as they arrived."""
        assert inputs.rows is not None  # noqa: S101  without rows the step is skipped
        return inputs.rows

    def stage(self, changes: Changes, inputs: Arrivals, output: DataFrame) -> None:
        """Stage nothing: the append is one atomic commit."""
        self.context.report(Phase.STAGED, changes.reason)

    def audit(self, staged: None, inputs: Arrivals, output: DataFrame) -> Audit | None:
        """Audit nothing: raw rows are stored whatever they contain."""
        return None

    def count(self, staged: None, audit: Audit | None) -> Counts:
        """Count nothing yet: reading the source twice could give another number."""
        return Counts()

    def publish(self, changes: Changes, staged: None, output: DataFrame) -> None:
        """Append the rows."""
        self._append(output)

    def finish(self, changes: Changes, staged: None, counts: Counts, audit: Audit | None) -> StepSummary:
        """Record which files were read, and count the rows that were appended."""
        run = self.current_run
        remember_files(self.tables, self.declared.name, run.number)
        stamp = run.stamp(self.table)
        assert stamp is not None  # noqa: S101  it was published just now
        rows = self.tables.changed_rows(self.table, run.number - 1, stamp).count()
        counts = Counts(rows_in=rows)
        return self.context.summary(Outcome.DONE, counts, why=changes.reason, remarks=self.arrivals.notes)

    def _append(self, rows: DataFrame) -> None:
        stamp = self.context.new_stamp({}, self.arrivals.extra)
        self.current_run.stamps[self.table] = self.tables.append(self.table, rows, stamp)
