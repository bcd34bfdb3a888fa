"""dbt itself parses the written schema.yml, in an environment of its own.

The test runs where that environment exists. To install it: ``python -m tests.formats.test_dbt_project``.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.peers import WORK, peer_binary
from tests.documents import contract
from treaty.contracts.text.writer import write_yaml
from treaty.formats import get_format

REQUIREMENT = "dbt-core==1.10.* dbt-duckdb==1.9.*"
SCHEMA: list[dict[str, Any]] = [
    {
        "name": "orders",
        "description": "One row per order.",
        "properties": [
            {"name": "id", "logicalType": "string", "primaryKey": True, "required": True, "unique": True},
            {"name": "status", "logicalType": "string", "enum": [{"value": "open"}, {"value": "paid"}]},
            {"name": "total", "logicalType": "number", "logicalTypeOptions": {"minimum": 0, "maximum": 100}},
            {"name": "note", "logicalType": "string", "logicalTypeOptions": {"minLength": 2, "pattern": "^a"}},
            {"name": "customer_id", "logicalType": "string", "relationships": [{"to": "customers.id"}]},
            {"name": "address", "logicalType": "object", "properties": [{"name": "city", "logicalType": "string"}]},
        ],
    },
    {"name": "customers", "properties": [{"name": "id", "logicalType": "string"}, {"name": "select"}]},
    {"name": "later"},
]
PROFILES = {"treaty": {"target": "dev", "outputs": {"dev": {"type": "duckdb", "path": ":memory:"}}}}
PROJECT = {"name": "treaty", "version": "1.0.0", "profile": "treaty", "model-paths": ["models"]}


@pytest.mark.skipif(
    not (WORK / "dbt" / "ready").exists(), reason="python -m tests.formats.test_dbt_project installs dbt"
)
def test_dbt_parses_what_is_written(tmp_path: Path) -> None:
    written = get_format("dbt").write(contract({"schema": SCHEMA}), dialect="duckdb")
    models = tmp_path / "models"
    models.mkdir()
    (tmp_path / "dbt_project.yml").write_text(write_yaml(PROJECT))
    (tmp_path / "profiles.yml").write_text(write_yaml(PROFILES))
    (models / "schema.yml").write_text(written.text)
    for item in SCHEMA:
        (models / f"{item['name']}.sql").write_text("select 1 as id\n")

    dbt = peer_binary("dbt", REQUIREMENT, "dbt")
    arguments = [dbt, "--quiet", "parse", "--project-dir", str(tmp_path), "--profiles-dir", str(tmp_path)]
    result = subprocess.run(arguments, capture_output=True, text=True, check=False)

    assert (result.returncode, result.stdout) == (0, "")
    manifest = json.loads((tmp_path / "target" / "manifest.json").read_text())
    enforced = {node["name"]: node["contract"]["enforced"] for node in _models(manifest)}
    assert enforced == {"orders": True, "customers": True, "later": False}
    tests = sorted(node["test_metadata"]["name"] for node in manifest["nodes"].values() if "test_metadata" in node)
    assert tests == ["accepted_values", "relationships", "unique"]


def _models(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    return [node for node in manifest["nodes"].values() if node["resource_type"] == "model"]


if __name__ == "__main__":
    peer_binary("dbt", REQUIREMENT, "dbt")
