"""Whether a contract can be read from what a schema's writers write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documents import contract
from treaty.schema_registry.model import ParsedSchema, SchemaType
from treaty.schema_registry.schemas import parse_schema
from treaty.schema_registry.writer_judgement import judge_writer

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "codecs" / "writer_schemas.yaml").read_text()
)
ORDERS = contract(
    {
        "id": "shop.orders",
        "schema": [
            {
                "name": "orders",
                "properties": [
                    {"name": "id", "logicalType": "string", "required": True},
                    {"name": "count", "logicalType": "integer"},
                    {"name": "state", "logicalType": "string", "enum": [{"value": "OPEN"}, {"value": "PAID"}]},
                    {"name": "at", "logicalType": "timestamp"},
                    {"name": "price", "logicalType": "number", "physicalType": "decimal(10,2)"},
                    {
                        "name": "place",
                        "logicalType": "object",
                        "properties": [{"name": "city", "logicalType": "string", "required": True}],
                    },
                ],
            }
        ],
    }
)


def _schema(case: dict[str, Any]) -> ParsedSchema:
    if "avro" in case:
        text = json.dumps({"type": "record", "name": "Ordered", "namespace": "com.example", "fields": case["avro"]})
        return parse_schema(SchemaType.AVRO, text)
    if "protobuf" in case:
        return parse_schema(SchemaType.PROTOBUF, f'syntax = "proto3"; message Ordered {{ {case["protobuf"]} }}')
    text = json.dumps({"type": "object", "properties": case["json"], "required": ["id"]})
    return parse_schema(SchemaType.JSON, text)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_schema_of_a_writer_is_judged_by_what_the_contract_reads(case: dict[str, Any]) -> None:
    assert list(judge_writer(ORDERS, _schema(case))) == case.get("differences", [])


def test_envelope_is_judged_by_the_row_in_it() -> None:
    row = {"type": "record", "name": "Value", "fields": [{"name": "count", "type": "int"}]}
    fields = [
        {"name": "before", "type": ["null", row], "default": None},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {"name": "op", "type": "string"},
    ]
    envelope = parse_schema(
        SchemaType.AVRO, json.dumps({"type": "record", "name": "Envelope", "namespace": "shop", "fields": fields})
    )

    assert judge_writer(ORDERS, envelope, is_envelope=True) == (
        "field 'id': the field 'id' at '/fields/0' in the contract’s schema has no default value and is missing in the "
        "writer’s schema",
    )
