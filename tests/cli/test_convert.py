"""`treaty convert`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Treaty, Write
from treaty.contracts.text import read_document

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
    assert "lost: field 'customer' type changed: object -> json" in result.errors
    assert "lost: field 'day' type changed: date -> timestamp" in result.errors
    assert "lost: field 'day' classification changed: internal -> none" in result.errors


def test_losses_outside_of_fields_are_named_too(treaty: Treaty, write: Write) -> None:
    rich = {
        "name": "Orders",
        "tags": ["gold"],
        "description": {"usage": "Start here."},
        "slaProperties": [{"property": "latency", "value": 5, "unit": "s"}],
        "customProperties": [{"property": "steward", "value": "x"}],
        "fields": [{"name": "order_id", "logicalType": "string", "physicalName": "ord_id"}],
    }

    lost = treaty("convert", "--to", "short", write("orders.yaml", rich)).errors

    for what in ("name", "tags", "description.usage", "sla.latency", "customProperties.steward", "column 'ord_id'"):
        assert what in lost


def test_a_contract_without_fields_has_no_short_form(treaty: Treaty, write: Write) -> None:
    result = treaty("convert", "--to", "short", write("policy.yaml", {"tier": "enterprise"}))

    assert result.code == 1
    assert "orders has no fields; the short form needs at least one" in result.errors


def test_only_what_is_ours_becomes_a_plain_key(treaty: Treaty, write: Write) -> None:
    carried = [
        {"property": "ordering", "value": "none"},
        {"property": "tier", "value": "product", "description": "said by the data office"},
        {"property": "expires", "value": 5},
    ]
    field = {"name": "total", "logicalType": "number", "customProperties": [{"property": "unit", "value": "EUR"}]}
    file = write("orders.yaml", {"customProperties": carried, "fields": [field]})

    plain = _data(treaty("convert", "--to", "odcs", "--blocks", "plain", file).output)

    assert plain["ordering"] == "none"
    assert plain["customProperties"] == carried[1:]
    assert plain["schema"][0]["properties"][0]["unit"] == "EUR"  # type: ignore[index]


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


def test_digits_with_a_leading_zero_keep_their_text(treaty: Treaty, write: Write) -> None:
    short = write("stores.yaml", SHORT.replace("[free, pro]", "[0056500000019, 007]"))
    odcs = write("odcs.yaml", treaty("convert", "--to", "odcs", short).output)
    back = treaty("convert", "--to", "short", odcs)
    same = treaty("diff", short, odcs)

    assert "['0056500000019', '007']" in str(_data(back.output)["fields"])
    assert "no change" in same.output.lower()


def test_an_export_that_raises_the_version_of_odcs_says_so(treaty: Treaty, write: Write) -> None:
    old = {"apiVersion": "v3.0.2", "status": "active", "fields": [{"name": "placed_at", "logicalType": "timestamp"}]}

    result = treaty("convert", "--to", "odcs", write("orders.yaml", old))

    assert _data(result.output)["apiVersion"] == "v3.1.0"
    assert "lost: apiVersion v3.0.2 becomes v3.1.0 (ODCS v3.0.2 does not allow all of the contract)\n" in result.errors
