"""The server's OpenAPI document is a contract: every operation is in it, and a change that breaks clients is seen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.server.test_openapi_examples import description
from treaty.compatibility import diff, judge
from treaty.contracts import Contract
from treaty.contracts.operations import METHODS, operation_in
from treaty.contracts.versions import Bump
from treaty.formats import get_format


def _read(document: dict[str, Any]) -> Contract:
    (contract,) = get_format("openapi").read(json.dumps(document), name="treaty.openapi.json").contracts
    return contract


@pytest.fixture(scope="module")
def own() -> Contract:
    """The contract of the server's API."""
    return _read(description())


def test_every_operation_of_the_server_is_in_the_contract(own: Contract) -> None:
    operations = [operation_in(item.custom_properties) for item in own.schema]

    assert {one.endpoint for one in operations if one} == {
        (method, path) for path, item in description()["paths"].items() for method in item if method in METHODS
    }


def test_an_answer_without_a_field_breaks_the_clients_of_the_server(own: Contract) -> None:
    changed = json.loads(json.dumps(description()))
    line = changed["components"]["schemas"]["LineAnswer"]
    del line["properties"]["latest"]
    line["required"].remove("latest")

    verdict = judge(diff(own, _read(changed)))

    assert verdict.required_bump is Bump.MAJOR
    assert "existing clients may not be able to read the response" in verdict.errors[0].message
    assert {one.change.kind for one in verdict.judged} == {"field_removed"}
