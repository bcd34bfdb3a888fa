"""Running a proof on Spark: start it, read the rows that are given, send them there and back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from treaty.cli.data_tests import Given as Source
from treaty.cli.data_tests import data as source_of
from treaty.cli.progress import told_steps
from treaty.compatibility.migration import MigrationDirection, MigrationPath
from treaty.errors import InvalidDocument
from treaty.spark.migration.proof import GivenRows, prove
from treaty.spark.readers import explain_errors, open_data, options_for
from treaty.spark.session import active_session, spark_session
from treaty.spark.session_options import SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from treaty.compatibility.migration.proof import Proof
    from treaty.settings import Settings


@dataclass(frozen=True)
class ProofAsked:
    """What a proof is run on."""

    data: str | None
    old_data: str | None
    rows: int
    spark: SparkOptions
    settings: Settings

    @property
    def sources(self) -> dict[MigrationDirection, Source]:
        """The rows that are given, by the way they are served from."""
        said = {MigrationDirection.BACK: self.data, MigrationDirection.FORWARD: self.old_data}
        password = self.settings.secrets.jdbc_password
        return {way: source_of(text, None, {}, password) for way, text in said.items() if text is not None}


def run_proof(path: MigrationPath, asked: ProofAsked) -> Proof:
    """Prove a path; a session that was started for it is stopped again."""
    sources = asked.sources
    if not path.objects:
        raise InvalidDocument("the two versions share no object; there is nothing to prove")
    if sources and len(path.objects) != 1:
        raise InvalidDocument("rows can be given for a contract with one object; leave --data and --old-data out")
    running = active_session()
    with told_steps() as steps:
        steps.tell("starting Spark")
        session = running or spark_session(options_for(asked.spark, [one.source for one in sources.values()]))
        try:
            given = {way: _opened(session, path, way, one) for way, one in sources.items()}
            return prove(session, path, datetime.now(UTC), given=given, rows=asked.rows, tell=steps.tell)
        finally:
            if running is None:
                steps.tell("stopping Spark")
                session.stop()


def _opened(session: SparkSession, path: MigrationPath, way: MigrationDirection, given: Source) -> GivenRows:
    declared = path.objects[0].after if way is MigrationDirection.BACK else path.objects[0].before
    with explain_errors(given.source):
        data = open_data(session, given.source, declared=declared, options=given.options)
        return GivenRows(data.frame, str(given.source))
