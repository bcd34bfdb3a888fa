"""Each document is held to the version of ODCS that it names."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contracts.comparing import as_json
from treaty.contracts import contract_from, document_of
from treaty.errors import InvalidDocument

HEAD = {"kind": "DataContract", "id": "orders", "version": "1.0.0", "status": "active"}


def _field(**keys: Any) -> dict[str, Any]:
    return {"schema": [{"name": "orders", "properties": [{"name": "amount", **keys}]}]}


def _rule(**keys: Any) -> dict[str, Any]:
    return _field(logicalType="string", quality=[keys])


def _keeps(version: str, part: dict[str, Any]) -> bool:
    document = {"apiVersion": version, **HEAD, **part}
    return as_json(document_of(contract_from(document))) == as_json(document)


ONLY_3_0 = {
    "library rule without a metric": _rule(type="library", rule="duplicateCount", mustBeLessThan=10, unit="rows"),
    "library rule without an operator": _rule(type="library", rule="nullCheck"),
    "rule without a type": _rule(rule="countCheck", mustBe=5),
    "rule of one's own": _rule(type="library", rule="ourOwnCheck", severity="error", mustBe=0),
    "rule with two operators": _rule(type="library", rule="rowCount", mustBeGreaterThan=1, mustBeLessThan=9),
    "rule with keys of one's own": _rule(type="text", description="a", ours={"a": 1}),
    "query without an operator": _rule(type="sql", query="SELECT 1"),
    "integer with a flag beside its maximum": _field(
        logicalType="integer", logicalTypeOptions={"maximum": 10, "exclusiveMaximum": True}
    ),
    "number with a flag beside its minimum": _field(
        logicalType="number", logicalTypeOptions={"minimum": 0, "exclusiveMinimum": False}
    ),
    "date with a flag beside its maximum": _field(
        logicalType="date", logicalTypeOptions={"maximum": "2026-01-03", "exclusiveMaximum": True}
    ),
    "service level with keys of one's own": {
        "slaProperties": [{"property": "latency", "value": 4, "unit": "d", "ours": "a", "column": "b"}]
    },
    "custom property without a value": {"customProperties": [{"property": "ours"}]},
    "custom property without a name": {"customProperties": [{"value": 5}]},
    "custom property with keys of one's own": {"customProperties": [{"property": "a", "value": 1, "note": "b"}]},
    "custom property with a number for an id": {"customProperties": [{"property": "a", "value": 1, "id": 5}]},
    "service level with a schedule of one's own": {
        "slaProperties": [{"property": "latency", "value": 4, "schedule": {"cron": "0 20 * * *"}}]
    },
    "nobody's place in a team": {"team": [{"role": "owner", "dateIn": "2026-01-03"}]},
    "team member with keys of one's own": {"team": [{"username": "a", "phone": "b"}]},
    "support channel with keys of one's own": {"support": [{"channel": "a", "url": "b", "ours": 1}]},
    "role with keys of one's own": {"roles": [{"role": "a", "ours": 1}]},
    "price with keys of one's own": {"price": {"priceAmount": 1, "ours": 1}},
    "server with keys of one's own": {"servers": [{"server": "a", "type": "kafka", "host": "b", "topic": "c"}]},
    "definition with keys of one's own": {"authoritativeDefinitions": [{"url": "a", "type": "b", "ours": 1}]},
}
ONLY_3_1 = {
    "object that is a blob": {"schema": [{"name": "orders", "logicalType": "blob"}]},
}
SINCE_3_1 = {
    "rule with a metric": _rule(type="library", metric="nullValues", mustBe=0),
    "timestamp": _field(logicalType="timestamp", logicalTypeOptions={"timezone": True}),
    "exclusive bound": _field(logicalType="integer", logicalTypeOptions={"exclusiveMaximum": 10}),
    "relationship": _field(logicalType="string", relationships=[{"to": "customers.id"}]),
    "team with a name": {"team": {"name": "checkout", "members": [{"username": "a"}]}},
    "team as a list": {"team": [{"username": "a"}]},
    "stable id": _field(logicalType="string", id="amount_id"),
}
SINCE_3_2 = {
    "map": _field(logicalType="map", map={"key": {"logicalType": "string"}, "value": {"logicalType": "integer"}}),
    "vector": _field(logicalType="vector", logicalTypeOptions={"dimensions": 3}),
    "enum": _field(logicalType="string", enum=[{"value": "a", "label": "A"}]),
    "deprecated field": _field(logicalType="string", deprecated=True),
    "synonyms": _field(logicalType="string", synonyms=[{"synonym": "total"}]),
    "context": {"context": {"instructions": "a"}},
}
IN_EVERY_VERSION = {
    "field without a type": _field(physicalType="varchar(20)"),
    "field with nothing but a name": _field(),
    "field with parts and no type": _field(physicalType="struct", properties=[{"name": "a", "logicalType": "string"}]),
    "field with elements and no type": _field(physicalType="array", items={"logicalType": "string"}),
    "elements without a type": _field(logicalType="array", items={"physicalType": "int"}),
    "elements that are objects": _field(
        logicalType="array", items={"logicalType": "object", "properties": [{"name": "a", "logicalType": "string"}]}
    ),
    "object without fields": {"schema": [{"name": "orders"}]},
    "no schema": {},
    "rule in words": _rule(type="text", description="never negative"),
    "rule of another engine": _rule(type="custom", engine="soda", implementation={"a": [1]}),
    "description with keys of one's own": {"description": {"purpose": "a", "ours": {"b": 1}}},
}


@pytest.mark.parametrize("part", ONLY_3_0.values(), ids=ONLY_3_0)
@pytest.mark.parametrize("version", ["v3.0.0", "v3.0.1", "v3.0.2"])
def test_what_only_3_0_allows_is_accepted_in_3_0(version: str, part: dict[str, Any]) -> None:
    assert _keeps(version, part)


@pytest.mark.parametrize("part", ONLY_3_0.values(), ids=ONLY_3_0)
@pytest.mark.parametrize("version", ["v3.1.0", "v3.2.0"])
def test_what_only_3_0_allows_is_refused_later(version: str, part: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument):
        contract_from({"apiVersion": version, **HEAD, **part})


@pytest.mark.parametrize("part", ONLY_3_1.values(), ids=ONLY_3_1)
def test_what_only_3_1_allows_is_accepted_in_3_1(part: dict[str, Any]) -> None:
    assert _keeps("v3.1.0", part)


@pytest.mark.parametrize("part", ONLY_3_1.values(), ids=ONLY_3_1)
def test_what_only_3_1_allows_is_refused_in_3_2(part: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument):
        contract_from({"apiVersion": "v3.2.0", **HEAD, **part})


@pytest.mark.parametrize("part", SINCE_3_1.values(), ids=SINCE_3_1)
@pytest.mark.parametrize("version", ["v3.1.0", "v3.2.0"])
def test_what_3_1_brought_is_accepted_since(version: str, part: dict[str, Any]) -> None:
    assert _keeps(version, part)


@pytest.mark.parametrize("part", SINCE_3_2.values(), ids=SINCE_3_2)
def test_what_3_2_brought_is_accepted_in_3_2(part: dict[str, Any]) -> None:
    assert _keeps("v3.2.0", part)


@pytest.mark.parametrize("part", IN_EVERY_VERSION.values(), ids=IN_EVERY_VERSION)
@pytest.mark.parametrize("version", ["v3.0.2", "v3.1.0", "v3.2.0"])
def test_what_every_version_allows_is_accepted_in_each(version: str, part: dict[str, Any]) -> None:
    assert _keeps(version, part)


def test_a_status_may_be_left_out_in_3_2() -> None:
    head = {key: value for key, value in HEAD.items() if key != "status"}

    assert contract_from({"apiVersion": "v3.2.0", **head}).status is None


@pytest.mark.parametrize("version", ["v3.0.9", "v3.3.0", "v4.0.0", "3.2.0", "v3.2", "", "latest"])
def test_a_version_of_odcs_that_does_not_exist_is_refused(version: str) -> None:
    with pytest.raises(InvalidDocument, match="unknown ODCS version") as caught:
        contract_from({"apiVersion": version, **HEAD})

    assert caught.value.findings[0].hint is not None
    assert "v3.2.0" in caught.value.findings[0].hint
