"""The reconciliation layer: settle the keys that products or acceptances changed, or hold them with exceptions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.pipeline.layers.audit import Audit
from treaty.pipeline.layers.reconciliation import (
    Reconciled,
    exception_columns,
    reconcile,
    reconciled_columns,
    update_exceptions,
)
from treaty.pipeline.layers.reconciliation.claims import claim_facts
from treaty.pipeline.layers.reconciliation.reconciliation_tables import key_columns
from treaty.pipeline.project.declarations import Reconciliation, acceptances_table, exceptions_table
from treaty.pipeline.run.changes import (
    AffectedInputs,
    Changes,
    delete_keys,
    detect_changes,
    gather_small,
    materialize,
    replace_keys,
    restrict_to_affected_keys,
    stored_rows,
)
from treaty.pipeline.run.summary import Counts, StepSummary
from treaty.pipeline.run.template import BranchStep, outcome_totals
from treaty.pipeline.tables import RUN, Staged, table_properties, with_comments
from treaty.spark.columns import quoted_col

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class ExceptionCounts:
    """How many exceptions this run opened and closed, and how many are open now."""

    opened: int
    closed: int
    still_open: int
    oldest: datetime | None = None
    """When the oldest open exception was first seen."""


class ReconciliationStep(BranchStep[Reconciliation, AffectedInputs, Reconciled]):
    """Replace the keys that new claims or acceptances affect. Exceptions are published before the reconciled rows."""

    audited_outcome = "resolved"
    exceptions = ExceptionCounts(0, 0, 0)

    def detect_changes(self) -> Changes:
        """Look for new rows of products, and for new acceptances."""
        return detect_changes(self.context, optional=(self._acceptances_table,))

    def ensure_tables(self) -> None:
        """Create or evolve the tables of reconciled keys and of exceptions."""
        properties = table_properties(self.contract)
        columns = with_comments(reconciled_columns(self.contract), self.contract)
        self.tables.ensure(self.table, columns, properties)
        self.tables.ensure(self._exceptions_table, exception_columns(self.contract), properties)

    def restrict_to_affected_keys(self, changes: Changes) -> AffectedInputs:
        """Return the claims on keys that changed, or for which an exception was accepted."""
        key = key_columns(self.contract)
        accepted = self._acceptances(changes)
        accepted_keys = None
        if accepted is not None:
            new = accepted.where(F.col(RUN) > F.lit(changes.reflected_run(self._acceptances_table)))
            accepted_keys = new.select(*map(quoted_col, key)).distinct()
        products = tuple(dict.fromkeys(claim.product for claim in self.declared.claims))
        return restrict_to_affected_keys(self.context, changes, products, key, accepted_keys)

    def compute(self, changes: Changes, inputs: AffectedInputs) -> Reconciled:
        """Reconcile the claims; rows and exceptions are computed together, once."""
        claims = {claim.name: inputs.frames[claim.product] for claim in self.declared.claims}
        products = {product.name: self.current_run.contract(product) for product in self.current_run.project.products}
        facts = claim_facts(self.declared, self.contract, products)
        result = reconcile(
            claims,
            self._acceptances(changes),
            self.declared,
            self.contract,
            unique=facts.unique,
            classified=facts.classified,
        )
        return result.with_rows(materialize(result.checked))

    def stage(self, changes: Changes, inputs: AffectedInputs, output: Reconciled) -> Staged:
        """Publish the exceptions, and write the reconciled rows to a branch."""
        self.exceptions = self._publish_exceptions(inputs, output)
        return super().stage(changes, inputs, output)

    def write(self, branch: Staged, changes: Changes, inputs: AffectedInputs, output: Reconciled) -> None:
        """Write the rows in place of the rows of the same keys."""
        columns = with_comments(reconciled_columns(self.contract), self.contract)
        stamp = self.context.new_stamp(changes.reflects, {})
        replace_keys(branch, output.rows, inputs, columns, key_columns(self.contract), stamp, outcome_totals())

    def count(self, staged: Staged, audit: Audit | None) -> Counts:
        """Count the keys by outcome, and the exceptions that were opened and closed."""
        counts = super().count(staged, audit)
        return replace(counts, exceptions_opened=self.exceptions.opened, exceptions_closed=self.exceptions.closed)

    def reject(self, changes: Changes, staged: Staged, counts: Counts, audit: Audit) -> StepSummary:
        """Keep the branch for inspection; the exceptions are published already."""
        return self._with_exceptions(super().reject(changes, staged, counts, audit))

    def finish(self, changes: Changes, staged: Staged, counts: Counts, audit: Audit | None) -> StepSummary:
        """Return the summary with the number of open exceptions."""
        return self._with_exceptions(super().finish(changes, staged, counts, audit))

    def _publish_exceptions(self, inputs: AffectedInputs, output: Reconciled) -> ExceptionCounts:
        """Update the exceptions of the keys that were recomputed."""
        run, table = self.current_run, self._exceptions_table
        branch = self.tables.stage(table, run.number)
        before, size = self.tables.read(table, branch.base), self.tables.file_stats(table).rows
        keys = inputs.keys
        if keys is None:
            own = output.checked.select(*map(quoted_col, output.key))
            keys = own.unionByName(before.select(*map(quoted_col, output.key))).distinct()
        stored = stored_rows(before, inputs, output.key, size)
        earlier = before if stored is None else stored
        rows = update_exceptions(output.exceptions, earlier, keys, _timestamp(run.now), run.number)
        if inputs.keys is None:
            branch.delete_all()
        else:
            delete_keys(branch, inputs, output.key)
        branch.append(rows.coalesce(1) if inputs.is_small else rows, self.context.new_stamp({}, {}))
        branch.publish()
        is_new, is_open = F.col(RUN) == F.lit(run.number), F.col("state") == "open"
        row = (
            gather_small(self.tables.read(table), branch.file_stats.rows)
            .agg(
                F.count_if(is_new & is_open & (F.col("first_seen") == _timestamp(run.now))).alias("opened"),
                F.count_if(is_new & (F.col("state") == "resolved")).alias("closed"),
                F.count_if(is_open).alias("open"),
                F.min(F.when(is_open, F.unix_micros("first_seen"))).alias("oldest"),
            )
            .collect()[0]
        )
        oldest = None if row["oldest"] is None else _EPOCH + timedelta(microseconds=row["oldest"])
        return ExceptionCounts(row["opened"], row["closed"], row["open"], oldest)

    def _with_exceptions(self, summary: StepSummary) -> StepSummary:
        oldest = self.exceptions.oldest
        age = None if oldest is None else max(0.0, (self.current_run.now - oldest).total_seconds())
        return replace(summary, exceptions_open=self.exceptions.still_open, oldest_exception_age=age)

    @property
    def _exceptions_table(self) -> str:
        return exceptions_table(self.context.step.name)

    @property
    def _acceptances_table(self) -> str:
        return acceptances_table(self.context.step.name)

    def _acceptances(self, changes: Changes) -> DataFrame | None:
        stamp = changes.inputs.get(self._acceptances_table)
        return None if stamp is None else self.tables.read(self._acceptances_table, stamp)


def _timestamp(moment: datetime) -> Column:
    return F.timestamp_micros(F.lit((moment - _EPOCH) // timedelta(microseconds=1)).cast("long"))
