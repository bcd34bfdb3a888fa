"""`treaty init --discover`: contracts, data products and schemas are found, and products without a contract drafted."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Treaty
from treaty.contracts import load

PRODUCT = """\
apiVersion: v1.0.0
kind: DataProduct
id: fbe8d147
name: Customer Data Product
version: 1.1.0
status: active
domain: seller
description: {purpose: Enterprise view of a customer.}
inputPorts:
- {name: payments, version: 1.0.0, contractId: shop.payments}
outputPorts:
- {name: raw-transactions, description: Raw transactions., type: tables, version: 1.0.0}
- {name: raw-transactions, type: tables, version: 2.0.0}
- {name: returns, type: topic, version: 0.3.0}
- {name: full, type: tables, version: 1.0.0, contractId: shop.full}
"""
AVRO = '{"type": "record", "name": "%s", "fields": [{"name": "id", "type": "long"}]}'
FILES = {
    "products/customer/customer.odps.yaml": PRODUCT,
    "products/customer/raw.avsc": AVRO % "RawTransactions",
    "warehouse/dbt_project.yml": "name: warehouse\n",
    "warehouse/models/schema.yml": "models:\n  - name: returns\n    columns:\n      - {name: sku, data_type: string}\n",
    "api/orders.yaml": "openapi: 3.1.0\ninfo: {title: Orders, version: 1.0.0}\npaths: {/a: {get: {responses: {}}}}\n",
    "events/shipping.yaml": "asyncapi: 3.0.0\ninfo: {title: S, version: 1.0.0}\n"
    "channels: {a: {messages: {M: {payload: {type: object, properties: {x: {type: string}}}}}}}\n",
    "proto/order.proto": 'syntax = "proto3";\nmessage Order { string id = 1; }\n',
    "schemas/order.schema.json": '{"type": "object", "properties": {"a": {"type": "string"}}}',
    "node_modules/x/order.avsc": '{"type": "record", "name": "Hidden", "fields": []}',
    ".github/CODEOWNERS": "* @acme/platform\n/products/ @acme/data-team\n",
}
ODPS = "products/customer/customer.odps.yaml"
DRAFT = "products/customer/datacontract.yaml"


def _make(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_what_a_folder_has_is_found(treaty: Treaty, tmp_path: Path) -> None:
    files = {**FILES, "api/orders.yaml": FILES["api/orders.yaml"].replace("{}", "{'204': {description: None}}")}
    _make(tmp_path, files | {"products/other/datacontract.yaml": "dataset_id: orders\nversion: 1.0.0\nowner: [shop]\n"})

    result = treaty("init", "--discover")

    assert result.code == 0
    assert [line for line in result.output.splitlines() if line.startswith("found")] == [
        f"found {ODPS}: data product Customer Data Product with 1 input port, 4 output ports",
        "found warehouse/dbt_project.yml: dbt project warehouse",
        "found api/orders.yaml: OpenAPI with orders",
        "found events/shipping.yaml: AsyncAPI with s",
        "found products/customer/raw.avsc: Avro schema with RawTransactions",
        "found proto/order.proto: Protobuf with Order",
        "found schemas/order.schema.json: JSON Schema with order",
        "found warehouse/models/schema.yml: dbt schema.yml with returns",
    ]
    assert "skipped products/other/datacontract.yaml" in result.errors
    assert "note: port full of Customer Data Product names the contract shop.full, which is not" in result.output


def test_a_product_without_a_contract_gets_a_draft_from_its_ports(treaty: Treaty, tmp_path: Path) -> None:
    _make(tmp_path, FILES)

    result = treaty("init", "--discover")

    contract = load((tmp_path / DRAFT).read_bytes()).contract
    document = yaml.safe_load((tmp_path / DRAFT).read_text())
    assert (contract.id, contract.version, contract.status) == ("customer-data-product", "1.1.0", "draft")
    assert contract.domain == "seller"
    assert [str(owner) for owner in contract.owners] == ["data-team (@acme/data-team)"]
    assert {item.name: [field.name for field in item.fields] for item in contract.schema} == {
        "raw-transactions": ["id"],
        "returns": ["sku"],
    }
    assert contract.schema[0].description == "Raw transactions."
    assert document["customProperties"] == [
        {
            "property": "evidence",
            "value": {
                "file": "products/customer/customer.odps.yaml",
                "output_ports": ["raw-transactions", "returns"],
                "input_ports": [{"name": "payments", "version": "1.0.0", "contract": "shop.payments"}],
                "owner": "CODEOWNERS",
            },
        }
    ]
    assert document["schema"][0]["customProperties"] == [
        {
            "property": "evidence",
            "value": {
                "file": "products/customer/customer.odps.yaml",
                "port": "raw-transactions",
                "version": "2.0.0",
                "schema": "products/customer/raw.avsc",
            },
        }
    ]
    assert f"wrote {DRAFT}: draft customer-data-product of Customer Data Product from ports" in result.output
    assert "owner data-team (CODEOWNERS)" in result.output
    assert "customer-data-product 1.1.0" in treaty("lint", DRAFT).output


def test_nothing_that_exists_is_changed(treaty: Treaty, tmp_path: Path) -> None:
    _make(tmp_path, {**FILES, "treaty.yaml": "name: mine\n"})
    treaty("init", "--discover")
    (tmp_path / DRAFT).write_text((tmp_path / DRAFT).read_text() + "# ours now\n")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    again = treaty("init", "--discover")

    assert again.code == 0
    assert "wrote" not in again.output
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_contract_beside_its_product_is_found_and_nothing_is_drafted(treaty: Treaty, tmp_path: Path) -> None:
    product = "kind: DataProduct\nname: Returns\noutputPorts: [{name: returns, version: 1.0.0}]\n"
    contract = "dataset_id: returns\nversion: 1.2.0\nowners: [{team: shop}]\nfields: [{name: sku, type: string}]\n"
    _make(tmp_path, {"returns/product.yaml": product, "returns/datacontract.yaml": contract})

    result = treaty("init", "--discover")

    assert "found returns/datacontract.yaml: contract returns 1.2.0" in result.output
    assert "draft" not in result.output
    assert (tmp_path / "returns" / "datacontract.yaml").read_text() == contract


def test_two_products_of_one_folder_get_two_drafts_and_an_unknown_owner(treaty: Treaty, tmp_path: Path) -> None:
    port = "outputPorts: [{name: a, version: 1.0.0}]\n"
    _make(tmp_path, {f"{name}.yaml": f"kind: DataProduct\nname: {name}\n{port}" for name in ("one", "two")})

    result = treaty("init", "--discover")

    drafts = sorted(path.name for path in tmp_path.glob("*datacontract.yaml"))
    assert drafts == ["datacontract.yaml", "two.datacontract.yaml"]
    assert load((tmp_path / "datacontract.yaml").read_bytes()).contract.owners[0].team == "unknown"
    assert "from ports a (no schema found); owner unknown" in result.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: DataProduct\nname: x\noutputPorts: [{version: 1.0.0}]\n", "has no name"),
        ("kind: DataProduct\n", "not a data product with an id or a name"),
        ("kind: DataProduct\nname: [\n", "not valid YAML"),
    ],
)
def test_a_broken_product_is_named_and_skipped(treaty: Treaty, tmp_path: Path, text: str, message: str) -> None:
    _make(tmp_path, {"p.yaml": text})

    result = treaty("init", "--discover")

    assert result.code == 0
    assert "skipped p.yaml" in result.errors
    assert message in result.errors


def test_a_folder_that_is_missing_or_empty_says_so(treaty: Treaty, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    assert "there is no folder nowhere" in treaty("init", "--discover", "nowhere").errors
    assert "found no contracts, data products or schemas" in treaty("init", "--discover", "empty").output


@pytest.mark.parametrize(
    ("name", "text", "contract_id"),
    [
        ("order.avsc", AVRO % "shop.Order", "shop.Order"),
        ("order.proto", 'syntax = "proto3";\nmessage Order { string id = 1; }\n', "Order"),
        ("order.schema.json", '{"type": "object", "properties": {"id": {"type": "string"}}}', "order"),
        ("order.sql", "CREATE TABLE shop.orders (id BIGINT);", "shop.orders"),
        ("schema.yml", "models:\n  - name: orders\n    columns:\n      - {name: id, data_type: string}\n", "orders"),
    ],
)  # fmt: skip
def test_infer_drafts_from_a_schema_file(
    treaty: Treaty, tmp_path: Path, name: str, text: str, contract_id: str
) -> None:
    _make(tmp_path, {name: text})

    result = treaty("infer", name)
    renamed = treaty("infer", name, "--id", "mine", "--object", "rows", "--format", "json")

    contract = load(result.output).contract
    assert result.code == 0, result.errors
    assert (contract.id, contract.version, contract.status) == (contract_id, "0.1.0", "draft")
    assert [field.name for field in contract.schema[0].fields] == ["id"]
    assert contract.owners[0].team == "TODO"
    assert contract.custom_properties is not None
    assert {"property": "evidence", "value": {"file": name}} in yaml.safe_load(result.output)["customProperties"]
    assert (load(renamed.output).contract.id, load(renamed.output).contract.schema[0].name) == ("mine", "rows")


def test_infer_names_one_of_several_contracts_of_a_schema_file(treaty: Treaty, tmp_path: Path) -> None:
    _make(tmp_path, {"shop.sql": "CREATE TABLE a (id INT);\nCREATE TABLE b (id INT);\n"})

    assert "shop.sql has 2 contracts: a, b; select one" in treaty("infer", "shop.sql").errors
    assert load(treaty("infer", "shop.sql#b").output).contract.id == "b"
