"""Runs over topics that cannot be read: one error for each, which names topic, brokers and setting."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.kafka import Kafka
from tests.pipeline.layers.arrivals import contract
from tests.pipeline.projects import laid_out
from treaty.cli.schema_resolution import schema_resolver
from treaty.contracts.versions import Line
from treaty.kafka.broker import HOST, free_port
from treaty.pipeline.project import read_project
from treaty.pipeline.run import Outcome, RunEnvironment, RunOptions, run_project
from treaty.pipeline.tables import Tables
from treaty.settings import load_settings

SECURITY = "security: {protocol: SHOP_PROTOCOL, mechanism: SHOP_MECHANISM, user: SHOP_USER, password: SHOP_PASSWORD}\n"


def test_each_fault_is_one_error_and_nothing_is_published(
    spark: SparkSession, tmp_path: Path, kafka: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in kafka.environment(kafka.secured, password="wrong").items():  # noqa: S106
        monkeypatch.setenv(f"SHOP_{name.upper()}", value)
    closed = f"{HOST}:{free_port()}"
    existing, framed = kafka.create_topic("existing"), kafka.create_topic("framed")
    kafka.produce(framed, [b"\x00\x00\x00\x00\x01value"])
    sources = {
        "closed_brokers": f"topic: {existing}\nbootstrap: {closed}\n",
        "closed_registry": f"topic: {framed}\nbootstrap: {kafka.bootstrap}\nvalue: avro\n"
        f"schema_registry: {{url: 'http://{closed}'}}\n",
        "no_variable": f"topic: {existing}\nbootstrap: {kafka.secured}\n"
        "security: {user: NOT_SET, password: NOR_SET}\n",
        "unknown_topic": f"topic: {existing}s\nbootstrap: {kafka.bootstrap}\n",
        "wrong_password": f"topic: {existing}\nbootstrap: {kafka.secured}\n{SECURITY}",
    }
    contracts = {Line(f"shop.{name}", 1): contract(name, {"id": {"required": True}}) for name in sources}
    declared = {f"sources/{name}.yaml": f"contract: shop.{name}@1\n{text}" for name, text in sources.items()}
    folder = laid_out(tmp_path, {"treaty.yaml": "name: shop\n", **declared})
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.topic_faults")
    tables = Tables(spark, "lake.topic_faults")
    project = read_project(folder)
    environment = RunEnvironment(schema_resolver=schema_resolver(project, load_settings(None, start=folder)))

    summary = run_project(tables, project, contracts, RunOptions(), environment)

    failed = {step.table: step.reasons for step in summary.steps if step.outcome is Outcome.FAILED}
    assert {table: len(reasons) for table, reasons in failed.items()} == {
        "raw.closed_brokers": 1,
        "events.closed_registry": 1,
        "raw.no_variable": 1,
        "raw.unknown_topic": 1,
        "raw.wrong_password": 1,
    }
    expected = {
        "raw.closed_brokers": (
            f"the brokers at {closed} cannot be reached for topic {existing}: ",
            f"check that they run, and bootstrap in {folder}/sources/closed_brokers.yaml:1",
        ),
        "events.closed_registry": (
            f"the schema registry at http://{closed} cannot be reached",
            "check schema_registry.url of the source; nothing of this batch was published",
        ),
        "raw.no_variable": (
            f"{folder}/sources/no_variable.yaml:1: the environment has no ",
            "NOT_SET (security.user), NOR_SET (security.password); set it, or correct its name",
        ),
        "raw.unknown_topic": (f"there is no topic {existing}s at {kafka.bootstrap}", f"did you mean '{existing}'"),
        "raw.wrong_password": (
            f"the brokers at {kafka.secured} refused to sign in for topic {existing}: ",
            f"check the variables that security names in {folder}/sources/wrong_password.yaml:1",
        ),
    }
    assert {
        table: all(text in failed[table][0] for text in texts) for table, texts in expected.items()
    } == dict.fromkeys(expected, True), failed
    assert {table: tables.stamp(table) for table in ("events.closed_registry", "raw.closed_brokers")} == {
        "events.closed_registry": None,
        "raw.closed_brokers": None,
    }
