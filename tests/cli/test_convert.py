"""`treaty convert`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Treaty, Write
from treaty.contracts.reading import read_document

SHORT = """\
dataset_id: users.daily_active
version: "1.0.0"
owners:
  - {team: growth, contact: "#growth"}
freshness_sla: {max_lag_seconds: 86400}
status: active
primary_key: [user_id]
fields:
  - {name: user_id, type: string}
  - {name: plan, type: string, required: false, enum: [free, pro]}
  - {name: attributes, type: json, required: false}
"""


def _data(text: str) -> dict[str, object]:
    return read_document(text).data


def test_the_short_form_becomes_odcs_and_back_without_a_loss(treaty: Treaty, write: Write) -> None:
    odcs = treaty("convert", "--to", "odcs", write("short.yaml", SHORT))
    back = treaty("convert", "--to", "short", write("odcs.yaml", odcs.output))

    assert odcs.code == back.code == 0
    assert _data(odcs.output)["kind"] == "DataContract"
    assert _data(back.output) == _data(SHORT)
    assert back.errors == ""


def test_what_the_short_form_cannot_carry_is_named(treaty: Treaty, write: Write) -> None:
    nested = {"name": "customer", "logicalType": "object", "properties": [{"name": "city", "logicalType": "string"}]}
    dated = {"name": "day", "logicalType": "date", "classification": "internal"}

    result = treaty("convert", "--to", "short", write("orders.yaml", [nested, dated]))

    assert result.code == 0
    assert "lost: customer: what is nested inside it" in result.errors
    assert "lost: day: its type date becomes timestamp" in result.errors
    assert "lost: day: classification" in result.errors


def test_blocks_travel_as_custom_properties_or_as_plain_keys(treaty: Treaty, write: Write) -> None:
    file = write("orders.yaml", {"fields": [], "ordering": "none"})

    strict = _data(treaty("convert", "--to", "odcs", file).output)
    plain = _data(
        treaty("convert", "--to", "odcs", "--blocks", "plain", write("s.yaml", str(json.dumps(strict)))).output
    )

    assert {"property": "ordering", "value": "none"} in strict["customProperties"]  # type: ignore[operator]
    assert "ordering" not in strict
    assert plain["ordering"] == "none"


def test_a_contract_is_written_as_json_to_a_file(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    result = treaty("convert", "--to", "odcs", "--notation", "json", "--output", "out.json", write("s.yaml", SHORT))

    assert result.output == ""
    assert json.loads((tmp_path / "out.json").read_text())["id"] == "users.daily_active"


def test_a_file_that_cannot_be_written_is_one_clear_error(treaty: Treaty, write: Write) -> None:
    result = treaty("convert", "--to", "odcs", "--output", "no/such/folder.yaml", write("s.yaml", SHORT))

    assert result.code == 1
    assert "cannot write no/such/folder.yaml" in result.errors
