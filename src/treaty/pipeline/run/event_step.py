"""The event layer: parse raw rows, check them against the contract, and mark redeliveries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from math import isfinite

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.events.drift import MIN_EVENTS, Profile, ProfileLayout, layout_of
from treaty.events.event_times import event_time_field
from treaty.pipeline.layers.audit import Audit
from treaty.pipeline.layers.decoding import DecodedRows, decode, names_schema_ids, schema_ids
from treaty.pipeline.layers.events import (
    ARRIVED_AT,
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
from treaty.spark.event_profiles import PROFILE, profile_totals, read_profile, with_codes
from treaty.spark.schema import column_name, select_object

MAX_PROFILED_EVENTS = 20_000
"""About as many events are profiled; of larger runs, those of a share of the keys."""


class EventStep(BranchStep[Source, DataFrame, DataFrame]):
    """Append one event for each new raw row, or rewrite all events."""

    audited_outcome = "accepted"
    new_rows: float = 0
    """Number of new raw rows; infinite if it is not known."""

    @property
    def is_small(self) -> bool:
        """Whether few raw rows are new."""
        return self.new_rows <= COLLECTED_KEY_LIMIT

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
        self.new_rows = self.tables.rows_added_since(raw_table, since)
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
        if self._is_profiled(changes):
            branch.also_count = (*branch.also_count, *profile_totals(self.layout))
            branch.add_counted_columns = self._with_codes
        note = changes.rebuild_note(self.current_run.number)
        branch.append(output, self.context.new_stamp(changes.reflects, note), outcome_totals())

    @cached_property
    def layout(self) -> ProfileLayout:
        """What is profiled of the events."""
        timed = event_time_field(self.contract)
        return layout_of(self.contract, timed.name if timed else None)

    def _is_profiled(self, changes: Changes) -> bool:
        """Whether the events are profiled: enough of them, which no reader has seen before."""
        is_new = not changes.is_full or changes.published is None
        return is_new and self.new_rows >= MIN_EVENTS and bool(self.layout.metrics)

    def _with_codes(self, rows: DataFrame) -> DataFrame:
        share = min(1.0, MAX_PROFILED_EVENTS / self.new_rows) if isfinite(self.new_rows) else 1.0
        is_accepted = F.col(OUTCOME) == F.lit(self.audited_outcome)
        return with_codes(rows, self.layout, is_counted=is_accepted, arrived_at=ARRIVED_AT, share=share)

    def _profile(self, staged: Staged, counts: Counts, violations: Mapping[str, int]) -> Profile | None:
        """Return the profile that was counted, with the rules that refused events."""
        run, at = self.current_run.number, self.current_run.now
        version = self.contract.version
        profile = read_profile(staged.totals.get(PROFILE), self.layout, version=version, run=run, at=at)
        received = counts.accepted + counts.quarantined
        return profile and profile.model_copy(update={"received": received, "violations": dict(violations)})

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
        observed = super().observe(changes, staged, counts, audit)
        return replace(observed, rows_by=by, profile=self._profile(staged, counts, observed.violations))
