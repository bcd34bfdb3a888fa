"""The compiled artifact: `treaty plan --artifact` writes it; `lint`, `check`, `diff` and `register` read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Treaty, Write
from tests.cli.git_repositories import made
from treaty.contracts.artifact import ContractUse, read_artifact, write_artifact
from treaty.contracts.loader import contract_from
from treaty.contracts.text import read_document

RETAIL = Path(__file__).parents[2] / "examples" / "retail" / "pipeline"
HEAD = {"apiVersion": "v3.2.0", "kind": "DataContract", "status": "active", "owners": [{"team": "shop"}]}
OTHER = {
    "dataset_id": "lines",
    "version": "1.0.0",
    "owners": [{"team": "shop"}],
    "fields": [{"name": "sku", "type": "string"}],
}


def _contract(version: str, *names: str) -> dict[str, Any]:
    fields = [{"name": name, "logicalType": "string"} for name in names]
    return {**HEAD, "id": "orders", "version": version, "schema": [{"name": "orders", "properties": fields}]}


def _artifact(*documents: dict[str, Any]) -> str:
    contracts = [contract_from(document) for document in documents]
    return write_artifact("shop", [ContractUse(one.id, f"{one.id}@1", one, "a file") for one in contracts])


@pytest.fixture
def compiled(treaty: Treaty, tmp_path: Path) -> Path:
    """The artifact of the retailer's project."""
    file = tmp_path / "contracts.json"
    result = treaty("plan", str(RETAIL), "--offline", "--artifact", str(file))
    assert (result.code, result.errors) == (0, f"wrote {file}\n")
    return file


def test_an_artifact_has_the_resolved_contracts_of_the_project(compiled: Path) -> None:
    data = json.loads(compiled.read_text())
    ids = [(one["id"], one["version"]) for one in data["data_contracts"]]

    assert (data["treaty_artifact"], data["project"]) == (1, "retail")
    assert len(ids) == 19
    assert ("retail.policy.enterprise", "1.0.0") in ids  # the policy of a policy of the contracts
    assert ids == sorted(ids)
    assert data["uses"][0] == {
        "declaration": "order_cancelled",
        "line": "retail.orders.order_cancelled@1",
        "contract": "retail.orders.order_cancelled",
        "version": "1.0.0",
        "origin": data["uses"][0]["origin"],
    }
    assert data["uses"][0]["origin"].startswith("../contracts/")


def test_the_same_project_gives_the_same_bytes(treaty: Treaty, compiled: Path) -> None:
    before = compiled.read_bytes()
    treaty("plan", str(RETAIL), "--offline", "--artifact", str(compiled))

    assert compiled.read_bytes() == before


def test_lint_reads_every_contract_of_an_artifact(treaty: Treaty, compiled: Path) -> None:
    result = treaty("lint", str(compiled))

    assert result.code == 0
    assert result.output.startswith("19 contracts · no findings")


def test_a_finding_has_its_line_in_the_artifact(treaty: Treaty, write: Write) -> None:
    file = write("artifact.json", _artifact(_contract("1.0.0", "order_id"), OTHER))
    found = json.loads(treaty("lint", file, "--format", "json").output)
    lines = Path(file).read_text().splitlines()

    finding = next(
        one for one in _findings(found) if one["id"] == "description-missing" and "order_id" in one["message"]
    )

    assert '"order_id"' in "".join(lines[finding["line"] - 2 : finding["line"] + 1])


def _findings(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        own = [value] if {"id", "message"} <= value.keys() else []
        return own + [one for part in value.values() for one in _findings(part)]
    return [one for part in value for one in _findings(part)] if isinstance(value, list) else []


def test_register_registers_every_contract_of_an_artifact(treaty: Treaty, compiled: Path) -> None:
    registry = "sqlite:///registry.db"

    first = treaty("register", str(compiled), "--registry", registry, "--format", "json")
    again = treaty("register", str(compiled), "--registry", registry, "--format", "json")
    shown = treaty("show", "retail.orders.order_placed", "--registry", registry)

    assert first.code == 0, first.output
    assert _statuses(first.output) == {"registered"}
    assert _statuses(again.output) == {"unchanged"}
    assert "order_placed" in shown.output


def _statuses(output: str) -> set[str]:
    data = json.loads(output)
    outcomes = data if isinstance(data, list) else next(value for value in data.values() if isinstance(value, list))
    return {one["status"] for one in outcomes}


def test_check_judges_the_contracts_of_a_changed_artifact(treaty: Treaty, tmp_path: Path) -> None:
    before = _artifact(_contract("1.0.0", "order_id", "total"), OTHER)
    repository = made(tmp_path, {"artifact.json": before})
    repository.branch("change")
    repository.commit({"artifact.json": _artifact(_contract("1.1.0", "order_id"), OTHER)})

    result = treaty("check", "--base", "main", "--format", "json")
    fixed = treaty("check", "--base", "main", "--fix")

    judged = {one["contract"]: one for one in json.loads(result.output)["contracts"]}
    assert result.code == 3
    assert [change["kind"] for change in judged["orders"]["changes"]] == ["field_removed"]
    assert judged["lines"]["state"] == "unchanged"
    assert "it is compiled; fix the contract" in fixed.errors


def test_a_contract_beside_its_artifact_is_the_same_version(treaty: Treaty, tmp_path: Path) -> None:
    contract = _contract("1.0.0", "order_id")
    repository = made(tmp_path, {"README.md": "x"})
    repository.branch("change")
    repository.commit({"orders.json": json.dumps(contract), "artifact.json": _artifact(contract, OTHER)})

    assert "version_duplicate" not in treaty("check", "--base", "main", "--format", "json").output


def test_diff_and_convert_take_one_contract_of_an_artifact(treaty: Treaty, write: Write) -> None:
    before = write("a.json", _artifact(_contract("1.0.0", "order_id"), OTHER))
    after = write("b.json", _artifact(_contract("1.1.0", "order_id", "note"), OTHER))

    compared = treaty("diff", f"{before}#orders", f"{after}#orders")
    converted = treaty("convert", f"{before}#lines", "--to", "odcs")

    assert compared.code == 0
    assert "optional field 'note' added" in compared.output
    assert read_document(converted.output).data["id"] == "lines"
    assert "a.json has 2 contracts: lines, orders; select one" in treaty("convert", before, "--to", "odcs").errors


def test_contracts_come_back_from_an_artifact_as_they_were() -> None:
    contracts = [contract_from(_contract("1.0.0", "order_id")), contract_from(OTHER)]

    read = read_artifact(_artifact(_contract("1.0.0", "order_id"), OTHER).encode(), "a.json")

    assert sorted((one.loaded.contract for one in read), key=lambda one: one.id, reverse=True) == contracts


def test_a_project_with_a_problem_has_no_artifact(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    field = {"name": "bike_id", "logicalType": "string", "required": True, "primaryKey": True}
    write("contracts/seen.yaml", {"id": "bikes.seen", "fields": [field]})
    write("sources/bike_seen.yaml", "contract: bikes.seen@1\nfiles: landing/*.jsonl\n")
    write("products/bikes.yaml", "contract: bikes.seen@1\nfrom: [bike_seen]\nsql: sql/bikes.sql\n")
    write("sql/bikes.sql", "SELECT nothing FROM nowhere\n")

    result = treaty("plan", "--offline", "--artifact", "out.json")

    assert result.code == 3
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"treaty_artifact": 9, "data_contracts": []}', "an artifact of version 9 cannot be read, only version 1"),
        ('{"treaty_artifact": 1, "data_contracts": [3]}', "'3' is not a contract"),
        ('{"treaty_artifact": 1, "data_contracts": [{"id": "x"}]}', "not a contract"),
        ('{"treaty_artifact": 1', "artifact.json"),
    ],
)
def test_a_broken_artifact_says_what_is_wrong(treaty: Treaty, write: Write, text: str, message: str) -> None:
    result = treaty("lint", write("artifact.json", text))

    assert result.code == 3
    assert message in " ".join(result.output.split())
