"""The header of Kafka values, read and written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from treaty.schema_registry.wire_header import InvalidHeader, WireHeader, decode_header, encode_header

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "codecs" / "wire_headers.yaml").read_text()
)
HEADERS = [case for case in CASES if "schema_id" in case]
PROBLEMS = [case for case in CASES if "problem" in case]


def named(cases: list[dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=[case["name"] for case in cases])


@named(HEADERS)
def test_header_is_read(case: dict[str, Any]) -> None:
    header = decode_header(bytes.fromhex(case["value"]), has_message_indexes=case.get("protobuf", False))

    assert header == WireHeader(case["schema_id"], case["size"], tuple(case.get("message_indexes", ())))


@named(HEADERS)
def test_header_is_written_as_it_is_read(case: dict[str, Any]) -> None:
    indexes = tuple(case["message_indexes"]) if case.get("protobuf") else None

    assert encode_header(case["schema_id"], indexes) == bytes.fromhex(case["value"])[: case["size"]]


@named(PROBLEMS)
def test_value_without_a_header_is_refused_with_a_reason(case: dict[str, Any]) -> None:
    with pytest.raises(InvalidHeader) as refused:
        decode_header(bytes.fromhex(case["value"]), has_message_indexes=case.get("protobuf", False))

    assert (refused.value.problem.value, str(refused.value)) == (case["problem"], case["message"])


def test_id_that_no_registry_gives_is_not_written() -> None:
    with pytest.raises(ValueError, match="4294967296 is not the id of a schema"):
        encode_header(1 << 32)
