"""The OpenLineage events of real runs: what they say, and who takes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.run.kiosk import NOW, Kiosk, books, contracts, open_kiosk, ordered, paid
from tests.pipeline.run.openlineage_java import JavaClient
from tests.registry.backends import Clock, bearer_of, serving
from treaty.contracts.odcs import write_odcs
from treaty.contracts.text.writer import write_json
from treaty.observability.lineage_events import as_data
from treaty.pipeline.plan import plan
from treaty.pipeline.plan.contract_lineage import contract_lineage
from treaty.pipeline.project import read_project
from treaty.pipeline.run import RunSummary
from treaty.pipeline.run.event_delivery import EventTargets, deliver
from treaty.pipeline.run.run_events import run_ended, run_started, tables_below
from treaty.registry.service import Registry

OWNED = {"team": {"name": "kiosk"}}
BOOKS = {"namespace": "s3://lake", "name": "kiosk/publications/books_v1"}
SALES = {"namespace": "s3://lake", "name": "kiosk/reconciliation/sales"}
NOTICE = {
    "sunset_date": "2026-09-01",
    "replacement": "kiosk.books@2",
    "migration_guide": "https://wiki.example.org/books",
}


def events_of(kiosk: Kiosk, summary: RunSummary) -> list[dict[str, Any]]:
    planned = plan(read_project(kiosk.folder), kiosk.contracts)
    locate = tables_below("s3://lake", "kiosk")
    started = run_started("shop", summary.project, summary.started_at)
    return as_data([*started, *run_ended("shop", planned, summary, locate)])


def event(events: list[dict[str, Any]], job: str, kind: str) -> dict[str, Any]:
    (match,) = [one for one in events if (one["job"]["name"], one["eventType"]) == (job, kind)]
    return match


@pytest.fixture(scope="module")
def kiosk(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Kiosk:
    opened = open_kiosk(spark, tmp_path_factory.mktemp("events") / "kiosk", "lineage_events")
    opened.contracts = contracts(books=books(deprecation=NOTICE))
    return opened


@pytest.fixture(scope="module")
def published(kiosk: Kiosk) -> list[dict[str, Any]]:
    """Return the events of a run that published everything."""
    kiosk.deliver("ordered", [ordered(1, "A", 1, 10), ordered(2, "B", 1, 20)])
    kiosk.deliver("paid", [paid(1, "A", 10)])
    return events_of(kiosk, kiosk.run())


@pytest.fixture(scope="module")
def refused(kiosk: Kiosk, published: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events of a run whose audit refused an amount above the maximum."""
    kiosk.deliver("ordered", [ordered(3, "C", 1, 700)])
    return events_of(kiosk, kiosk.run())


@contextmanager
def kiosk_registry(kiosk: Kiosk, file: Path) -> Iterator[Registry]:
    with Registry.open(str(file), actor="kiosk", clock=Clock()) as registry:
        for contract in kiosk.contracts.values():
            registry.register(write_json({**write_odcs(contract), **OWNED}))
        yield registry


def test_every_step_starts_and_completes_below_its_run(published: list[dict[str, Any]]) -> None:
    tables = [
        "raw.ordered",
        "raw.paid",
        "events.ordered",
        "events.paid",
        "products.orders",
        "products.payments",
        "reconciliation.sales",
        "publications.books_v1",
    ]
    run = event(published, "kiosk", "START")["run"]["runId"]

    assert event(published, "kiosk", "COMPLETE")["run"]["runId"] == run
    for table in tables:
        for kind in ("START", "COMPLETE"):
            parent = event(published, f"kiosk.{table}", kind)["run"]["facets"]["parent"]
            assert (parent["run"]["runId"], parent["job"]) == (
                run,
                {"namespace": "shop", "name": "kiosk", "facets": {}},
            )
    assert len({one["run"]["runId"] for one in published if one["eventType"] == "START"}) == len(
        [one for one in published if one["eventType"] == "START"]
    )


def test_publication_states_schema_columns_rows_code_and_contract(published: list[dict[str, Any]]) -> None:
    completed = event(published, "kiosk.publications.books_v1", "COMPLETE")
    (output,) = completed["outputs"]
    facets = output["facets"]

    assert {"namespace": output["namespace"], "name": output["name"]} == BOOKS
    assert [(one["name"], one["type"]) for one in facets["schema"]["fields"]] == [
        ("order_id", "string"),
        ("amount", "number"),
        ("is_paid", "boolean"),
    ]
    assert {
        column: [one["field"] for one in sources["inputFields"]]
        for column, sources in facets["columnLineage"]["fields"].items()
    } == {"order_id": ["order_id"], "amount": ["amount"], "is_paid": ["is_paid"]}
    assert [(one["namespace"], one["name"], one["field"]) for one in facets["columnLineage"]["dataset"]] == [
        (SALES["namespace"], SALES["name"], "amount")
    ]
    assert output["outputFacets"]["outputStatistics"]["rowCount"] == 2
    assert facets["dataQualityMetrics"]["rowCount"] == 2
    assert completed["job"]["facets"]["sourceCode"]["sourceCode"].startswith("SELECT order_id, amount, is_paid FROM")
    assert {key: value for key, value in facets["treaty_contract"].items() if not key.startswith("_")} == {
        "contract": "kiosk.books",
        "version": "1.0.0",
        "line": "kiosk.books@1",
        "status": "active",
        "deprecation": {
            "sunset": "2026-09-01",
            "replacement": "kiosk.books@2",
            "guide": "https://wiki.example.org/books",
        },
    }


def test_refused_audit_fails_the_step_and_names_the_rule(refused: list[dict[str, Any]]) -> None:
    failed = event(refused, "kiosk.publications.books_v1", "FAIL")
    (table,) = event(refused, "kiosk.publications.books_v1.audit", "COMPLETE")["inputs"]
    broken = [one for one in table["inputFacets"]["dataQualityAssertions"]["assertions"] if not one["success"]]

    assert "amount" in failed["run"]["facets"]["errorMessage"]["message"]
    assert "outputStatistics" not in failed["outputs"][0].get("outputFacets", {})
    assert [(one["column"], one["severity"], one["actual"]) for one in broken] == [("amount", "error", "1")]
    assert event(refused, "kiosk", "FAIL")["run"]["facets"]["errorMessage"]["message"] == (
        "publications.books_v1: refused by audit"
    )


def test_java_client_reads_every_event(
    spark: SparkSession, published: list[dict[str, Any]], refused: list[dict[str, Any]]
) -> None:
    client = JavaClient(spark)

    for sent in (*published, *refused):
        read = client.read(json.dumps(sent))
        again = json.loads(client.write(read))
        assert (read.getJob().getName(), str(read.getEventType())) == (sent["job"]["name"], sent["eventType"])
        assert (again["run"]["runId"], again["run"].get("facets") or {}) == (
            sent["run"]["runId"],
            sent["run"]["facets"],
        )

    completed = client.read(json.dumps(event(published, "kiosk.publications.books_v1", "COMPLETE")))
    output = completed.getOutputs().get(0)
    facets = output.getFacets()
    contract = facets.getAdditionalProperties().get("treaty_contract").getAdditionalProperties()
    assert output.getOutputFacets().getOutputStatistics().getRowCount() == 2
    assert sorted(facets.getColumnLineage().getFields().getAdditionalProperties().keySet()) == [
        "amount",
        "is_paid",
        "order_id",
    ]
    assert (contract.get("line"), contract.get("deprecation").get("sunset")) == ("kiosk.books@1", "2026-09-01")


def test_registry_learns_the_lineage_of_a_run_and_the_names_of_its_tables(
    kiosk: Kiosk, published: list[dict[str, Any]], tmp_path: Path
) -> None:
    planned = plan(read_project(kiosk.folder), kiosk.contracts)
    with kiosk_registry(kiosk, tmp_path / "registry.db") as registry:
        receipt = registry.lineage.record(published)

        assert (receipt.recorded, receipt.known) == (len(published), 0)
        for line, upstreams in contract_lineage(planned).items():
            answer = registry.consumers.lineage(str(line))
            assert [(one.line, one.fields, one.mappings) for one in answer.upstreams] == [
                (
                    str(made.upstream),
                    sorted(map(str, made.fields)),
                    {str(mapping.target): list(map(str, mapping.sources)) for mapping in made.mappings},
                )
                for made in upstreams
            ]
        assert registry.lineage.usage().items == []

        registry.lineage.record([reader_of(BOOKS, "month-end", NOW)])
        (reads,) = registry.lineage.usage().items
        assert (reads.consumer, reads.line, reads.usage) == ("month-end", "kiosk.books@1", "unsubscribed")


def reader_of(dataset: dict[str, str], job: str, at: datetime) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE",
        "eventTime": at.isoformat(),
        "producer": "https://spark.example.org",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "01993c4e-8a3c-7c3e-9d3b-5d6f1a2b3c4d"},
        "job": {"namespace": "spark", "name": job},
        "inputs": [dataset],
        "outputs": [],
    }


def test_java_client_sends_to_the_registry(spark: SparkSession, kiosk: Kiosk, tmp_path: Path) -> None:
    client = JavaClient(spark)
    sent = client.read(json.dumps(reader_of({"namespace": "treaty", "name": "kiosk.books@1"}, "month-end", NOW)))
    with kiosk_registry(kiosk, tmp_path / "registry.db") as registry, serving(registry) as server:
        client.send(server.url, bearer_of("spark", "contributor", "finance"), sent)

        (reads,) = registry.lineage.usage().items
        assert (reads.consumer, reads.line, reads.reported_by) == ("month-end", "kiosk.books@1", "spark")


def test_events_go_to_a_file_and_to_a_url(kiosk: Kiosk, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    with kiosk_registry(kiosk, tmp_path / "registry.db") as registry, serving(registry) as server:
        targets = EventTargets(None, server.url, api_key=bearer_of("runner", "admin"), file=str(file))

        assert deliver(targets, lambda: run_started("shop", "kiosk", NOW)) is None
        assert deliver(targets, lambda: run_started("shop", "kiosk", NOW)) is None

        rows = registry.context.database
        with rows.read() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM lineage_events").scalar() == 1
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(one["job"]["name"], one["eventType"]) for one in lines] == [("kiosk", "START"), ("kiosk", "START")]


def test_unreachable_server_is_a_warning(tmp_path: Path) -> None:
    targets = EventTargets(url="http://127.0.0.1:9", file=str(tmp_path / "events.jsonl"))

    problem = deliver(targets, lambda: run_started("shop", "kiosk", NOW))

    assert problem is not None
    assert problem.startswith("the lineage events of the run were not sent to http://127.0.0.1:9: ")
    assert (tmp_path / "events.jsonl").read_text().count("\n") == 1
