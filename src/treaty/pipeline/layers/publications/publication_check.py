"""The contract on the way out: rows are judged one by one while they are written, and then there is a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract
from treaty.pipeline.layers.audit import SAMPLES, Audit, is_row_rule
from treaty.spark.columns import quoted_col
from treaty.spark.enforcement import Enforcement, enforce
from treaty.spark.measures import RuleMeasure
from treaty.spark.report.samples import collect_samples
from treaty.spark.rules import RuleSet

_ROWS, _BAD = "rows", "bad"


def judged_for_publication(rows: DataFrame, contract: Contract) -> Enforcement:
    """Hold rows to the rules that speak of single rows; rules on the whole are for `audit`."""
    held = enforce(rows, contract)
    chosen = tuple(item for item in held.book.all if is_row_rule(item))
    return replace(held, book=RuleSet(chosen, held.book.unchecked))


@dataclass(frozen=True)
class Outgoing:
    """Rows to be written once, with a count of those that break a rule taken on the way."""

    judged: Enforcement
    rows: DataFrame
    """The rows that keep every rule, by the contract's schema; whoever writes them asks for the audit after that."""
    counted: Observation

    def audit(self) -> Audit:
        """Say, after the rows were written, whether all of them may be seen; only broken rules cost another job."""
        found: dict[str, Any] = self.counted.get
        # not every write over Connect brings its counts back
        return self._sound(found) if found.get(_BAD) == 0 else self._measured()

    def _sound(self, found: dict[str, Any]) -> Audit:
        results = []
        for place, item in enumerate(self.judged.book.all):
            broken = int(found.get(_number(place)) or 0)
            results.append(RuleMeasure(item.rule, item.rule.allows.holds(broken, found[_ROWS]), broken=broken))
        return self._audit(found[_ROWS], results)

    def _measured(self) -> Audit:
        measured = self.judged.measures()
        bad = measured.quarantined
        samples = collect_samples(self.judged.quarantined, self.judged.schema, SAMPLES) if bad else ()
        audit = self._audit(measured.rows, measured.results)
        return replace(audit, bad_rows=bad, samples=samples)

    def _audit(self, rows: int, results: Sequence[RuleMeasure]) -> Audit:
        held = self.judged
        return Audit(held.contract.id, held.contract.version, rows, tuple(results), held.unchecked)


def outgoing(judged: Enforcement) -> Outgoing:
    """Prepare judged rows for being written: one job writes them and counts what is wrong with them."""
    counted = Observation()
    lesser = [
        F.count_if(condition).alias(_number(place))
        for place, condition in judged.broken_conditions()
        if judged.book.all[place].rule.severity is not Severity.ERROR
    ]
    counters = [F.count(F.lit(1)).alias(_ROWS), F.count_if(~judged.stays).alias(_BAD), *lesser]
    rows = judged.judged.observe(counted, *counters).where(judged.stays).select(*map(quoted_col, judged.prepared.typed))
    return Outgoing(judged, rows, counted)


def _number(place: int) -> str:
    return f"broken_{place}"
