"""Foreign schemas on the command line: `treaty convert`, `treaty diff` and `treaty lint` on them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty, Write
from tests.cli.git_repositories import made
from tests.documents import CASES
from treaty.cli.commands import convert
from treaty.contracts.text import read_document
from treaty.formats import FORMATS
from treaty.formats.catalog_sql import CATALOG_EXPORTS

ROOT = Path(__file__).parents[2]
AVRO = '{"type": "record", "name": "Order", "fields": [{"name": "%s", "type": "string"%s}]}'
TABLES = "CREATE TABLE shop.orders (id BIGINT);\nCREATE TABLE shop.lines (id BIGINT DEFAULT now());\n"
FIELD = {"name": "order_id", "logicalType": "string", "primaryKey": True, "description": "Identifies the order."}


@pytest.mark.parametrize("form", [one for one in FORMATS if one.writes], ids=lambda form: form.name)
def test_a_contract_is_written_in_every_format(treaty: Treaty, write: Write, form: object) -> None:
    name, suffix = form.name, form.suffix  # type: ignore[attr-defined]
    result = treaty("convert", write("orders.yaml", [FIELD]), "--to", name, "--output", f"orders{suffix}")

    assert result.code == 0
    assert f"wrote orders{suffix}" in result.errors
    if name != "pydantic":
        back = treaty("convert", f"orders{suffix}", "--to", "odcs")
        (column,) = read_document(back.output).data["schema"][0]["properties"]
        assert (column["name"], column["description"]) == ("order_id", "Identifies the order.")


def test_what_does_not_come_across_is_named(treaty: Treaty, write: Write) -> None:
    result = treaty("convert", write("orders.yaml", [FIELD]), "--to", "sql", "--dialect", "spark")

    assert result.output.startswith("-- dialect: spark\nCREATE TABLE orders (")
    assert "lost: order_id: primaryKey true (spark has no PRIMARY KEY)\n" in result.errors
    assert "lost: version 1.0.0 (a table definition cannot express it)\n" in result.errors


def test_one_of_several_contracts_is_named_by_its_id(treaty: Treaty, write: Write) -> None:
    file = write("shop.sql", TABLES)

    unclear = treaty("convert", file, "--to", "odcs")
    lines = treaty("convert", f"{file}#shop.lines", "--to", "odcs")
    unknown = treaty("convert", f"{file}#shop.line", "--to", "odcs")

    assert unclear.code == unknown.code == 1
    assert "shop.sql has 2 contracts: shop.orders, shop.lines; select one, for example" in unclear.errors
    assert (
        "shop.sql has no contract 'shop.line'; did you mean 'shop.lines'? use one of: shop.orders, shop.lines"
        in unknown.errors
    )
    assert read_document(lines.output).data["id"] == "shop.lines"
    assert "lost: shop.sql: lines:id: default CURRENT_TIMESTAMP" in lines.errors


def test_all_contracts_of_a_file_go_into_a_folder(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()

    treaty("convert", write("shop.sql", TABLES), "--to", "avro", "--output", "out")

    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["shop.lines.avsc", "shop.orders.avsc"]


def test_option_overrides_the_format_of_the_file_name(treaty: Treaty, write: Write) -> None:
    file = write("order.json", AVRO % ("id", ""))

    assert treaty("convert", file, "--to", "odcs").code == 3
    assert read_document(treaty("convert", file, "--from", "avro", "--to", "odcs").output).data["id"] == "Order"


def test_a_dialect_that_does_not_fit_is_refused(treaty: Treaty, write: Write) -> None:
    file = write("orders.yaml", [FIELD])

    assert "--from-dialect is for SQL" in treaty("convert", file, "--to", "avro", "--from-dialect", "spark").errors
    assert (
        "--dialect spark is for foreign formats" in treaty("convert", file, "--to", "odcs", "--dialect", "spark").errors
    )
    assert "Avro schema has no dialect 'spark'" in treaty("convert", file, "--to", "avro", "--dialect", "spark").errors


def test_python_is_not_run(treaty: Treaty, write: Write) -> None:
    result = treaty("convert", write("models.py", "open('made', 'w')"), "--to", "odcs")

    assert result.code == 3
    assert (
        "models.py: Python files are not executed, so their models cannot be read; print the schema of the model"
        in result.errors
    )
    assert not Path("made").exists()


def test_avro_alias_declares_a_rename(treaty: Treaty, write: Write) -> None:
    before = write("a.avsc", AVRO % ("customer", ""))
    after = write("b.avsc", AVRO % ("client", ', "aliases": ["customer"]'))

    result = treaty("diff", before, after)

    assert result.code == 3
    assert "field_renamed" in result.output
    assert "field_removed" not in result.output


MONEY = '{"type": "record", "name": "Money", "namespace": "shop", "fields": [{"name": "%s", "type": "long"}]}'
ORDER = '{"type": "record", "name": "Order", "namespace": "shop", "fields": [{"name": "total", "type": "Money"}]}'


@pytest.mark.parametrize("name", ["Money.avsc", "types.avsc", "shop.Money.avsc"])
def test_an_avro_type_is_found_in_a_file_beside(treaty: Treaty, write: Write, name: str) -> None:
    write(f"a/{name}", MONEY % "cents")
    write(f"b/{name}", MONEY % "units")

    result = treaty("diff", write("a/order.avsc", ORDER), write("b/order.avsc", ORDER))

    assert result.code == 3
    assert "field 'total.cents' was removed" in result.output


def test_an_avro_type_is_found_at_a_git_revision(treaty: Treaty, tmp_path: Path) -> None:
    repository = made(tmp_path, {"events/Money.avsc": MONEY % "cents", "events/order.avsc": ORDER})
    repository.write({"events/Money.avsc": MONEY % "units"})

    result = treaty("diff", "git:HEAD:events/order.avsc", "events/order.avsc")

    assert "field 'total.cents' was removed" in result.output


def test_a_protobuf_import_is_found_from_a_folder_above(treaty: Treaty, write: Write) -> None:
    order = 'syntax = "proto3"; package shop; import "common/money.proto"; message Order { common.Money total = 1; }'
    for side, field in (("a", "cents"), ("b", "units")):
        money = f'syntax = "proto3"; package common; message Money {{ int64 {field} = 1; }}'
        write(f"{side}/common/money.proto", money)
        write(f"{side}/shop/v1/order.proto", order)

    result = treaty("diff", "a/shop/v1/order.proto", "b/shop/v1/order.proto")

    assert result.code == 3
    assert "field 'total.cents' was renamed to 'total.units'" in result.output


def test_check_finds_the_types_of_a_changed_schema_on_both_sides(treaty: Treaty, tmp_path: Path) -> None:
    repository = made(
        tmp_path, {"events/Money.avsc": MONEY % "cents", "events/order.avsc": ORDER, "e.avsc": '{"type": "enum"}'}
    )
    repository.branch("change")
    wider = ORDER.replace('"Money"}', '"Money"}, {"name": "tip", "type": ["null", "Money"], "default": null}')
    repository.commit({"events/order.avsc": wider, "e.avsc": '{"type": "enum", "name": "E", "symbols": ["A"]}'})

    result = treaty("check", "--base", "main", "--format", "json")

    (contract,) = json.loads(result.output)["contracts"]
    (change,) = contract["changes"]
    assert contract["losses"] == []
    assert (change["kind"], change["field"]) == ("field_added", "tip")
    assert "e.avsc" not in result.output


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("colors.avsc", '{"type": "enum", "name": "Color", "symbols": ["RED"]}', "defines no record, only enum Color"),
        ("colors.proto", 'syntax = "proto3";\n// no message\nenum Color { RED = 0; }', "the file defines no message"),
    ],
)
def test_a_file_without_rows_is_a_wrong_argument(
    treaty: Treaty, write: Write, name: str, text: str, message: str
) -> None:
    result = treaty("convert", write(name, text), "--to", "odcs")

    assert result.code == 2
    assert message in result.errors


def test_foreign_schemas_are_linted(treaty: Treaty, write: Write) -> None:
    result = treaty("lint", write("shop.sql", TABLES), write("broken.sql", "CREATE TABLE t ("))

    assert result.code == 3
    assert "shop.sql#shop.orders" in result.output
    assert "shop.sql#shop.lines" in result.output
    assert "cannot read SQL as postgres" in treaty("convert", "broken.sql", "--from", "sql", "--to", "odcs").errors


def test_a_foreign_file_that_is_no_text_or_too_large_is_refused(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    (tmp_path / "bytes.proto").write_bytes(b"message \xff")
    (tmp_path / "treaty.yaml").write_text("limits:\n  bytes: 50\n")

    assert "bytes.proto: not UTF-8 text at byte 8" in treaty("convert", "bytes.proto", "--to", "odcs").errors
    large = treaty("convert", write("large.proto", "message A {}\n" * 50), "--to", "odcs")
    assert "large.proto: the document has more than 50 bytes" in large.errors


def test_the_choices_of_convert_are_the_formats() -> None:
    names = [one.name for one in FORMATS]

    assert [str(one) for one in convert.ForeignFormat] == names
    assert [str(one) for one in convert.TargetFormat] == [
        *("odcs", "short"),
        *(one.name for one in FORMATS if one.writes),
        *(one.name for one in CATALOG_EXPORTS),
    ]


def test_every_format_and_dialect_is_documented() -> None:
    page = (ROOT / "docs" / "formats.md").read_text()

    assert [one.name for one in FORMATS if f"| {one.title} | `{one.name}` |" not in page] == []
    assert [dialect for one in FORMATS for dialect in one.dialects if f"`{dialect}`" not in page] == []


OLDER = {
    "data-contract-specification": (
        "dataContractSpecification: 1.1.0\nid: orders\ninfo: {title: Orders, version: 1.0.0}\n"
        "models: {orders: {fields: {id: {type: %s}}}}\n"
    ),
    "odcs-2": (
        "apiVersion: v2.2.2\nkind: DataContract\nuuid: orders\nversion: 1.0.0\nstatus: active\n"
        "dataset: [{table: orders, columns: [{column: id, logicalType: %s}]}]\n"
    ),
}


@pytest.mark.parametrize("name", OLDER)
def test_older_contract_formats_are_detected(treaty: Treaty, write: Write, name: str) -> None:
    before, after = (write(f"{kind}.yaml", OLDER[name] % kind) for kind in ("string", "integer"))

    converted = treaty("convert", before, "--to", "odcs")
    compared = treaty("diff", before, after)

    assert read_document(converted.output).data["id"] == "orders"
    assert "field 'id' type changed: string -> integer" in compared.output
    assert "owner-missing" in treaty("lint", before).output


@pytest.mark.parametrize(("name", "title"), [(one.name, one.title) for one in FORMATS if not one.writes])
def test_a_command_for_contracts_refers_older_formats_to_convert(
    treaty: Treaty, write: Write, name: str, title: str
) -> None:
    result = treaty("register", write("orders.yaml", OLDER[name] % "string"), "--registry", "sqlite:///registry.db")

    assert result.code == 3
    assert f"{title}; convert it: treaty convert FILE --to odcs" in result.output


RECORD = """{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}%s]}"""
NOTE = """, {"name": "note", "type": ["null", "string"]}"""


def test_an_added_optional_field_of_a_schema_is_accepted(treaty: Treaty, write: Write) -> None:
    result = treaty("diff", write("old.avsc", RECORD % ""), write("new.avsc", RECORD % NOTE))

    assert result.code == 0
    assert "compatible under backward" in result.output
    assert "0.0.0" not in result.output


def test_the_same_schema_is_compatible(treaty: Treaty, write: Write) -> None:
    result = treaty("diff", write("old.avsc", RECORD % ""), write("new.avsc", RECORD % ""), "--format", "json")

    answer = json.loads(result.output)
    assert (result.code, answer["compatible"], answer["findings"]) == (0, True, [])


def test_a_schema_that_breaks_is_refused_and_says_that_it_has_no_plan(treaty: Treaty, write: Write) -> None:
    result = treaty("diff", write("old.avsc", RECORD % NOTE), write("new.avsc", RECORD % ""))

    assert result.code == 3
    assert "not compatible under backward; refused" in result.output
    assert "states no version and no migration plan" in " ".join(result.output.split())
    assert "set version" not in result.output


def test_the_semantics_of_avro_need_a_default_for_a_new_field(treaty: Treaty, write: Write) -> None:
    files = (write("old.avsc", RECORD % ""), write("new.avsc", RECORD % NOTE))

    result = treaty("diff", *files, "--semantics", "avro")

    assert result.code == 3
    assert "field 'note' added without a default; readers of the new schema cannot read existing" in result.output
    assert "not compatible under backward (avro); refused" in result.output
    assert treaty("diff", *files, "--semantics", "avro", "--mode", "forward").code == 0
    assert "use one of: contract, avro" in treaty("diff", *files, "--semantics", "thrift").errors


def test_every_table_of_a_file_is_compared(treaty: Treaty, write: Write) -> None:
    before = write("before.sql", TABLES)
    added = TABLES + "CREATE TABLE shop.refunds (id BIGINT);\n"
    dropped = "CREATE TABLE shop.orders (id BIGINT, total INT);\n"

    wider = treaty("diff", before, write("added.sql", added))
    narrower = treaty("diff", before, write("dropped.sql", dropped))

    assert (wider.code, narrower.code) == (0, 3)
    assert "schema object 'refunds' added" in wider.output
    assert "schema object 'lines' was removed" in narrower.output
    assert "optional field 'orders:total' added" in narrower.output
    assert treaty("diff", before, before).output.endswith("no change\n")


def _incompatible() -> Iterator[tuple[str, str, str]]:
    """Yield the suffix and both texts of every pair that the format's own tool calls incompatible."""
    for case in read_document((CASES / "incompatible" / "avro.yaml").read_bytes()).data["cases"]:
        sides = [case[side] for side in ("before", "after")]
        fields = [[{"name": "a", "type": side.get("type")}] for side in sides]
        rows = [{"type": "record", "name": "Row", "fields": one} for one in fields]
        texts = [json.dumps(side.get("record", row)) for side, row in zip(sides, rows, strict=True)]
        yield ".avsc", texts[0], texts[1]
    for case in read_document((CASES / "incompatible" / "protobuf.yaml").read_bytes()).data["cases"]:
        before, after = (
            body if body.startswith(("syntax", "edition")) else f'syntax = "proto3"; package shop; {body}'
            for body in (case["before"], case["after"])
        )
        yield ".proto", before, after
    for case in read_document((CASES / "incompatible" / "json_schema.yaml").read_bytes()).data["cases"]:
        yield ".schema.json", case["before"], case["after"]


def test_diff_never_says_no_change_of_what_the_format_calls_incompatible(treaty: Treaty, write: Write) -> None:
    for suffix, before, after in _incompatible():
        result = treaty("diff", write(f"before{suffix}", before), write(f"after{suffix}", after), "--mode", "full")

        assert result.code in (0, 3), result.errors
        assert "no change" not in result.output.lower(), (before, after)


def test_schemas_that_are_named_after_their_files_are_versions_of_one(treaty: Treaty, write: Write) -> None:
    before = write("v1.schema.json", '{"type": "object", "properties": {"a": {"type": "string"}}}')
    wider = write("v2.schema.json", '{"type": "object", "properties": {"a": {"type": "string"}, "b": {}}}')
    closed = write("v3.schema.json", '{"type": "object", "properties": {"a": {"type": "string"}}, "minProperties": 1}')

    added, judged = treaty("diff", before, wider), treaty("diff", before, closed)

    assert (added.code, judged.code) == (0, 3)
    assert "optional field 'b' added" in added.output
    assert "foreign_construct_changed" in judged.output
    assert "contract_id_changed" not in judged.output


def test_a_json_schema_without_an_object_says_so(treaty: Treaty, write: Write) -> None:
    file = write("types.schema.json", '{"$defs": {"money": {"type": "number"}}}')
    result = treaty("diff", file, file)

    assert result.code == 2
    assert "the schema does not describe an object; it only defines: money" in result.errors


def test_references_are_followed_to_files_beside_the_schema(treaty: Treaty, write: Write) -> None:
    write("money.json", '{"type": "number", "minimum": 0}')
    order = write("order.schema.json", '{"type": "object", "properties": {"total": {"$ref": "money.json"}}}')

    result = treaty("convert", order, "--to", "odcs")

    (total,) = read_document(result.output).data["schema"][0]["properties"]
    assert total["logicalTypeOptions"] == {"minimum": 0}
    assert "lost:" not in result.errors


API = {
    "openapi": "3.0.3",
    "info": {"title": "Orders API", "version": "1.0.0"},
    "paths": {
        "/orders": {
            "post": {
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/New"}}}},
                "responses": {
                    "201": {
                        "description": "Created",
                        "content": {"application/json": {"schema": {"$ref": "order.yaml"}}},
                    }
                },
            }
        }
    },
    "components": {"schemas": {"New": {"type": "object", "properties": {"dataset_id": {"type": "string"}}}}},
}
ORDER_BODY = (
    "type: object\nrequired: [id]\nproperties:\n  id: {type: string}\n  total: {type: number, nullable: true}\n"
)


def test_check_judges_the_changes_of_an_api(treaty: Treaty, tmp_path: Path) -> None:
    repository = made(tmp_path, {"api/orders.json": json.dumps(API, indent=2), "api/order.yaml": ORDER_BODY})
    repository.branch("change")
    changed = json.loads(json.dumps(API))
    changed["components"]["schemas"]["New"]["required"] = ["dataset_id"]
    changed["paths"]["/orders"]["get"] = {"responses": {"204": {"description": "None"}}}
    repository.commit({"api/orders.json": json.dumps(changed, indent=2)})

    result = treaty("check", "--base", "main", "--format", "json")

    (contract,) = json.loads(result.output)["contracts"]
    assert result.code == 3
    assert (contract["contract"], contract["format"]) == ("orders-api", "openapi")
    assert [(one["kind"], one["severity"]) for one in contract["changes"]] == [
        ("object_added", "info"),
        ("field_required_added", "error"),
    ]
    assert "requests of existing clients may be refused" in result.output


def test_check_accepts_changes_of_an_api_that_clients_survive(treaty: Treaty, tmp_path: Path) -> None:
    repository = made(tmp_path, {"api/orders.json": json.dumps(API), "api/order.yaml": ORDER_BODY})
    repository.branch("change")
    changed = json.loads(json.dumps(API))
    changed["paths"]["/orders"]["post"]["requestBody"]["content"]["application/json"]["schema"] = {
        "type": "object",
        "properties": {"dataset_id": {"type": "string"}, "note": {"type": "string"}},
    }
    repository.commit({"api/orders.json": json.dumps(changed)})

    result = treaty("check", "--base", "main")

    assert result.code == 0
    assert "optional field '`POST /orders request`:note' added" in result.output


def test_diff_and_lint_read_an_api_with_the_files_beside_it(treaty: Treaty, write: Write) -> None:
    write("order.yaml", ORDER_BODY)
    before = write("before.json", json.dumps(API))
    changed = json.loads(json.dumps(API))
    del changed["paths"]["/orders"]["post"]["responses"]["201"]["content"]
    after = write("after.json", json.dumps(changed))

    removed, linted = treaty("diff", before, after), treaty("lint", before)

    assert removed.code == 3
    assert "POST /orders 201" in removed.output
    assert "POST /orders 201" in linted.output
    assert "lost:" not in linted.errors


@pytest.mark.parametrize(("name", "statement"), [("unity-sql", "SET TAGS"), ("polaris-sql", "SET TBLPROPERTIES")])
def test_the_metadata_of_a_contract_are_written_for_a_catalog(
    treaty: Treaty, write: Write, name: str, statement: str
) -> None:
    file = write("orders.yaml", [FIELD])

    result = treaty("convert", file, "--to", name, "--output", "orders.sql")

    assert result.code == 0
    assert statement in Path("orders.sql").read_text()
    assert "has no dialects" in treaty("convert", file, "--to", name, "--dialect", "spark").errors
