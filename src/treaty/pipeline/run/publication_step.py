"""The publication layer: check outgoing rows once more, publish them as a table or view, and deliver them to a sink."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pyspark.sql import DataFrame

from treaty.errors import TreatyError
from treaty.pipeline.layers.audit import Audit, Keys, Written, audit
from treaty.pipeline.layers.publications import (
    HASH_KEY,
    Outgoing,
    build_publication,
    check_for_publication,
    next_visible,
    prepare_outgoing,
    select_rows,
)
from treaty.pipeline.layers.publications.view_sql import PinnedInput, ViewQuery, view_query
from treaty.pipeline.plan.reasons import VISIBLE_AT, has_new_visible_rows
from treaty.pipeline.project.declarations import Form, Publication
from treaty.pipeline.project.project_sql import key_columns
from treaty.pipeline.run.changes import (
    AffectedInputs,
    Changes,
    delete_keys,
    detect_changes,
    gather_small,
    materialize,
    restrict_to_affected_keys,
    stored_rows,
)
from treaty.pipeline.run.step_context import Phase, StepContext
from treaty.pipeline.run.summary import Counts, Outcome, StepSummary
from treaty.pipeline.run.template import BranchStep, LayerStep
from treaty.pipeline.sinks import SINKS, Consignment, Published
from treaty.pipeline.sinks.consumer_delivery import PublishedRows, deliver_to_consumer
from treaty.pipeline.tables import CURRENT_OUTCOMES, OUTCOME, Staged, Stamp, table_properties, with_comments
from treaty.pipeline.tables.ddl import create_view, view_stamp
from treaty.pipeline.tables.layout import point_read_layout
from treaty.pipeline.tables.view_states import record_view_state, view_states
from treaty.policy import parse_key_ring
from treaty.spark.schema import select_object, struct_type


class TablePublicationStep(BranchStep[Publication, AffectedInputs, Outgoing]):
    """Publish a table, and deliver it to the sink of the publication's form, if there is one."""

    visible_at: str | None = None
    """For a delayed publication: when the next row becomes visible, as `VISIBLE_AT` has it."""
    bad_rows = 0
    checked_rows = 0

    def run(self) -> StepSummary:
        """Publish what is new, then deliver; a delivery that an earlier run missed is made up for."""
        return self.deliver(super().run())

    def detect_changes(self) -> Changes:
        """Look for new rows; where rows wait for a delay, the passing of time is a change too."""
        changes = detect_changes(self.context)
        if self.declared.delay is None or not changes.is_empty or changes.published is None:
            return changes
        if not has_new_visible_rows(changes.published, self.current_run.now):
            return changes
        return replace(changes, is_full=True, reason="time has passed")

    def ensure_tables(self) -> None:
        """Create or evolve the publication's table."""
        columns = with_comments(struct_type(select_object(self.contract)), self.contract)
        properties = table_properties(self.contract)
        if self.declared.served is not None:
            properties |= point_read_layout(key_columns(self.contract))
        self.tables.ensure(self.table, columns, properties)

    def restrict_to_affected_keys(self, changes: Changes) -> AffectedInputs:
        """Return the input rows of the keys that changed."""
        return restrict_to_affected_keys(self.context, changes, self.declared.inputs, self._key)

    def compute(self, changes: Changes, inputs: AffectedInputs) -> Outgoing:
        """Return the rows that readers may see, with a check of each against the contract."""
        run = self.current_run
        key = parse_key_ring(HASH_KEY, run.hash_secret, "TREATY_HASH_SECRET") if run.hash_secret else None
        rows = build_publication(inputs.frames, self.declared, self.contract, run.now, key=key)
        if self.declared.delay is not None:
            source = select_rows(inputs.frames, self.declared)
            (next_at,) = next_visible(source, self.declared.delay, run.now, self.declared.at).collect()[0]
            self.visible_at = "" if next_at is None else str(next_at)
        if inputs.keys is not None:
            # Spark is slow to plan contract rules on top of joins, so the few rows of some keys are computed first
            rows = materialize(rows)
        return prepare_outgoing(check_for_publication(rows, self.contract))

    def write(self, branch: Staged, changes: Changes, inputs: AffectedInputs, output: Outgoing) -> None:
        """Write the rows in place of those of the same keys, or of all rows."""
        if inputs.keys is None:
            branch.delete_all()
        else:
            delete_keys(branch, inputs, self._key)
        note = changes.rebuild_note(self.current_run.number)
        if self.visible_at is not None:
            note[VISIBLE_AT] = self.visible_at
        branch.append(output.rows, self.context.new_stamp(changes.reflects, note))

    def audit(self, staged: Staged, inputs: AffectedInputs, output: Outgoing) -> Audit:
        """Audit the rows that were written, and then the table that they become."""
        row_audit = output.audit()
        self.checked_rows, self.bad_rows = row_audit.rows, row_audit.bad_rows
        size = staged.count_stored()
        rows = stored_rows(staged.read(), inputs, self._key, size)
        written = None if rows is None else Written(rows, self._key)
        table = gather_small(staged.read(), size)
        table_audit = audit(table, self.contract, self.current_run.now, keys=Keys.CHECKED, written=written)
        return row_audit.combined_with(table_audit)

    def count(self, staged: Staged, audit: Audit | None) -> Counts:
        """Count the rows that were published and those that broke a rule."""
        return Counts(published=self.checked_rows - self.bad_rows, quarantined=self.bad_rows)

    def deliver(self, summary: StepSummary) -> StepSummary:
        """Deliver the published table to the publication's sink and consumers, unless they have these rows already."""
        stamp = self.current_run.stamp(self.table)
        if stamp is None or not summary.outcome.is_good:
            return summary
        delivered: list[str] = []
        problems: list[str] = []
        for deliver in self._deliveries(stamp):
            try:
                delivered += deliver()
            except TreatyError as error:  # the rows stay published, and the next run delivers them
                problems += str(error).splitlines()
        remarks = (*summary.remarks, *delivered)
        if problems:
            return replace(summary, outcome=Outcome.FAILED, reasons=tuple(problems), remarks=remarks)
        if not delivered:
            return summary
        return replace(summary, outcome=Outcome.DONE, why=summary.why or "not delivered yet", remarks=remarks)

    def _deliveries(self, stamp: Stamp) -> Iterator[Callable[[], tuple[str, ...]]]:
        """Yield what delivers the published rows; each returns what it delivered."""
        if self.declared.form in SINKS:
            yield lambda: self._deliver_to_sink(stamp)
        rows = PublishedRows(
            self.declared,
            self.contract,
            self.table,
            stamp,
            self.current_run.project.name,
            self.current_run.number,
            self.current_run.now,
            self.tables,
            self.current_run.sinks,
        )
        for delivery in self.declared.deliveries:
            yield partial(deliver_to_consumer, rows, delivery)

    def _deliver_to_sink(self, stamp: Stamp) -> tuple[str, ...]:
        run = self.current_run
        published = Published(
            self.declared,
            Consignment(self.declared.table, self.contract, stamp.run, run.now),
            run.project.name,
            self.table,
            stamp,
            self.tables.catalog,
            lambda: self.tables.read(self.table, stamp),
            run.sinks,
        )
        remark = SINKS[self.declared.form](published)
        return () if remark is None else (remark,)

    @property
    def _key(self) -> tuple[str, ...]:
        return self.context.key.columns if self.context.key else ()


@dataclass(frozen=True)
class EvaluatedView:
    """The rows of a view, also those that a delay still hides, and the check of each."""

    rows: DataFrame
    outgoing: Outgoing


class ViewPublicationStep(LayerStep[Publication, Mapping[str, PinnedInput], ViewQuery, EvaluatedView]):
    """Replace a view over inputs that are pinned to their current snapshots."""

    def detect_changes(self) -> Changes:
        """Compare the inputs with the recorded state of the view, without Spark; older views have only a stamp."""
        recorded = view_states(self.tables.catalog).get(self.table)
        if recorded:
            return detect_changes(self.context, recorded[0].stamp)
        published = view_stamp(self.current_run.spark, self.tables.namespace, self.table)
        return detect_changes(self.context, published)

    def restrict_to_affected_keys(self, changes: Changes) -> dict[str, PinnedInput]:
        """Pin every input to a snapshot; a view has no keys to restrict to."""
        pinned = {}
        for name in self.declared.inputs:
            table = self.context.tables_by_name[name]
            stamp = changes.inputs[table]
            columns = tuple(self.tables.read(table, stamp).columns)
            outcomes = CURRENT_OUTCOMES if OUTCOME in columns else ()
            pinned[name] = PinnedInput(self.tables.namespace.full_name(table), stamp.snapshot, columns, outcomes)
        return pinned

    def compute(self, changes: Changes, inputs: Mapping[str, PinnedInput]) -> ViewQuery:
        """Return the query of the view."""
        return view_query(self.current_run.spark, self.declared, self.contract, inputs)

    def stage(self, changes: Changes, inputs: Mapping[str, PinnedInput], output: ViewQuery) -> EvaluatedView:
        """Evaluate the query once without storing its rows, so that the audit can count them."""
        self.context.report(Phase.STAGED, changes.reason)
        rows = self.current_run.spark.sql(output.without_delay)
        outgoing = prepare_outgoing(check_for_publication(rows, self.contract))
        outgoing.rows.write.format("noop").mode("overwrite").save()
        return EvaluatedView(rows, outgoing)

    def audit(self, staged: EvaluatedView, inputs: Mapping[str, PinnedInput], output: ViewQuery) -> Audit:
        """Audit all rows of the view."""
        return staged.outgoing.audit().combined_with(audit(staged.rows, self.contract, self.current_run.now))

    def count(self, staged: EvaluatedView, audit: Audit | None) -> Counts:
        """Count the rows of the view."""
        return Counts(published=audit.rows if audit else 0)

    def publish(self, changes: Changes, staged: EvaluatedView, output: ViewQuery) -> None:
        """Create or replace the view in one commit."""
        run = self.current_run
        stamp = self.context.new_stamp(changes.reflects, {})
        self.tables.check_publication()
        create_view(run.spark, self.tables.namespace, self.table, output.text, stamp, run.now)
        record_view_state(self.tables.catalog, self.table, output.text, stamp, run.now)

    def finish(self, changes: Changes, staged: EvaluatedView, counts: Counts, audit: Audit | None) -> StepSummary:
        """Return the summary of a view that was replaced."""
        return replace(super().finish(changes, staged, counts, audit), mode="view")


def publication_step(context: StepContext, publication: Publication) -> LayerStep[Publication, Any, Any, Any]:
    """Return the step that publishes a publication in its form."""
    if publication.form is Form.VIEW:
        return ViewPublicationStep(context, publication)
    return TablePublicationStep(context, publication)
