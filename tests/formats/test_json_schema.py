"""JSON Schema, judged by the library jsonschema: what the diff reports, and what exports accept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from tests.documents import CASES, contract
from tests.formats.json_schema_strategies import INSTANCES, schema_pairs, schemas
from tests.formats.sample_rows import BAD, FIELDS, GOOD
from treaty.cli.inputs import read_beside
from treaty.compatibility import diff
from treaty.contracts import Contract
from treaty.contracts.text import Limits, read_document
from treaty.formats import get_format
from treaty.formats.json_schema import read as read_schema
from treaty.formats.json_schema.composition import MAX_FOLLOWED_REFERENCES

FORMAT = get_format("json-schema")
INCOMPATIBLE = read_document((CASES / "incompatible" / "json_schema.yaml").read_bytes()).data["cases"]


def _accepts(schema: Any, instance: Any) -> bool:
    """Return the judgement of jsonschema, by the draft that the schema states."""
    validator = jsonschema.validators.validator_for(schema, default=Draft202012Validator)
    validator.check_schema(schema)
    return bool(validator(schema).is_valid(instance))


def _judge(schema: Any) -> list[bool] | None:
    """Return the judgements of jsonschema on all instances, or None if the schema is no schema."""
    try:
        Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError:
        return None
    validator = Draft202012Validator(schema)
    return [validator.is_valid(instance) for instance in INSTANCES]


def _read(schema: Any) -> tuple[Contract, ...]:
    return FORMAT.read(json.dumps(schema), name="x.schema.json").contracts


@pytest.mark.parametrize("case", INCOMPATIBLE, ids=[case["name"] for case in INCOMPATIBLE])
def test_incompatible_schemas_are_never_reported_as_unchanged(case: dict[str, Any]) -> None:
    before, after = json.loads(case["before"]), json.loads(case["after"])
    instance = json.loads(case["instance"])

    assert (_accepts(before, instance), _accepts(after, instance)) == (
        case["accepted"] == "before",
        case["accepted"] == "after",
    )
    (old,), (new,) = _read(before), _read(after)
    assert [f"{change.kind} {change.field or change.subject}" for change in diff(old, new)] == case["kinds"]


@settings(max_examples=100, deadline=None)
@given(schema_pairs())
def test_schemas_that_differ_on_an_instance_differ_in_the_diff(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    before, after = pair
    old_verdicts, new_verdicts = _judge(before), _judge(after)
    if old_verdicts is None or new_verdicts is None or old_verdicts == new_verdicts:
        return

    assert [change for old, new in zip(_read(before), _read(after), strict=True) for change in diff(old, new)]


@settings(max_examples=50, deadline=None)
@given(schemas())
def test_a_schema_that_was_read_and_written_accepts_the_same(schema: dict[str, Any]) -> None:
    """Except that a written schema also checks formats, and that names of recursive definitions are lost by name."""
    written = FORMAT.write(_read(schema)[0])
    before, after = _judge(schema), _judge(json.loads(written.text)) if "$ref" not in written.text else None
    if before is None or after is None or any("refers to a schema" in loss.why for loss in written.losses):
        return

    if '"format"' in json.dumps(schema):
        assert [old for old, new in zip(before, after, strict=True) if new and not old] == []
    else:
        assert before == after


@pytest.mark.parametrize("dialect", ["2020-12", "draft-07"])
def test_an_export_accepts_good_rows_and_refuses_bad_ones(dialect: str) -> None:
    schema = json.loads(FORMAT.write(contract(FIELDS), dialect=dialect).text)

    assert _accepts(schema, GOOD) is True
    for name, value in BAD:
        assert _accepts(schema, GOOD | {name: value}) is False, (name, value)


def test_rules_that_no_validator_checks_are_named_as_lost() -> None:
    fields = [
        *FIELDS[:5],
        {"name": "born", "logicalType": "date", "logicalTypeOptions": {"format": "dd.MM.yyyy"}, "unique": True},
        {"name": "iban", "logicalType": "string", "logicalTypeOptions": {"format": "iban", "pattern": "(?i)^de"}},
        {"name": "n", "logicalType": "integer", "quality": [{"metric": "nullValues", "mustBeLessThan": 5}]},
    ]

    assert [str(loss) for loss in FORMAT.write(contract(fields)).losses] == [
        "id: primaryKey true (a JSON Schema validates one document at a time)",
        "total: at most 2 decimal places (validators compute multipleOf in binary floating point and would reject "
        "19.99)",
        "born: unique true (a JSON Schema validates one document at a time)",
        "born: format dd.MM.yyyy (no keyword of JSON Schema checks it)",
        "iban: format iban (no keyword of JSON Schema checks it)",
        "iban: pattern (?i)^de (no keyword of JSON Schema checks it)",
        "n: the rule nullValues (a JSON Schema validates one document at a time)",
    ]


def test_references_to_files_beside_the_schema_are_followed(tmp_path: Path) -> None:
    (tmp_path / "types").mkdir()
    order = {
        "$id": "https://acme.example/schemas/order.json",
        "type": "object",
        "properties": {
            "total": {"$ref": "types/money.json"},
            "home": {"$ref": "https://acme.example/schemas/types/address.json#/$defs/address"},
            "other": {"$ref": "https://elsewhere.example/x.json"},
            "secret": {"$ref": "../../../../etc/passwd"},
        },
    }
    (tmp_path / "order.schema.json").write_text(json.dumps(order))
    (tmp_path / "types" / "money.json").write_text('{"type": "number", "minimum": 0}')
    (tmp_path / "types" / "address.json").write_text(
        '{"$defs": {"address": {"type": "object", "properties": {"price": {"$ref": "money.json"}}}}}'
    )
    path = str(tmp_path / "order.schema.json")

    read = read_schema(json.dumps(order), path, read_beside(path, Limits()))

    total, home, other, secret = read.contracts[0].schema[0].fields
    assert dict(total.options or {}) == {"minimum": 0}
    assert [dict(field.options or {}) for field in home.properties or ()] == [{"minimum": 0}]
    assert other.physical_type == "$ref https://elsewhere.example/x.json"
    assert secret.physical_type == "$ref ../etc/passwd"
    assert [loss.path for loss in read.losses] == ["other", "secret"]


def test_definitions_that_multiply_are_kept_by_name() -> None:
    levels = {
        f"d{n}": {"type": "object", "properties": {key: {"$ref": f"#/$defs/d{n + 1}"} for key in ("a", "b", "c")}}
        for n in range(12)
    }
    schema = {"$ref": "#/$defs/d0", "$defs": levels | {"d12": {"type": "string"}}}
    changed = {**schema, "$defs": levels | {"d12": {"type": "integer"}}}
    assert MAX_FOLLOWED_REFERENCES < 3**12

    (before,), (after,) = _read(schema), _read(changed)

    assert diff(before, after)


@pytest.mark.parametrize(
    "schema",
    [
        '{"properties": {"a": {"type": "string"}}, "required": ["a", {}, 3]}',
        '{"properties": {"a": {"type": ["string", "null"], "enum": 3}}}',
        '{"allOf": [{"properties": 1}, {"properties": {"a": {}}, "additionalProperties": false}]}',
        '{"oneOf": [{"$ref": 3}, {"properties": {}}], "properties": {}, "$defs": 3}',
        '{"properties": {"a": {"format": [], "pattern": 3, "items": [3], "dependencies": 3}}}',
    ],
)
def test_a_schema_with_values_of_the_wrong_type_is_read_and_written(schema: str) -> None:
    (read,) = FORMAT.read(schema, name="x.schema.json").contracts

    assert FORMAT.write(read).text
