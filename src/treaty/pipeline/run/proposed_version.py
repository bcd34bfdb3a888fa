"""Tests the published tables of a project against a proposed version of their contract."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from treaty.compatibility.migration import Shim, migration_path
from treaty.contracts.model import Contract, locate_fields
from treaty.errors import TreatyError
from treaty.pipeline.project.declarations import Project, table_of
from treaty.pipeline.tables import Stamp, Tables
from treaty.pipeline.tables.table_reader import published_rows
from treaty.spark import KeyReading, Policy, enforce
from treaty.spark.columns import quoted_col
from treaty.spark.migration.proof import apply_shim
from treaty.spark.report import DataTestOptions, TestReport, run_data_test
from treaty.spark.report.samples import Sample
from treaty.spark.schema import is_classified, select_object
from treaty.spark.violations import MASKED_VALUE

_PLATFORM_PREFIX = "_"


@dataclass(frozen=True)
class ProposedTest:
    """The test of one table: the snapshot that was read, and whether its rows were migrated first."""

    stamp: Stamp
    report: TestReport
    is_migrated: bool


def tables_of_contract(project: Project, contract: str, major: int | None) -> tuple[str, ...]:
    """Return the tables of a project that are published under a line, or under any line of a contract."""
    lines = [(declared.line, table_of(declared)) for declared in project]
    return tuple(table for line, table in lines if line.contract == contract and major in (None, line.major))


def enforce_proposed(
    tables: Tables, table: str, before: Contract | None, after: Contract, samples: int
) -> ProposedTest:
    """Enforce a proposed version on the published rows of a table, as `treaty test` does.

    Rows of an earlier line are migrated first, if the migration path can compute every field.
    """
    stamp, rows = published_rows(tables, table)
    rows = rows.select(*(quoted_col(name) for name in rows.columns if not name.startswith(_PLATFORM_PREFIX)))
    shim = None if before is None else _forward(before, after)
    rows = rows if shim is None else apply_shim(rows, shim)
    report = _report(rows, after, table, samples)
    hidden = _declassified(before, after) if before is not None else frozenset()
    if hidden:
        report = replace(report, samples=tuple(_mask(report, after, hidden)))
    return ProposedTest(stamp, report, shim is not None)


def _report(rows: DataFrame, contract: Contract, table: str, samples: int) -> TestReport:
    enforcement = enforce(rows, contract, policy=Policy(keys=KeyReading.ALONE))
    return run_data_test(enforcement, table, DataTestOptions(samples=samples))


def _forward(before: Contract, after: Contract) -> Shim | None:
    """Return how rows of an earlier line become rows of the proposed one; None within a line, or if it is blocked."""
    if before.line == after.line:
        return None
    try:
        path = migration_path(before, after)
        name = select_object(after).name
    except TreatyError:  # an invalid plan is a finding of the review
        return None
    shim = next((item.forward for item in path.objects if item.after.name == name), None)
    return None if shim is None or shim.blocked else shim


def _declassified(before: Contract, after: Contract) -> frozenset[str]:
    """Return the fields that are classified in the published version, and not in the proposed one."""
    still = {str(path) for path, field, _ in locate_fields(after) if is_classified(field)}
    return frozenset(str(path) for path, field, _ in locate_fields(before) if is_classified(field)) - still


def _mask(report: TestReport, after: Contract, hidden: Collection[str]) -> Iterator[Sample]:
    """Yield samples without the values that are classified today; a rule on unknown fields may show one of them."""
    known = {str(path) for path, _, _ in locate_fields(after)}
    fields = {result.rule.id: result.rule.field for result in report.measures.results}
    for sample in report.samples:
        field = fields.get(sample.rule, "")
        is_open = field in known and not any(_is_inside(field, name) or _is_inside(name, field) for name in hidden)
        value = sample.value if is_open or sample.value is None else MASKED_VALUE
        key = tuple((name, MASKED_VALUE if name in hidden and text else text) for name, text in sample.key)
        yield replace(sample, value=value, key=key)


def _is_inside(path: str, parent: str) -> bool:
    return path == parent or path.startswith((f"{parent}.", f"{parent}["))
