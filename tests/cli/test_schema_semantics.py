"""`treaty diff --semantics protobuf|json-schema`: the answers of a schema registry, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty, Write

PROTO = 'syntax = "proto3";\npackage shop;\nmessage Order { string id = 1; %s }\n'
CLOSED = {"title": "Order", "type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": False}
WITH_AMOUNT = {**CLOSED, "properties": {"id": {"type": "string"}, "amount": {"type": "number"}}}


def _files(suffix: str, before: str, after: str) -> tuple[str, str]:
    names = f"before{suffix}", f"after{suffix}"
    for name, text in zip(names, (before, after), strict=True):
        Path(name).write_text(text, encoding="utf-8")
    return names


@pytest.mark.parametrize(
    ("before", "after", "mode", "code"),
    [
        ("int32 n = 2;", "int64 m = 2;", "full", 0),
        ("int32 n = 2;", "", "full", 0),
        ("int32 n = 2;", "string n = 2;", "backward", 3),
        ("int32 a = 2; int32 b = 3;", "oneof c { int32 a = 2; int32 b = 3; }", "backward", 3),
        ("int32 a = 2; int32 b = 3;", "oneof c { int32 a = 2; int32 b = 3; }", "forward", 0),
        ("int32 n = 2;", "string n = 2;", "none", 0),
    ],
)
def test_protobuf_is_judged_by_the_wire_format(treaty: Treaty, before: str, after: str, mode: str, code: int) -> None:
    files = _files(".proto", PROTO % before, PROTO % after)

    assert treaty("diff", *files, "--semantics", "protobuf", "--mode", mode).code == code


@pytest.mark.parametrize(("mode", "code"), [("backward", 0), ("forward", 3), ("full", 3)])
def test_json_schema_is_judged_by_its_content_model(treaty: Treaty, mode: str, code: int) -> None:
    files = _files(".schema.json", json.dumps(CLOSED), json.dumps(WITH_AMOUNT))

    result = treaty("diff", *files, "--semantics", "json-schema", "--mode", mode)

    assert result.code == code
    assert "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL" in result.output


def test_a_finding_names_the_difference_and_who_is_affected(treaty: Treaty) -> None:
    files = _files(".proto", PROTO % "int32 n = 2;", PROTO % "string n = 2;")

    answer = json.loads(treaty("diff", *files, "--semantics", "protobuf", "--format", "json").output)

    assert (answer["semantics"], answer["compatible"], answer["admissible"]) == ("protobuf", False, False)
    first = answer["changes"][0]
    assert (first["kind"], first["path"], first["breaks"]) == ("field_type_changed", "#/Order/2", ["existing_data"])
    assert first["message"] == (
        "the field at '#/Order/2' is string in the new schema and int32 in the old schema, which are written "
        "differently (FIELD_SCALAR_KIND_CHANGED)"
    )


def test_contracts_are_compared_as_schemas_of_the_format(treaty: Treaty, write: Write) -> None:
    field = {"name": "id", "logicalType": "string"}
    files = [write("before.yaml", [field]), write("after.yaml", [field, {"name": "note", "logicalType": "string"}])]

    answer = json.loads(treaty("diff", *files, "--semantics", "json-schema", "--format", "json").output)

    assert answer["semantics"] == "json-schema"
    assert [(one["kind"], one["path"], one["severity"]) for one in answer["changes"]] == [
        ("field_added", "#/properties/note", "error"),
        ("field_added", "note", "info"),
    ]


def test_an_import_that_is_not_there_is_refused(treaty: Treaty) -> None:
    text = 'syntax = "proto3";\nimport "other.proto";\nmessage Order { string id = 1; }\n'
    files = _files(".proto", text, text.replace("id", "key"))

    result = treaty("diff", *files, "--semantics", "protobuf")

    assert result.code not in (0, 3)
    assert "other.proto" in result.errors
