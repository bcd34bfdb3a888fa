"""Check of outgoing rows against the consumer contract, row by row, while they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract
from treaty.pipeline.layers.audit import MAX_SAMPLES, Audit, is_row_rule
from treaty.spark.columns import quoted_col
from treaty.spark.enforcement import Enforcement, enforce
from treaty.spark.measures import RuleMeasure
from treaty.spark.report.samples import collect_samples
from treaty.spark.rules import RuleSet

_ROWS, _BAD = "rows", "bad"


def check_for_publication(rows: DataFrame, contract: Contract) -> Enforcement:
    """Check the rules on single rows; rules on the table are left to `audit`."""
    enforcement = enforce(rows, contract)
    row_rules = tuple(item for item in enforcement.book.all if is_row_rule(item))
    return replace(enforcement, book=RuleSet(row_rules, enforcement.book.unchecked))


@dataclass(frozen=True)
class Outgoing:
    """Rows to write once; while they are written, those that break a rule are counted."""

    judged: Enforcement
    rows: DataFrame
    """The rows that conform, with the schema of the contract; call `audit` after writing them."""
    counted: Observation

    def audit(self) -> Audit:
        """Return the audit of the rows after they were written; only broken rules cost another Spark job."""
        found: dict[str, Any] = self.counted.get
        # over Spark Connect, some writes do not return their counts
        return self._audit_without_errors(found) if found.get(_BAD) == 0 else self._audit_with_errors()

    def _audit_without_errors(self, found: dict[str, Any]) -> Audit:
        results = []
        for position, item in enumerate(self.judged.book.all):
            broken = int(found.get(_counter(position)) or 0)
            results.append(RuleMeasure(item.rule, item.rule.allows.holds(broken, found[_ROWS]), broken=broken))
        return self._audit(found[_ROWS], results)

    def _audit_with_errors(self) -> Audit:
        measured = self.judged.measures()
        bad = measured.quarantined
        samples = collect_samples(self.judged.quarantined, self.judged.schema, MAX_SAMPLES) if bad else ()
        audit = self._audit(measured.rows, measured.results)
        return replace(audit, bad_rows=bad, samples=samples)

    def _audit(self, rows: int, results: Sequence[RuleMeasure]) -> Audit:
        held = self.judged
        return Audit(held.contract.id, held.contract.version, rows, tuple(results), held.unchecked)


def prepare_outgoing(judged: Enforcement) -> Outgoing:
    """Prepare checked rows for writing: one job writes them and counts broken rules."""
    counted = Observation()
    warnings = [
        F.count_if(condition).alias(_counter(position))
        for position, condition in judged.broken_conditions()
        if judged.book.all[position].rule.severity is not Severity.ERROR
    ]
    counters = [F.count(F.lit(1)).alias(_ROWS), F.count_if(~judged.stays).alias(_BAD), *warnings]
    rows = judged.judged.observe(counted, *counters).where(judged.stays).select(*map(quoted_col, judged.prepared.typed))
    return Outgoing(judged, rows, counted)


def _counter(position: int) -> str:
    return f"broken_{position}"
