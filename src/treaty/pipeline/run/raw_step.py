"""The raw layer: append what is new in a source exactly as it arrived."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.errors import TreatyError
from treaty.pipeline.layers.audit import Audit
from treaty.pipeline.layers.events.payloads import unknown_names
from treaty.pipeline.layers.raw import RAW
from treaty.pipeline.project.declarations import Jdbc, Kafka, Source
from treaty.pipeline.run.changes import Changes
from treaty.pipeline.run.observations import MAX_GROUPS, Observations, unknown_fields
from treaty.pipeline.run.step_context import Phase
from treaty.pipeline.run.summary import Counts, Outcome, StepSummary
from treaty.pipeline.run.template import LayerStep
from treaty.pipeline.sources import NO_FILES, ArrivalRequest, Arrivals, FileOutcome, KnownFiles, read_arrivals
from treaty.pipeline.tables import table_properties
from treaty.spark.schema import column_name, select_object

FULLY_CHECKED_ROWS, CHECKED_EVERY = 1_000, 50
"""Of each file, the first rows are looked at for unknown fields, and then every 50th."""
_ROWS, _UNKNOWN_ROWS = "rows", "unknown_rows"


class RawStep(LayerStep[Source, Arrivals, DataFrame, None]):
    """Append new arrivals. Raw rows are under no contract, so they are published without an audit."""

    arrivals = Arrivals()
    appended_rows = 0
    unknown_rows = 0
    """Number of new rows with a field that the contract does not have, among those that were looked at."""

    def detect_changes(self) -> Changes:
        """Look for rows in the source that no run has read."""
        run = self.current_run
        self.tables.ensure(self.table, RAW, table_properties(self.contract))
        published = run.stamp(self.table)
        request = ArrivalRequest(
            run.number,
            run.now,
            self._known_files(),
            published,
            run.jdbc_password,
            run.project.folder,
            frozenset(map(column_name, select_object(self.contract).fields)),
        )
        self.arrivals = read_arrivals(run.spark, self.declared, request)
        reason = "" if self.arrivals.rows is None else f"{self.arrivals.new:,} new"
        return Changes(published, {}, is_full=False, reason=reason)

    def _known_files(self) -> KnownFiles:
        if isinstance(self.declared.origin, Jdbc):
            return NO_FILES
        return self.current_run.ledger.known_files(self.declared.name, self.tables.stamps(self.table))

    def skip(self) -> StepSummary:
        """Publish an empty snapshot, if it is the first, so that later steps find a stamp, or if it has new state."""
        self._ensure_snapshot()
        return self._summarize(self.context.summary(Outcome.NOTHING_NEW))

    def _ensure_snapshot(self) -> None:
        if self.current_run.stamp(self.table) is None or self.arrivals.is_progress:
            self._append(self.current_run.spark.createDataFrame([], RAW))

    def restrict_to_affected_keys(self, changes: Changes) -> Arrivals:
        """Return all arrivals; raw rows have no key."""
        return self.arrivals

    def compute(self, changes: Changes, inputs: Arrivals) -> DataFrame:
        """Return the rows as they arrived."""
        assert inputs.rows is not None  # noqa: S101  without rows the step is skipped
        return inputs.rows

    def stage(self, changes: Changes, inputs: Arrivals, output: DataFrame) -> None:
        """Stage nothing yet: raw rows need no audit, so they are staged and published together."""
        self.context.report(Phase.STAGED, changes.reason)

    def audit(self, staged: None, inputs: Arrivals, output: DataFrame) -> Audit | None:
        """Audit nothing: raw rows are stored whatever they contain."""
        return None

    def count(self, staged: None, audit: Audit | None) -> Counts:
        """Count nothing yet: rows are counted while they are appended."""
        return Counts()

    def publish(self, changes: Changes, staged: None, output: DataFrame) -> None:
        """Append the rows. A file that turns out to be torn is set apart, and the others are appended."""
        rows: DataFrame | None = output
        while rows is not None:
            try:
                self._append(rows)
                return
            except TreatyError as error:
                if self.arrivals.read_again is None:
                    raise
                self.arrivals = self.arrivals.read_again(error)
                rows = self.arrivals.rows
        self._ensure_snapshot()

    def finish(self, changes: Changes, staged: None, counts: Counts, audit: Audit | None) -> StepSummary:
        """Record which files were read, and how many rows were appended."""
        counts = Counts(rows_in=self.appended_rows)
        return self._summarize(self.context.summary(Outcome.DONE, counts, why=f"{self.arrivals.new:,} new"))

    def _summarize(self, summary: StepSummary) -> StepSummary:
        """Add the entries to the ledger, and return the summary with the files that were set apart."""
        if isinstance(self.declared.origin, Jdbc):
            return summary
        arrivals = self.arrivals
        self.current_run.ledger.add(self.declared.name, arrivals.entries, self.current_run.stamp(self.table))
        remarks = tuple(entry.remark for entry in arrivals.left_out)
        newly_set_apart = sum(entry.outcome is FileOutcome.SET_APART for entry in arrivals.left_out)
        return replace(summary, remarks=remarks, set_apart=arrivals.set_apart, newly_set_apart=newly_set_apart)

    def _append(self, rows: DataFrame) -> None:
        """Append rows to a branch and publish it, if no other run has published since the known files were read.

        The files and offsets that are known follow from the published rows, so that this condition makes sure that
        nothing is read twice.
        """
        run = self.current_run
        branch = self.tables.stage(self.table, run.number, run.stamp(self.table))
        branch.also_count = (
            F.count(F.lit(1)).alias(_ROWS),
            F.count_if(self._has_unknown_names).alias(_UNKNOWN_ROWS),
        )
        branch.append(rows, self.context.new_stamp({}, self.arrivals.extra))
        run.stamps[self.table] = branch.publish()
        self.appended_rows = int(branch.totals.get(_ROWS) or 0)
        self.unknown_rows = int(branch.totals.get(_UNKNOWN_ROWS) or 0)

    @property
    def _is_encoded(self) -> bool:
        """Whether a payload is not the record itself, so that its fields are known only once it is decoded."""
        codec = self.declared.codec
        return self.declared.change_feed is not None or (codec is not None and codec.needs_schemas)

    @property
    def _has_unknown_names(self) -> Column:
        """Whether a payload has a field that the contract does not; of long files, a part of the rows is looked at."""
        if self._is_encoded:
            return F.lit(False)
        names = unknown_names(self.declared, select_object(self.contract))
        position = F.coalesce(F.col("position"), F.lit(0))
        if isinstance(self.declared.origin, Kafka):  # offsets do not start at 1 in a run
            is_beginning = F.lit(self.arrivals.new <= FULLY_CHECKED_ROWS)
        else:
            is_beginning = position <= F.lit(FULLY_CHECKED_ROWS)
        is_looked_at = is_beginning | (position % F.lit(CHECKED_EVERY) == F.lit(0))
        return F.when(is_looked_at, F.size(names) > F.lit(0))

    def observe(self, changes: Changes, staged: None, counts: Counts, audit: Audit | None) -> Observations:
        """Return the fields of payloads that the contract does not have; only if there are any, a job lists them."""
        if self._is_encoded:
            return Observations()
        if not self.unknown_rows:
            return Observations(drift=())
        stamp = self.current_run.stamp(self.table)
        if stamp is None:
            return Observations()
        rows = self.tables.changed_rows(self.table, self.current_run.number - 1, stamp)
        names = rows.select(F.explode(unknown_names(self.declared, select_object(self.contract))).alias("name"))
        groups = names.groupBy("name").count().orderBy(F.desc("count"), "name").limit(MAX_GROUPS)
        return Observations(drift=unknown_fields([row["name"] for row in groups.collect()], self.contract))
