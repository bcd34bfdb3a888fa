"""The event layer: parse raw rows, check them against the contract, and mark redeliveries."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.pipeline.layers.audit import Audit
from treaty.pipeline.layers.decoding import DecodedRows, decode, names_schema_ids, schema_ids
from treaty.pipeline.layers.events import (
    check_events,
    event_columns,
    identity_columns,
    known_identities,
    mark_redeliveries,
)
from treaty.pipeline.project.declarations import Source
from treaty.pipeline.run.changes import COLLECTED_KEY_LIMIT, Changes, gather
from treaty.pipeline.run.observations import Observations, count_by
from treaty.pipeline.run.summary import Counts
from treaty.pipeline.run.template import BranchStep, outcome_totals
from treaty.pipeline.tables import OUTCOME, RUN, Staged, table_properties, with_comments
from treaty.spark.schema import column_name, select_object


class EventStep(BranchStep[Source, DataFrame, DataFrame]):
    """Append one event for each new raw row, or rewrite all events."""

    audited_outcome = "accepted"
    is_small = False
    """Whether few raw rows are new."""

    def ensure_tables(self) -> None:
        """Create or evolve the table of events."""
        is_feed = self.declared.change_feed is not None
        columns = with_comments(event_columns(self.contract, is_change_feed=is_feed), self.contract)
        self.tables.ensure(self.table, columns, table_properties(self.contract), [OUTCOME])

    def restrict_to_affected_keys(self, changes: Changes) -> DataFrame:
        """Return the raw rows that arrived since the last run; each is one event."""
        (raw_table,) = self.context.step.reads
        since = changes.reflected_run(raw_table)
        rows = self.tables.changed_rows(raw_table, since, changes.inputs[raw_table])
        self.is_small = self.tables.rows_added_since(raw_table, since) <= COLLECTED_KEY_LIMIT
        return rows.coalesce(1) if self.is_small else rows

    def compute(self, changes: Changes, inputs: DataFrame) -> DataFrame:
        """Return the events, each with its outcome."""
        known = None
        decoded = self._decode(inputs)
        if not changes.is_full:
            accepted = self.tables.current_rows(self.table, changes.published)
            known = known_identities(accepted, decoded.rows, self.declared, self.contract)
            known = gather(known, self.tables.file_stats(self.table).rows) if self.is_small else known
        checked = check_events(decoded.rows, self.declared, self.contract, decoded.rules)
        events = mark_redeliveries(checked, known, identity_columns(self.declared, self.contract))
        return events.withColumn(RUN, F.lit(self.current_run.number))

    def _decode(self, raw: DataFrame) -> DecodedRows:
        """Return the raw rows with JSON records as payloads; the schemas that their headers name are resolved."""
        source, run = self.declared, self.current_run
        if source.codec is None or not source.codec.needs_schemas:
            return decode(raw, source, self.contract)
        from treaty.pipeline.run.writer_schemas import plain_schema, writer_schemas

        if not names_schema_ids(source):
            plain = plain_schema(run.spark, source, self.contract)
            return decode(raw, source, self.contract, plain=plain)
        ids = [row["id"] for row in schema_ids(raw).collect()]
        schemas = run.resolver().resolve(source, ids)
        return decode(raw, source, self.contract, writer_schemas(run.spark, source, self.contract, schemas))

    def write(self, branch: Staged, changes: Changes, inputs: DataFrame, output: DataFrame) -> None:
        """Append the events; a rebuild replaces all of them."""
        if changes.is_full:
            branch.delete_all()
        note = changes.rebuild_note(self.current_run.number)
        branch.append(output, self.context.new_stamp(changes.reflects, note), outcome_totals())

    def count(self, staged: Staged, audit: Audit | None) -> Counts:
        """Count the events by outcome; together they are the rows that came in."""
        counts = super().count(staged, audit)
        total = counts.accepted + counts.duplicate + counts.conflicting + counts.quarantined + counts.control
        return replace(counts, rows_in=total)

    def observe(self, changes: Changes, staged: Staged, counts: Counts, audit: Audit | None) -> Observations:
        """Count the new events by the fields that the source counts by."""
        columns = {field.name: column_name(field) for field in select_object(self.contract).fields}
        rows = self.written_rows(staged)
        by = {name: count_by(rows, columns[name]) for name in self.declared.count_by if name in columns}
        return replace(super().observe(changes, staged, counts, audit), rows_by=by)
