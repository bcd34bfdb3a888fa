"""Each document is held to the version of ODCS that it names."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts.comparing import as_json
from tests.contracts.official import OFFICIAL_3_2
from tests.strategies import odcs_documents
from treaty.contracts import contract_from, document_of
from treaty.contracts.odcs import export_odcs, find_version_problems, write_odcs
from treaty.contracts.odcs.schema_versions import valid_version
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
    "a team member without a name": {"team": [{"role": "owner", "dateIn": "2026-01-03"}]},
    "team member with keys of one's own": {"team": [{"username": "a", "phone": "b"}]},
    "support channel with keys of one's own": {"support": [{"channel": "a", "url": "b", "ours": 1}]},
    "role with keys of one's own": {"roles": [{"role": "a", "ours": 1}]},
    "price with keys of one's own": {"price": {"priceAmount": 1, "ours": 1}},
    "server with keys of one's own": {"servers": [{"server": "a", "type": "kafka", "host": "b", "topic": "c"}]},
    "definition with keys of one's own": _field(
        logicalType="string", authoritativeDefinitions=[{"url": "a", "type": "b", "ours": 1}]
    ),
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


INVALID_IN: dict[str, tuple[tuple[str, ...], dict[str, Any], list[str]]] = {
    "no status": (("v3.0.0", "v3.0.1", "v3.0.2", "v3.1.0"), {"status": None}, ["'status' is missing"]),
    "timestamp": (
        ("v3.0.0", "v3.0.1", "v3.0.2"),
        _field(logicalType="timestamp"),
        ["unknown type 'timestamp' at schema[0].properties[0].logicalType"],
    ),
    "time": (
        ("v3.0.0", "v3.0.2"),
        _field(logicalType="time"),
        ["unknown type 'time' at schema[0].properties[0].logicalType"],
    ),
    "library rule without a rule": (
        ("v3.0.0", "v3.0.2"),
        _rule(type="library", metric="nullValues", mustBe=0),
        ["'rule' is missing at schema[0].properties[0].quality[0]"],
    ),
    "bound that excludes a number": (
        ("v3.0.0", "v3.0.2"),
        _field(logicalType="integer", logicalTypeOptions={"exclusiveMaximum": 10}),
        ["'10' is not a boolean at schema[0].properties[0].logicalTypeOptions.exclusiveMaximum"],
    ),
    "stable id of a field": (
        ("v3.0.0", "v3.0.2"),
        _field(logicalType="string", id="amount_id"),
        ["unknown key 'id' at schema[0].properties[0]"],
    ),
    "relationship of a field": (
        ("v3.0.0", "v3.0.2"),
        _field(logicalType="string", relationships=[{"to": "customers.id"}]),
        ["unknown key 'relationships' at schema[0].properties[0]"],
    ),
    "support channel without a URL": (
        ("v3.0.0", "v3.0.2"),
        {"support": [{"channel": "#orders"}]},
        ["'url' is missing at support[0]"],
    ),
    "physical name of a field": (
        ("v3.0.0", "v3.0.1"),
        _field(logicalType="string", physicalName="AMT"),
        ["unknown key 'physicalName' at schema[0].properties[0]"],
    ),
    "definitions of the contract": (
        ("v3.0.0",),
        {"authoritativeDefinitions": [{"url": "a", "type": "b"}]},
        ["unknown key 'authoritativeDefinitions'"],
    ),
    "enum": (
        ("v3.0.2", "v3.1.0"),
        _field(logicalType="string", enum=[{"value": "a"}]),
        ["unknown key 'enum' at schema[0].properties[0]"],
    ),
    "map": (
        ("v3.1.0",),
        _field(logicalType="map", map={"key": {"logicalType": "string"}, "value": {"logicalType": "string"}}),
        ["unknown type 'map' at schema[0].properties[0].logicalType"],
    ),
    "port as a text": (
        ("v3.0.2", "v3.1.0"),
        {"servers": [{"server": "a", "type": "mysql", "host": "b", "port": "${PORT}", "database": "c"}]},
        ["'${PORT}' is not a integer at servers[0].port"],
    ),
}
"""Facts of the older versions: the versions, what they do not allow, and how that is reported."""


def _document(version: str, part: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in {"apiVersion": version, **HEAD, **part}.items() if value is not None}


INVALID_CASES = [
    pytest.param(version, part, messages, id=f"{version} {name}")
    for name, (versions, part, messages) in INVALID_IN.items()
    for version in versions
]


@pytest.mark.parametrize(("version", "part", "messages"), INVALID_CASES)
def test_a_version_has_its_own_rules(version: str, part: dict[str, Any], messages: list[str]) -> None:
    problems = find_version_problems(_document(version, part))

    assert [problem.finding.message for problem in problems] == messages


@pytest.mark.parametrize(("version", "part", "messages"), INVALID_CASES)
def test_a_document_may_use_what_a_later_version_has(version: str, part: dict[str, Any], messages: list[str]) -> None:
    document = _document(version, part)

    assert as_json(document_of(contract_from(document))) == as_json(document)


@pytest.mark.parametrize(("version", "part", "messages"), INVALID_CASES)
def test_an_export_states_a_version_that_allows_it(version: str, part: dict[str, Any], messages: list[str]) -> None:
    exported = export_odcs(contract_from(_document(version, part)))

    assert exported["apiVersion"] > version
    assert find_version_problems(exported) == []


@given(odcs_documents())
@settings(max_examples=40)
def test_an_export_of_a_valid_document_keeps_its_version(document: dict[str, Any]) -> None:
    assert as_json(export_odcs(contract_from(document))) == as_json(document)


@given(odcs_documents(), st.sampled_from(["v3.0.0", "v3.0.1", "v3.0.2", "v3.1.0"]))
@settings(max_examples=40)
def test_an_export_is_valid_for_its_version(document: dict[str, Any], stated: str) -> None:
    try:
        contract = contract_from(document | {"apiVersion": stated})
    except InvalidDocument:
        return
    exported = export_odcs(contract)

    if valid_version(write_odcs(contract)) is not None:  # a mixture of two versions is valid in none
        assert find_version_problems(exported) == []


def test_what_neither_the_stated_nor_a_later_version_allows_is_refused() -> None:
    part = _field(logicalType="integer", logicalTypeOptions={"exclusiveMaximum": "ten"})

    with pytest.raises(InvalidDocument, match=r"'ten' is not a boolean at .*exclusiveMaximum"):
        contract_from({"apiVersion": "v3.0.2", **HEAD, **part})


def test_a_document_may_mix_two_versions() -> None:
    part = {
        "schema": [
            {
                "name": "orders",
                "properties": [
                    {"name": "at", "logicalType": "timestamp"},
                    {"name": "id", "logicalType": "string", "quality": [{"type": "library", "rule": "nullCheck"}]},
                ],
            }
        ]
    }

    assert _keeps("v3.0.2", part)


def test_a_field_without_a_type_is_exported_as_3_1() -> None:
    document = {"apiVersion": "v3.2.0", **HEAD, **_field(physicalType="bytea")}

    assert OFFICIAL_3_2.is_valid(document) is False  # it asks every field without a type for the entries of a map
    assert export_odcs(contract_from(document)) == {**document, "apiVersion": "v3.1.0"}


def test_a_status_may_be_left_out_in_3_2() -> None:
    head = {key: value for key, value in HEAD.items() if key != "status"}

    assert contract_from({"apiVersion": "v3.2.0", **head}).status is None


@pytest.mark.parametrize("version", ["v3.0.9", "v3.3.0", "v4.0.0", "3.2.0", "v3.2", "", "latest"])
def test_a_version_of_odcs_that_does_not_exist_is_refused(version: str) -> None:
    with pytest.raises(InvalidDocument, match="unknown ODCS version") as caught:
        contract_from({"apiVersion": version, **HEAD})

    assert caught.value.findings[0].hint is not None
    assert "v3.2.0" in caught.value.findings[0].hint
