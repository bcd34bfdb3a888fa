"""Scans of SQL files, Airflow DAGs, notebooks, manifests of dbt, and query logs."""

from __future__ import annotations

import json

import pytest

from treaty.consumers.subscriptions import ConsumerClass
from treaty.governance.code_owners import parse_code_owners
from treaty.legacy.scanned_reads import Scan, ScannedRead
from treaty.legacy.scanners import ScannedFile, scan_files

OWNERS = parse_code_owners("* @acme/data-platform\n/finance/ @acme/group-accounting\n")
DAG = '''
from airflow import DAG

with DAG("finance_close", schedule="0 4 * * *", description="closing the books"):
    load("""INSERT INTO tmp.step SELECT order_id, net FROM warehouse.legacy_revenue WHERE day = '{{ ds }}'""")
    load(f"SELECT net FROM tmp.step WHERE country = '{country}'")
    rates = spark.table("raw.fx_rates")
'''
DECORATED = """
@dag(schedule="@hourly")
def fraud_scores():
    run("SELECT order_id FROM raw.orders")
"""
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["SELECT this FROM nothing"]},
        {"cell_type": "code", "source": ["%%sql\n", "SELECT status FROM raw.orders"]},
        {"cell_type": "code", "source": "%matplotlib inline\ndf = spark.read.table('raw.payments')"},
    ]
}
MANIFEST = {
    "nodes": {
        "model.shop.net_sales": {
            "name": "net_sales",
            "resource_type": "model",
            "schema": "mart",
            "original_file_path": "finance/net_sales.sql",
            "compiled_code": "SELECT o.net FROM raw.orders o",
            "depends_on": {"nodes": ["source.shop.raw.orders"]},
        }
    },
    "sources": {"source.shop.raw.orders": {"name": "orders", "schema": "raw", "identifier": "orders"}},
    "exposures": {
        "exposure.shop.partner_feed": {
            "name": "partner_feed",
            "resource_type": "exposure",
            "type": "application",
            "description": "what partners are paid",
            "owner": {"name": "Partner Integrations"},
            "depends_on": {"nodes": ["model.shop.net_sales"]},
        }
    },
}
LOG = (
    "user_name,query_text,start_time\n"
    "tableau,SELECT net FROM mart.revenue,2026-03-01T04:00:00Z\n"
    'tableau,"SELECT country, net FROM mart.revenue",2026-03-02T04:00:00+00:00\n'
    "tableau,SELECT net FROM mart.revenue,2026-03-03T04:00:00Z\n"
    "tableau,not a query (,2026-03-03T05:00:00Z\n"
)


def scan(path: str, text: str) -> Scan:
    return scan_files([ScannedFile(path, text)], OWNERS)


def found(result: Scan) -> dict[tuple[str, str], set[str]]:
    return {(read.consumer, read.source): set(read.columns) for read in result.reads}


def only(result: Scan) -> ScannedRead:
    (read,) = result.reads
    return read


def test_a_dag_is_a_consumer_with_its_schedule_and_the_owner_of_its_file() -> None:
    result = scan("finance/dags/close.py", DAG)

    assert found(result) == {
        ("finance_close", "warehouse.legacy_revenue"): {"order_id", "net", "day"},
        ("finance_close", "raw.fx_rates"): {"*"},
    }
    read = result.reads[1]
    assert (read.kind, read.team, read.latency, read.places) == (
        "airflow",
        "group-accounting",
        "1d",
        ("finance/dags/close.py:5",),
    )
    assert {one.decision for one in result.reads} == {"closing the books"}
    assert (read.guess.consumer_class, read.guess.confidence, read.guess.reason) == (
        ConsumerClass.EXTERNAL_REGULATORY,
        0.8,
        "its name contains 'close'",
    )


def test_a_decorated_dag_has_the_name_of_its_function() -> None:
    read = only(scan("jobs/scores.py", DECORATED))

    assert (read.consumer, read.latency, read.team) == ("fraud_scores", "1h", "data-platform")
    assert read.guess.consumer_class is ConsumerClass.DECISION_AUTOMATION


@pytest.mark.parametrize(
    ("schedule", "latency"),
    [("*/15 * * * *", "15m"), ("5 * * * *", "1h"), ("0 */6 * * *", "6h"), ("0 4 * * 1", "7d"), ("0 4 1 * *", "30d")],
)
def test_schedules_tell_how_often_a_job_reads(schedule: str, latency: str) -> None:
    assert only(scan("a.py", DAG.replace("0 4 * * *", schedule).replace("rates =", "#"))).latency == latency


def test_code_cells_of_a_notebook_are_read_with_their_magics() -> None:
    result = scan("growth/notebooks/orders.ipynb", json.dumps(NOTEBOOK))

    assert found(result) == {
        ("growth/notebooks/orders", "raw.orders"): {"status"},
        ("growth/notebooks/orders", "raw.payments"): {"*"},
    }
    assert result.reads[0].places == ("growth/notebooks/orders.ipynb, code cell 1",)


def test_models_and_exposures_of_dbt_are_consumers() -> None:
    result = scan("target/manifest.json", json.dumps(MANIFEST))

    assert found(result) == {("net_sales", "raw.orders"): {"net"}, ("partner_feed", "mart.net_sales"): {"*"}}
    model, exposure = result.reads
    assert model.team == "group-accounting"
    assert (exposure.team, exposure.decision) == ("Partner Integrations", "what partners are paid")
    assert (exposure.guess.consumer_class, exposure.guess.confidence) == (ConsumerClass.SERVICE_ORCHESTRATION, 0.85)


def test_users_of_a_query_log_are_consumers_with_the_time_between_their_queries() -> None:
    result = scan("log.csv", LOG)

    read = only(result)
    assert (read.consumer, read.source, set(read.columns)) == ("tableau", "mart.revenue", {"net", "country"})
    assert (read.latency, read.places) == ("1d", ("log.csv, row 1",))
    assert [problem.problem for problem in result.problems] == [
        "1 of its queries could not be read in any known dialect"
    ]


def test_json_logs_are_read_as_csv_is() -> None:
    rows = [{"User_Name": "bi", "Query": "SELECT a FROM b.c"}]

    lines = "\n".join(map(json.dumps, rows))
    assert found(scan("log.jsonl", lines)) == found(scan("log.json", json.dumps(rows))) == {("bi", "b.c"): {"a"}}


def test_other_files_are_left_out_and_broken_ones_are_named() -> None:
    files = [
        ScannedFile("README.md", "SELECT a FROM b"),
        ScannedFile("prices.csv", "sku,price\n1,2\n"),
        ScannedFile("package.json", "{}"),
        ScannedFile("job.py", "def (:"),
        ScannedFile("book.ipynb", "[]"),
        ScannedFile("broken.sql", "SELEC a FRM ("),
    ]

    result = scan_files(files)

    assert result.reads == ()
    assert [problem.place for problem in result.problems] == ["job.py", "book.ipynb", "broken.sql"]
    assert result.problems[0].problem.startswith("it is not valid Python: ")
    assert result.problems[0].problem.endswith(" in line 1")
    assert result.files == 5


def test_the_folder_names_the_team_where_no_owner_is_stated() -> None:
    result = scan_files([ScannedFile("sql/support/open_orders.sql", "SELECT id FROM raw.orders")])

    assert only(result).team == "support"
