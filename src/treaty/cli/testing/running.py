"""Running one test on Spark: start it, read the data, hold them to the contract."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from treaty.cli.progress import Steps, told_steps
from treaty.cli.testing.asking import Given, Request
from treaty.spark import KeyReading, enforce
from treaty.spark.drift import Texts
from treaty.spark.progress import share_done
from treaty.spark.reading import Data, Files, explained, open_data, options_for
from treaty.spark.schema import the_object
from treaty.spark.session import active_session, spark_session
from treaty.spark.testing import Asked, TestReport, report_on

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from treaty.contracts import Contract
    from treaty.contracts.model import SchemaObject


def run_test(asked: Request, contract: Contract) -> TestReport:
    """Run the test; a session that was started for it is stopped again."""
    declared = the_object(contract, asked.object_name)
    if asked.quarantine is not None:
        read = tuple(source.path for source in asked.sources if isinstance(source, Files))
        asked.quarantine.refuse_unless_free(read)
    running = active_session()
    with told_steps() as steps:
        steps.tell("starting Spark")
        session = running or spark_session(options_for(asked.spark, asked.sources))
        try:
            with steps.measured_by(share_done(session)):
                return _tested(session, asked, contract, declared, steps)
        finally:
            if running is None:
                steps.tell("stopping Spark")
                session.stop()


def _tested(
    session: SparkSession, asked: Request, contract: Contract, declared: SchemaObject, steps: Steps
) -> TestReport:
    what = asked.data.source
    steps.tell(f"reading {what}")
    data = _opened(session, asked.data, declared)
    others = {
        name: _opened(session, given, next((item for item in contract.schema if item.name == name), None)).frame
        for name, given in asked.references.items()
    }
    with explained(what):
        keys = KeyReading.ALONE if data.keeps_columns_apart else KeyReading.WITH_ROWS
        policy = replace(asked.policy, keys=keys)
        enforcement = enforce(data.frame, contract, object_name=declared.name, policy=policy, references=others)
        texts = Texts.UNTYPED if data.untyped else Texts.TYPED
        wanted = Asked(asked.now, asked.samples, asked.allowed, asked.quarantine, texts)
        return report_on(enforcement, str(what), wanted, steps.tell)


def _opened(session: SparkSession, given: Given, declared: SchemaObject | None) -> Data:
    return open_data(session, given.source, declared=declared, options=given.options)
