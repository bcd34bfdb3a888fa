"""What proposed versions would do to the published tables of a pipeline project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.cli.pipeline_project import open_tables
from treaty.cli.registry_connection import requires_extra
from treaty.contracts.findings import Place
from treaty.errors import TreatyError
from treaty.review import ContractReview, ContractState, Review
from treaty.review.data_impact import RowExample, RuleImpact, TableImpact
from treaty.review.report import Section
from treaty.settings import load_settings

if TYPE_CHECKING:
    from treaty.contracts.model import Contract
    from treaty.pipeline.run.proposed_version import ProposedTest
    from treaty.pipeline.tables import Tables

MAX_EXAMPLES = 10


@dataclass(frozen=True)
class ProposedVersion:
    """A version to be tested, and the version that it follows."""

    before: Contract | None
    after: Contract


def measure_impact(folder: Path, proposed: Sequence[ProposedVersion]) -> list[tuple[TableImpact, ...]]:
    """Test the published tables of each proposed version; Spark starts only if the project has such a table."""
    with requires_extra("spark"):
        from treaty.pipeline.project import read_project
        from treaty.pipeline.run.proposed_version import tables_of_contract
    settings = load_settings(None, start=folder)
    project = read_project(folder, settings.limits)
    names = [tables_of_contract(project, version.after.id, _major(version.before)) for version in proposed]
    if not any(names):
        return [() for _ in proposed]
    with open_tables(settings, settings.spark()) as tables:
        return [
            tuple(_measure(tables, table, version) for table in found)
            for version, found in zip(proposed, names, strict=True)
        ]


def add_data_impact(review: Review, folder: Path) -> Review:
    """Return a review with what each changed contract would do to the rows of a project."""
    changed = [contract for contract in review.contracts if _is_testable(contract)]
    versions = [
        ProposedVersion(contract.verdict.before if contract.verdict else None, contract.proposed)
        for contract in changed
        if contract.proposed is not None
    ]
    results = dict(zip((id(contract) for contract in changed), measure_impact(folder, versions), strict=True))
    return replace(
        review, contracts=tuple(_with_data(contract, results.get(id(contract), ())) for contract in review.contracts)
    )


def _is_testable(contract: ContractReview) -> bool:
    return contract.proposed is not None and contract.state in (ContractState.CHANGED, ContractState.ADDED)


def _with_data(contract: ContractReview, data: tuple[TableImpact, ...]) -> ContractReview:
    found = (table.finding(contract.after or "the version", Place(contract.path)) for table in data)
    findings = ((Section.ROWS, finding) for finding in found if finding is not None)
    return replace(contract, data=data, section_findings=(*contract.section_findings, *findings)) if data else contract


def _major(before: Contract | None) -> int | None:
    version = before.semantic_version if before else None
    return version.major if version else None


def _measure(tables: Tables, table: str, version: ProposedVersion) -> TableImpact:
    from treaty.pipeline.run.proposed_version import enforce_proposed

    try:
        return _impact(table, enforce_proposed(tables, table, version.before, version.after, MAX_EXAMPLES))
    except TreatyError as error:  # such as a table that no run has published yet
        return TableImpact(table, problem=str(error))


def _impact(table: str, test: ProposedTest) -> TableImpact:
    report = test.report
    return TableImpact(
        table,
        test.stamp.contract,
        test.stamp.run,
        report.measures.rows,
        report.measures.quarantined,
        test.is_migrated,
        tuple(
            RuleImpact(
                result.rule.id,
                result.rule.field or None,
                result.rule.requirement,
                result.rule.severity,
                result.violating_rows,
            )
            for result in report.notable
        ),
        tuple(RowExample(sample.rule, sample.value, sample.rows, sample.key) for sample in report.samples),
    )
