"""Treaty: the contract as it stands, with keys read as `treaty test` does with parquet."""

from __future__ import annotations

from benchmarks.enforce.task import CONTRACT, Answer, Work
from treaty.spark import KeyReading, Measures, Policy, enforce, write_split

_POLICY = Policy(keys=KeyReading.ALONE)


def check(work: Work) -> Answer:
    """Count what breaks each rule."""
    return _answer(enforce(work.orders, CONTRACT, policy=_POLICY).measures())


def split(work: Work) -> Answer:
    """Write the valid rows and the quarantine with its reasons, and count."""
    return _answer(write_split(enforce(work.orders, CONTRACT, policy=_POLICY), str(work.folder)).measures)


def _answer(measures: Measures) -> Answer:
    counts = {found.rule.id: found.violating_rows for found in measures.results if found.violating_rows is not None}
    return {**counts, "row_count:row_count": measures.rows, "quarantined": measures.quarantined}


CASES = {"check": check, "split": split}
