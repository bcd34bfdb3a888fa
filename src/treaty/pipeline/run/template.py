"""The template of every pipeline step: detect changes, restrict, compute, stage, audit, publish.

A layer implements the phases in which it differs; `LayerStep.run` calls them in order. Rows are written to a branch of
the table, audited there, and become visible in one commit, or stay on the branch for inspection.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Generic, TypeVar

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.errors import TreatyError
from treaty.pipeline.layers.audit import Audit, Keys, audit
from treaty.pipeline.layers.event_time import EVENT_TIMES, event_time_totals
from treaty.pipeline.project.declarations import Declared
from treaty.pipeline.run.changes import Changes, detect_changes, gather_small
from treaty.pipeline.run.observations import (
    Observations,
    broken_rules,
    count_violations,
    measure_lag,
    payload_drift,
    semantic_values,
    table_drift,
)
from treaty.pipeline.run.step_context import Phase, StepContext
from treaty.pipeline.run.summary import Counts, Outcome, StepSummary
from treaty.pipeline.tables import OUTCOME, OUTCOMES, RUN, Staged
from treaty.spark.columns import VIOLATIONS_COLUMN
from treaty.spark.event_profiles import PROFILE

DeclaredT = TypeVar("DeclaredT", bound=Declared)
InputsT = TypeVar("InputsT")
OutputT = TypeVar("OutputT")
StagedT = TypeVar("StagedT")


class LayerStep(ABC, Generic[DeclaredT, InputsT, OutputT, StagedT]):
    """One step of a layer, for one run: `run` calls the phases. An instance runs once."""

    def __init__(self, context: StepContext, declared: DeclaredT) -> None:
        self.context = context
        self.declared = declared
        self.current_run = context.run
        self.tables = context.run.tables
        self.table = context.table
        self.contract = context.contract

    def run(self) -> StepSummary:
        """Run the phases in order. Readers see the new rows only if the audit passes."""
        changes = self.detect_changes()
        if changes.is_empty:
            return self.skip()
        self.ensure_tables()
        inputs = self.restrict_to_affected_keys(changes)
        output = self.compute(changes, inputs)
        staged = self.stage(changes, inputs, output)
        audit = self.audit(staged, inputs, output)
        counts = self.count(staged, audit)
        if audit is not None:
            self.context.report(Phase.AUDITED, audit.verdict)
            if not audit.passed:
                refused = self.reject(changes, staged, counts, audit)
                return replace(refused, observed=Observations(refused=broken_rules(audit)), rules=audit.results)
        self.publish(changes, staged, output)
        self.context.report(Phase.PUBLISHED)
        summary = replace(self.finish(changes, staged, counts, audit), rules=audit.results if audit else ())
        with suppress(TreatyError, PySparkException):  # the rows are published, whatever can be observed of them
            return replace(summary, observed=self.observe(changes, staged, counts, audit))
        return summary

    def detect_changes(self) -> Changes:
        """Compare the inputs with what the table reflects."""
        return detect_changes(self.context)

    def skip(self) -> StepSummary:
        """Return the summary of a step whose inputs have not changed."""
        return self.context.summary(Outcome.NOTHING_NEW)

    def ensure_tables(self) -> None:
        """Create the tables of the step, or evolve them to the columns of the contract."""

    @abstractmethod
    def restrict_to_affected_keys(self, changes: Changes) -> InputsT:
        """Return the input rows that have to be recomputed."""

    @abstractmethod
    def compute(self, changes: Changes, inputs: InputsT) -> OutputT:
        """Describe the new rows; nothing is written."""

    @abstractmethod
    def stage(self, changes: Changes, inputs: InputsT, output: OutputT) -> StagedT:
        """Write the rows where no reader sees them."""

    @abstractmethod
    def audit(self, staged: StagedT, inputs: InputsT, output: OutputT) -> Audit | None:
        """Check the staged rows against the contract; None if the layer is under no contract."""

    @abstractmethod
    def count(self, staged: StagedT, audit: Audit | None) -> Counts:
        """Count the staged rows by outcome."""

    @abstractmethod
    def publish(self, changes: Changes, staged: StagedT, output: OutputT) -> None:
        """Make the staged rows visible to readers, in one commit."""

    def observe(self, changes: Changes, staged: StagedT, counts: Counts, audit: Audit | None) -> Observations:
        """Return what is observed of the rows that were published."""
        return Observations(semantic=audit.measured if audit else ())

    def reject(self, changes: Changes, staged: StagedT, counts: Counts, audit: Audit) -> StepSummary:
        """Leave the published rows as they are."""
        return self.context.summary(
            Outcome.REFUSED, counts, why=changes.reason, reasons=audit.reasons, remarks=audit.remarks
        )

    def finish(self, changes: Changes, staged: StagedT, counts: Counts, audit: Audit | None) -> StepSummary:
        """Return the summary of a step that was published."""
        remarks = audit.remarks if audit else ()
        return self.context.summary(Outcome.DONE, counts, why=changes.reason, remarks=remarks)


class BranchStep(LayerStep[DeclaredT, InputsT, OutputT, Staged]):
    """A step that writes to a branch of its table, audits it there, and publishes it by moving `main` to the branch."""

    audited_outcome = ""
    """The outcome of the rows that the audit covers."""

    @abstractmethod
    def write(self, branch: Staged, changes: Changes, inputs: InputsT, output: OutputT) -> None:
        """Write the rows to the branch."""

    def stage(self, changes: Changes, inputs: InputsT, output: OutputT) -> Staged:
        """Open a branch and write the rows to it."""
        branch = self.tables.stage(self.table, self.current_run.number, changes.published)
        if not changes.is_full:  # a rebuild writes rows that readers have seen before
            branch.also_count = event_time_totals(self.contract, self._is_audited)
        self.context.report(Phase.STAGED, changes.reason)
        self.write(branch, changes, inputs, output)
        self.context.report(Phase.WRITTEN)
        return branch

    def audit(self, staged: Staged, inputs: InputsT, output: OutputT) -> Audit | None:
        """Audit the whole table as it would be published."""
        table = gather_small(staged.read(), staged.count_stored())
        rows = table.where(F.col(OUTCOME) == F.lit(self.audited_outcome))
        return audit(rows, self.contract, self.current_run.now, keys=Keys.REPLACED)

    def count(self, staged: Staged, audit: Audit | None) -> Counts:
        """Count the rows that this run wrote, by outcome."""
        return count_outcomes(staged)

    def publish(self, changes: Changes, staged: Staged, output: OutputT) -> None:
        """Move `main` to the branch."""
        self.current_run.stamps[self.table] = staged.publish()

    @property
    def _is_audited(self) -> Column | None:
        return F.col(OUTCOME) == F.lit(self.audited_outcome) if self.audited_outcome else None

    def observe(self, changes: Changes, staged: Staged, counts: Counts, audit: Audit | None) -> Observations:
        """Return the lag, the rules that rows were quarantined by, drift of the table, and the declared measures."""
        violations: dict[str, int] = {}
        if counts.quarantined and VIOLATIONS_COLUMN in staged.columns.names:
            violations = count_violations(self.written_rows(staged).where(F.col(OUTCOME) == F.lit("quarantined")))
        elif counts.quarantined and audit:
            violations = {one.rule.id: one.violating_rows for one in audit.results if one.violating_rows}
        judged = counts.accepted + counts.valid + counts.published + counts.quarantined
        return Observations(
            measure_lag(staged.totals.get(EVENT_TIMES), self.current_run.clock(), self.contract),
            violations,
            semantic_values(self.contract, audit, violations, judged),
            (*table_drift(staged.columns, self.contract), *payload_drift(violations, counts.rows_in)),
        )

    def written_rows(self, staged: Staged) -> DataFrame:
        """Return the rows that this run wrote to a table that names the run of each row."""
        return self.tables.read(self.table).where(F.col(RUN) == F.lit(staged.run))

    def reject(self, changes: Changes, staged: Staged, counts: Counts, audit: Audit) -> StepSummary:
        """Leave the published rows as they are, and keep the branch for inspection."""
        branch = staged.abandon()
        return replace(super().reject(changes, staged, counts, audit), mode=changes.mode, branch=branch)

    def finish(self, changes: Changes, staged: Staged, counts: Counts, audit: Audit | None) -> StepSummary:
        """Return the summary, with how the step was computed."""
        summary = super().finish(changes, staged, counts, audit)
        return replace(summary, mode=changes.mode, newest_age=audit.newest_age if audit else None)


_NO_COUNTS = frozenset({EVENT_TIMES, PROFILE})


def outcome_totals(sums: Mapping[str, str] | None = None) -> list[Column]:
    """Return what is counted while rows are written: rows by outcome, and the sums of some columns by name."""
    outcomes = [F.count_if(F.col(OUTCOME) == F.lit(name)).alias(name) for name in OUTCOMES]
    return [*outcomes, *_sums(sums)]


def count_outcomes(staged: Staged) -> Counts:
    """Return the rows that a run wrote, by outcome, and the sums that were counted with them."""
    return Counts(**{name: int(total or 0) for name, total in staged.totals.items() if name not in _NO_COUNTS})


def _sums(sums: Mapping[str, str] | None) -> list[Column]:
    return [F.coalesce(F.sum(column), F.lit(0)).alias(name) for name, column in (sums or {}).items()]
