"""`treaty parallel`: a legacy feed of a project is compared with its publication, and what differs is managed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as arrow  # type: ignore[import-untyped]
import pytest
from pyspark.sql import SparkSession

from tests.cli.conftest import Treaty, Write
from treaty.cli.commands.parallel import Disposition
from treaty.cli.pipeline_project import open_catalog
from treaty.contracts import load
from treaty.legacy import differences
from treaty.pipeline.tables import NewStamp
from treaty.registry.service import Registry
from treaty.settings import load_settings

FIELDS = [
    {"name": "order_id", "logicalType": "string", "required": True, "primaryKey": True},
    {"name": "business_day", "logicalType": "string"},
    {"name": "status", "logicalType": "string"},
    {"name": "net_amount", "logicalType": "string"},
    {"name": "buyer", "logicalType": "string", "classification": "restricted"},
]
FEED = """\
owner: Finance Systems
files: mart/*.csv
key: [order_no]
period: booked_on
consumers: [finance_close]
parallel:
  publication: sale
  columns:
    order_no: order_id
    booked_on: business_day
    state: {new: status, codes: {S: RECOGNIZED}}
    net: net_amount
    buyer: buyer
  late_days: 1
  money: [net]
"""
MART = """\
order_no,booked_on,state,net,buyer
A,2026-03-01,S,10.00,Ida
B,2026-03-01,S,20.00,Jon
C,2026-03-01,S,30.00,Kai
"""
PUBLISHED = [
    {"order_id": "A", "business_day": "2026-03-01", "status": "RECOGNIZED", "net_amount": "10.00", "buyer": "Ida"},
    {"order_id": "B", "business_day": "2026-03-01", "status": "CANCELLED", "net_amount": "20.00", "buyer": "Jon"},
    {"order_id": "C", "business_day": "2026-03-01", "status": "RECOGNIZED", "net_amount": "30.00", "buyer": "Kay"},
]


@pytest.fixture
def project(write: Write, tmp_path: Path, spark: SparkSession) -> Path:
    """A project whose publication has rows, and the files of a nightly job."""
    for name in ("sold", "orders", "sale"):
        contract = {"id": f"shop.{name}", "status": "active", "fields": FIELDS}
        write(f"contracts/{name}.yaml", contract)
    write("sources/sold.yaml", "contract: shop.sold@1\nfiles: landing/*.jsonl\n")
    write("products/orders.yaml", "contract: shop.orders@1\nfrom: [sold]\n")
    write("publications/sale.yaml", "contract: shop.sale@1\nfrom: [orders]\n")
    write("legacy/revenue.yaml", FEED)
    write("mart/march.csv", MART)
    place = {key: spark.conf.get(f"spark.sql.catalog.lake.{key}") for key in ("uri", "warehouse")}
    iceberg = f"{{name: lake, uri: '{place['uri']}', warehouse: '{place['warehouse']}'}}"
    write("treaty.yaml", f"name: shop\nregistry: registry.db\nspark: {{iceberg: {iceberg}}}\n")
    catalog = open_catalog(load_settings(None, start=tmp_path))
    table = "publications.sale_v1"
    if not catalog.exists(table):
        catalog.create_table(table, list(PUBLISHED[0]), {})
        stamp = NewStamp(1, {}, "shop.sale 1.0.0", "", {})
        catalog.open_table(table).append(arrow.Table.from_pylist(PUBLISHED), snapshot_properties=stamp.properties())
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        for name in ("sold", "orders", "sale"):
            registry.register((tmp_path / f"contracts/{name}.yaml").read_text())
    return tmp_path


def test_a_run_is_reported_and_its_findings_are_decided(treaty: Treaty, project: Path) -> None:
    first = treaty("parallel", "run", "revenue", "--as-of", "2026-03-01", "--format", "json")

    assert first.code == 3, first.errors
    run = json.loads(first.output)
    assert sorted((one["title"], one["count"], one["state"]) for one in run["findings"]) == [
        ("a status interpreted differently of state: S means RECOGNIZED, new has CANCELLED", 1, "new"),
        ("a value outside its tolerance of buyer: differs", 1, "new"),
    ]
    masked = next(one for one in run["findings"] if one["column"] == "buyer")
    assert [(one["legacy"], one["new"]) for one in masked["examples"]] == [("***", "***")]

    for finding in run["findings"]:
        decided = treaty(
            "parallel", "dispose", "revenue", finding["fingerprint"],
            "--as", "defect_in_legacy", "--owner", "Finance", "--reason", "known",
        )  # fmt: skip
        assert decided.code == 0, decided.errors
    again = treaty("parallel", "run", "revenue", "--as-of", "2026-03-02")
    assert again.code == 0
    assert "clean: every finding is decided" in again.output

    treaty(
        "consumer", "subscribe", "finance_close", "shop.sale@1",
        "--class", "external_regulatory", "--team", "finance",
    )  # fmt: skip
    assert (
        "finance_close is critical, and its owner has not approved" in treaty("can-i-cut-over", "finance_close").output
    )

    listed = treaty("parallel", "list")
    assert [line.split()[:2] for line in listed.output.splitlines()[1:]] == [
        ["revenue", "2026-03-02"],
        ["revenue", "2026-03-01"],
    ]
    rows = list(csv.DictReader(io.StringIO(treaty("parallel", "report", "revenue", "--as", "csv").output)))
    assert {(row["state"], row["disposition"], row["owner"]) for row in rows} == {
        ("disposed", "defect_in_legacy", "Finance")
    }
    assert (
        "# revenue and shop.sale@1 up to 2026-03-02"
        in treaty("parallel", "report", "revenue", "--as", "markdown").output
    )


def test_a_missing_file_and_an_unknown_feed_are_clear_errors(treaty: Treaty, project: Path) -> None:
    (project / "mart" / "march.csv").unlink()

    missing = treaty("parallel", "run", "revenue", "--as-of", "2026-03-01")
    unknown = treaty("parallel", "run", "revenu")

    assert (missing.code, unknown.code) == (1, 1)
    assert "mart" in missing.errors
    assert "did you mean 'revenue'?" in unknown.errors
    assert "no parallel runs" in treaty("parallel", "list").output


def test_a_mistake_in_a_feed_is_a_problem_of_the_plan(treaty: Treaty, project: Path) -> None:
    (project / "legacy" / "revenue.yaml").write_text(FEED.replace("publication: sale", "publication: sales"))

    planned = treaty("plan", "--offline")

    assert planned.code == 3
    assert "unknown publication 'sales'" in planned.output


CHANGES = {
    "mapped to a column that is not there": (("net: net_amount", "net: net_amuont"), MART, "legacy-mapping"),
    "without a column that it had": (("", ""), MART.replace("net", "net_sum"), "legacy-changed"),
    "without rows": (("", ""), MART.splitlines()[0], "legacy-empty"),
    "that is not there": (("mart/*.csv", "marts/*.csv"), MART, "legacy-missing"),
    "of a table that is not there": (("files: mart/*.csv", "table: lake.mart.revenue"), MART, "legacy-missing"),
    "with a key that is not unique": (("key: [order_no]", "key: [net]"), MART, "legacy-key"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_feed_that_is_not_as_declared_is_a_problem_of_the_plan(treaty: Treaty, project: Path, change: str) -> None:
    (before, after), mart, finding_id = CHANGES[change]
    (project / "legacy" / "revenue.yaml").write_text(FEED.replace(before, after))
    (project / "mart" / "march.csv").write_text(mart)

    planned = treaty("plan", "--format", "json")

    assert planned.code == 3
    problems = json.loads(planned.output)["problems"]
    assert [one["id"] for one in problems if one["id"].startswith("legacy-")] == [finding_id]


def test_a_plan_lists_the_feeds_as_what_they_are(treaty: Treaty, project: Path) -> None:
    text = " ".join(treaty("plan", "--offline").output.split())
    data = json.loads(treaty("plan", "--offline", "--format", "json").output)

    assert "legacy feeds, without a contract revenue Finance Systems; read by finance_close; compared with sale" in text
    assert data["legacy_feeds"] == [
        {
            "name": "revenue",
            "owner": "Finance Systems",
            "produced": None,
            "consumers": ["finance_close"],
            "publication": "sale",
            "emulated_by": [],
        }
    ]


def test_a_draft_has_the_columns_of_the_feed_and_the_key_that_it_declares(treaty: Treaty, project: Path) -> None:
    drafted = treaty("parallel", "draft", "revenue", "--id", "shop.revenue_files", "--output", "draft.yaml")

    assert drafted.code == 0, drafted.errors
    contract = load((project / "draft.yaml").read_bytes()).contract
    assert (contract.id, contract.status) == ("shop.revenue_files", "draft")
    assert [owner.team for owner in contract.owners] == ["Finance Systems"]
    assert [field.name for field in contract.schema[0].fields] == ["order_no", "booked_on", "state", "net", "buyer"]
    assert contract.schema[0].primary_key == ("order_no",)
    assert "legacy feed revenue of Finance Systems" in (project / "draft.yaml").read_text()


def test_a_draft_needs_the_key_that_the_feed_declares(treaty: Treaty, project: Path) -> None:
    (project / "mart" / "march.csv").write_text(MART.replace("order_no", "order"))

    drafted = treaty("parallel", "draft", "revenue")

    assert drafted.code == 1
    assert "revenue has no column 'order_no', which is in its key" in drafted.errors
    assert drafted.output == ""


def test_dispositions_of_the_command_are_those_of_findings() -> None:
    assert [one.value for one in Disposition] == [one.value for one in differences.Disposition]
