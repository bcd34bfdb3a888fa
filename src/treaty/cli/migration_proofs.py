"""Proofs of migration paths on Spark, with given or generated rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from treaty.cli.data_tests import DataInput, parse_data
from treaty.cli.spark_session import command_session
from treaty.compatibility.migration import MigrationDirection, MigrationPath
from treaty.errors import InvalidDocument
from treaty.spark.migration.proof import GivenRows, prove
from treaty.spark.readers import explain_errors, open_data, options_for
from treaty.spark.session_options import SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from treaty.compatibility.migration.proof import Proof
    from treaty.settings import Settings


@dataclass(frozen=True)
class ProofRequest:
    """The parameters of a proof."""

    data: str | None
    old_data: str | None
    rows: int
    spark: SparkOptions
    settings: Settings

    @property
    def inputs(self) -> dict[MigrationDirection, DataInput]:
        """The given rows, by the direction in which they are converted."""
        references = {MigrationDirection.BACK: self.data, MigrationDirection.FORWARD: self.old_data}
        password = self.settings.secrets.jdbc_password
        return {way: parse_data(text, None, {}, password) for way, text in references.items() if text is not None}


def run_proof(path: MigrationPath, request: ProofRequest) -> Proof:
    """Convert rows along a migration path and back, on Spark."""
    inputs = request.inputs
    if not path.objects:
        raise InvalidDocument("the two versions have no object in common; there is nothing to prove")
    if inputs and len(path.objects) != 1:
        raise InvalidDocument("--data and --old-data are for contracts with one object; omit them")
    sources = [data.source for data in inputs.values()]
    with command_session(options_for(request.spark, sources)) as (session, progress):
        given = {way: _open(session, path, way, data) for way, data in inputs.items()}
        return prove(session, path, datetime.now(UTC), given=given, rows=request.rows, report=progress.start)


def _open(session: SparkSession, path: MigrationPath, way: MigrationDirection, data: DataInput) -> GivenRows:
    declared = path.objects[0].after if way is MigrationDirection.BACK else path.objects[0].before
    with explain_errors(data.source):
        opened = open_data(session, data.source, declared=declared, options=data.options)
        return GivenRows(opened.frame, str(data.source))
