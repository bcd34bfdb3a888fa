"""`treaty check --data` and `treaty consumer impact --data`: what a proposed version would do to published rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.cli.conftest import Treaty
from tests.cli.git_repositories import Repository, made
from tests.pipeline.projects import laid_out
from treaty.pipeline.tables import NewStamp, Tables

TABLE = "events.impact_sale"
ROWS = """
SELECT * FROM VALUES
  ('s1', 90.00BD, 'ana@example.com', 'accepted', 7L),
  ('s2', 250.00BD, 'not an address', 'accepted', 7L),
  ('s3', 250.00BD, 'bo@example.com', 'accepted', 7L),
  ('s4', 999.00BD, 'eve', 'quarantined', 7L)
AS sale(sale_id, amount, email, _outcome, _run)
"""
ID = {"name": "sale_id", "logicalType": "string", "required": True, "primaryKey": True}
AMOUNT: dict[str, Any] = {"name": "amount", "logicalType": "number", "physicalType": "decimal(10,2)"}
EMAIL: dict[str, Any] = {"name": "email", "logicalType": "string", "classification": "restricted"}
V1 = {"id": "shop.sales", "version": "1.0.0", "fields": [ID, {**AMOUNT, "id": "amount"}, EMAIL]}
LIMITED = {**AMOUNT, "name": "total", "id": "amount", "logicalTypeOptions": {"maximum": 100}}
OPENED = {
    "name": "email",
    "logicalType": "string",
    "logicalTypeOptions": {"pattern": "^[a-z]+@[a-z.]+$"},
}
V2 = {
    "id": "shop.sales",
    "version": "2.0.0",
    "fields": [ID, LIMITED, OPENED],
    "migration": {"guide": "https://example.com/2", "window": "90 d", "owner": "sales"},
}
PROJECT = {
    "sources/impact_sale.yaml": "contract: shop.sales@1\nfiles: landing/*.jsonl\nidentity: [sale_id]\n",
    "products/impact_unpublished.yaml": "contract: shop.sales@1\nfrom: [impact_sale]\n",
}


@pytest.fixture
def repository(treaty: Treaty, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository with a registered contract and the project that publishes its rows."""
    monkeypatch.delenv("GITHUB_BASE_REF", raising=False)
    monkeypatch.setenv("TREATY_SPARK_ICEBERG_NAME", "lake")
    for name in ("uri", "warehouse"):
        value = spark.conf.get(f"spark.sql.catalog.lake.{name}", "") or ""
        monkeypatch.setenv(f"TREATY_SPARK_ICEBERG_{name.upper()}", value)
    tables = Tables(spark, "lake")
    rows = spark.sql(ROWS)
    tables.ensure(TABLE, rows.schema, {})
    tables.append(TABLE, rows, NewStamp(7, {}, "shop.sales 1.0.0", "", {}))
    laid_out(tmp_path / "pipeline", PROJECT)
    made_here = made(tmp_path / "sales", {"sales.yaml": V1, ".gitignore": ".treaty/\n"})
    made_here.branch("change")
    monkeypatch.chdir(made_here.folder)
    assert treaty("register", "sales.yaml").code == 0
    return made_here


def test_a_pull_request_names_the_published_rows_that_it_would_refuse(
    treaty: Treaty, repository: Repository, tmp_path: Path
) -> None:
    repository.commit({"sales.yaml": V2})
    project = str(tmp_path / "pipeline")

    result = treaty(
        "check", "--data", project, "--format", "json", "--save", "markdown=review.md", "--save", "text=r.txt"
    )
    impact = treaty("consumer", "impact", "sales.yaml", "--data", project, "--format", "json")

    (contract,) = json.loads(result.output)["contracts"]
    tested, unpublished = contract["data"]
    assert {key: tested[key] for key in ("table", "published", "run", "rows", "refused", "migrated")} == {
        "table": TABLE,
        "published": "shop.sales 1.0.0",
        "run": 7,
        "rows": 3,
        "refused": 2,
        "migrated": True,
    }
    assert [(one["field"], one["rows"], one["examples"]) for one in tested["rules"]] == [
        ("total", 2, [{"value": "250.00", "rows": 2, "key": {"sale_id": "s2"}}]),
        ("email", 1, [{"value": "***", "rows": 1, "key": {"sale_id": "s2"}}]),
    ]
    assert unpublished["problem"] == (
        "nothing was published in products.impact_unpublished yet; start with: treaty run"
    )
    assert [(one["id"], one["severity"], one["message"]) for one in contract["rows"]] == [
        (
            "published_rows_refused",
            "warning",
            "2 of 3 published rows of events.impact_sale would be refused after the migration",
        ),
        (
            "published_rows_refused",
            "warning",
            "products.impact_unpublished was not tested: nothing was published in products.impact_unpublished yet; "
            "start with: treaty run",
        ),
    ]
    comment = (repository.folder / "review.md").read_text()
    assert "| 2 |" in comment
    assert "250.00 (2 ×, sale\\_id s2)" in comment
    assert "not an address" not in comment
    assert "2 of 3 published rows of events.impact_sale" in (repository.folder / "r.txt").read_text()
    assert json.loads(impact.output)["data"] == contract["data"]


def test_a_project_without_tables_of_the_contract_starts_no_spark(
    treaty: Treaty, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TREATY_SPARK_ICEBERG_URI")
    other = {**V1, "id": "shop.stock"}
    repository.commit({"stock.yaml": other})

    result = treaty("check", "--data", str(tmp_path / "pipeline"), "--format", "json")
    missing = treaty("check", "--data", "nowhere")

    assert json.loads(result.output)["contracts"][0]["data"] == []
    assert (missing.code, "there is no folder nowhere" in missing.errors) == (1, True)
