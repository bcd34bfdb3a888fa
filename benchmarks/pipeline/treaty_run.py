"""The retail project under contract: raw, events, products, reconciliation and publications."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.pipeline.progress import report_progress
from treaty.pipeline.layers.publications import HASH_KEY
from treaty.pipeline.project import read_project
from treaty.pipeline.project.contract_resolution import resolve_contracts
from treaty.pipeline.run import RunEnvironment, RunSummary, run_project
from treaty.pipeline.tables import Tables
from treaty.policy import parse_key_ring

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from treaty.pipeline.project.declarations import Project

CATALOG = "retail"
_SECRET = "secret of the benchmark"  # noqa: S105  it keeps nothing secret
_LONGEST = 6


def run(spark: SparkSession, folder: Path) -> None:
    """Run the project in a workspace over whatever is new there."""
    project = _project(folder)
    contracts = resolve_contracts(project, [folder / "contracts"])
    summary = run_project(
        Tables(spark, CATALOG), project, dict(contracts.by_line), environment=RunEnvironment(hash_secret=_SECRET)
    )
    _tell_longest(summary)
    if not summary.succeeded:
        reasons = "; ".join(f"{step.name}: {', '.join(step.reasons)}" for step in summary.unsuccessful)
        raise RuntimeError(f"the run did not succeed: {reasons}")


def hash_key_of(folder: Path, table: str) -> bytes:
    """Return the key of the hashes of a published table."""
    publication = next(one for one in _project(folder).publications if one.table == table)
    key = parse_key_ring(HASH_KEY, _SECRET, "the secret of the benchmark")
    return key.derive(f"hash {publication.line} {publication.table}")


def _project(folder: Path) -> Project:
    return read_project(folder / "pipeline")


def _tell_longest(summary: RunSummary) -> None:
    longest = sorted(summary.steps, key=lambda step: step.seconds, reverse=True)[:_LONGEST]
    said = ", ".join(f"{step.layer} {step.name} {step.seconds:.0f} s" for step in longest)
    report_progress(f"  the longest steps, three at a time: {said}")
