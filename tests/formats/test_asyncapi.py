"""AsyncAPI: written documents have the structure that version 3.0 demands, and payloads of other languages are read."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given, settings

from tests.documents import CASES
from tests.strategies import contracts
from treaty.compatibility import diff, judge
from treaty.contracts import Contract
from treaty.contracts.text import read_document
from treaty.contracts.versions import Bump
from treaty.formats import get_format
from treaty.formats.nearby_files import NearbyFiles

ASYNCAPI = get_format("asyncapi")
ROOT_KEYS = {"asyncapi", "id", "info", "servers", "defaultContentType", "channels", "operations", "components"}
MESSAGE_KEYS = {"contentType", "name", "title", "summary", "description", "payload", "headers", "tags", "bindings"}
READS = {
    case["file"]: case
    for case in read_document((CASES / "formats" / "asyncapi.yaml").read_bytes(), "asyncapi.yaml").data["reads"]
}


def _require_structure(document: dict[str, Any]) -> None:
    """Assert what the specification of AsyncAPI 3.0 says about the parts that we write."""
    assert document["asyncapi"] == "3.0.0"
    assert {key for key in document if not key.startswith("x-")} <= ROOT_KEYS
    assert all(isinstance(document["info"][key], str) for key in ("title", "version"))
    for channel in document["channels"].values():
        assert channel.keys() <= {"address", "messages"}
        assert isinstance(channel["address"], str | None)
        assert all(message.keys() <= MESSAGE_KEYS for message in channel["messages"].values())
    for operation in document["operations"].values():
        assert operation.keys() == {"action", "channel", "messages"}
        assert operation["action"] in ("send", "receive")
        channel = _target(document, operation["channel"])
        assert any(channel is known for known in document["channels"].values())
        messages = [_target(document, one) for one in operation["messages"]]
        assert messages
        assert all(any(one is known for known in channel["messages"].values()) for one in messages)
    schemas = document.get("components", {}).get("schemas", {})
    assert all(re.fullmatch(r"[\w.-]+", name) for name in schemas)
    for reference in re.findall(r"'\$ref': '(#/components/[^']+)'", str(document)):
        assert isinstance(_target(document, {"$ref": reference}), dict)


def _target(document: Any, reference: dict[str, str]) -> Any:
    from urllib.parse import unquote

    assert reference.keys() == {"$ref"}
    for step in reference["$ref"].removeprefix("#/").split("/"):
        document = document[unquote(step).replace("~1", "/").replace("~0", "~")]
    return document


@settings(max_examples=15)
@given(contracts())
def test_written_documents_have_the_structure_of_the_specification(one: Contract) -> None:
    _require_structure(yaml.safe_load(ASYNCAPI.write(one).text))


@pytest.mark.parametrize("file", READS)
def test_a_document_that_was_read_is_written_in_version_3_without_loss(file: str) -> None:
    (read,) = ASYNCAPI.read(READS[file]["text"], name=file).contracts

    written = ASYNCAPI.write(read)

    _require_structure(yaml.safe_load(written.text))
    assert [loss for loss in written.losses if not loss.is_carried] == []
    assert ASYNCAPI.read(written.text, name="x").contracts == (read,)


def test_operations_keep_their_channels_and_directions() -> None:
    (read,) = ASYNCAPI.read(READS["events/checkout.yaml"]["text"], name="x").contracts

    document = yaml.safe_load(ASYNCAPI.write(read).text)

    assert {name: (one["action"], one["channel"]["$ref"]) for name, one in document["operations"].items()} == {
        "sendOrderPlaced": ("send", "#/channels/orders.placed"),
        "publish orders.cancel": ("receive", "#/channels/orders.cancel"),
    }
    assert list(document["channels"]["orders.placed"]["messages"]["OrderPlaced"]) == [
        *("contentType", "payload", "headers"),
    ]


def _one(payload: Any, **message: Any) -> str:
    messages = {"M": {"payload": payload, **message}}
    head = {"asyncapi": "3.0.0", "info": {"title": "x", "version": "1.0.0"}}
    return json.dumps({**head, "channels": {"a": {"address": "a", "messages": messages}}})


def test_an_avro_payload_is_read_from_a_file_beside_the_document() -> None:
    record = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
    files = NearbyFiles(
        "x.json", lambda path: None, lambda folder: [], lambda path: record if path == "./o.avsc" else None
    )
    payload = {"schemaFormat": "application/vnd.apache.avro;version=1.9.0", "schema": {"$ref": "./o.avsc"}}

    found = ASYNCAPI.read(_one(payload), name="x.json", files=files)
    missing = ASYNCAPI.read(_one(payload), name="x.json")

    assert [field.name for field in found.contracts[0].schema[0].fields] == ["id"]
    assert found.losses == ()
    assert [str(loss) for loss in missing.losses] == [
        "a M: the payload (the Avro schema is in no file that can be read)"
    ]


def test_a_payload_is_judged_as_an_event_whose_data_are_kept() -> None:
    optional = {"type": "object", "properties": {"a": {"type": "string"}}}
    before, after = (
        ASYNCAPI.read(_one(schema), name="x").contracts[0] for schema in (optional, {**optional, "required": ["a"]})
    )

    assert judge(diff(before, after)).required_bump is Bump.MAJOR
    assert judge(diff(after, before)).required_bump is Bump.MINOR


def test_another_title_breaks_nobody() -> None:
    text = _one({"type": "object", "properties": {}})
    before, after = (
        ASYNCAPI.read(one, name="x").contracts[0] for one in (text, text.replace('"title": "x"', '"title": "y"'))
    )

    assert judge(diff(before, after)).required_bump is Bump.PATCH
