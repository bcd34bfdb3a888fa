"""Document → model → document loses nothing, in every form and by every way there."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import example, given

from tests.contracts.comparing import as_json, same_contract
from tests.contracts.official import OFFICIAL_3_2
from tests.documents import document as completed
from tests.strategies import (
    V3_2,
    Document,
    authored_documents,
    documents,
    odcs_documents,
    short_documents,
)
from treaty.contracts import Contract, Form, contract_from, document_of, load
from treaty.contracts.model import locate_fields
from treaty.contracts.odcs import BlockStyle, with_plain_blocks, write_odcs
from treaty.contracts.text.writer import write_json, write_yaml
from treaty.contracts.values import FrozenMap

HEAD = {"apiVersion": "v3.2.0", "kind": "DataContract", "id": "orders", "version": "1.0.0"}


@given(odcs_documents())
@example(HEAD)
@example({**HEAD, "schema": [], "team": [], "customProperties": [], "description": {}})
@example({**HEAD, "schema": [{"name": "orders", "properties": []}], "team": {"members": []}})
@example(
    {**HEAD, "customProperties": [{"property": "a", "value": None}, {"property": "a", "value": {"b": [1, 1.0, True]}}]}
)
@example({**HEAD, "customProperties": [{"property": "tier", "value": "product"}, {"property": "tier", "value": 5}]})
def test_a_strict_document_survives_a_round_trip(document: Document) -> None:
    contract = contract_from(document)

    assert as_json(document_of(contract)) == as_json(document)
    assert as_json(write_odcs(contract)) == as_json(document)


@given(authored_documents())
@example({**HEAD, "tier": "product"})
@example({**HEAD, "tier": "product", "customProperties": [{"property": "a", "value": 1}]})
@example(completed([{"name": "a", "logicalType": "string", "default": None, "unit": "EUR"}]))
@example(completed([{"name": "a", "logicalType": "array", "items": {"logicalType": "string", "unit": "EUR"}}]))
def test_an_authored_document_survives_a_round_trip(document: Document) -> None:
    contract = contract_from(document)

    assert as_json(document_of(contract)) == as_json(document)
    assert as_json(write_odcs(contract, BlockStyle.PLAIN)) == as_json(document)


def test_an_empty_list_of_custom_properties_beside_plain_blocks_is_kept() -> None:
    document = {**HEAD, "tier": "product", "customProperties": []}

    assert as_json(document_of(contract_from(document))) == as_json(document)


def test_an_empty_list_of_custom_properties_beside_plain_field_keys_is_kept() -> None:
    document = completed([{"name": "a", "logicalType": "string", "unit": "EUR", "customProperties": []}])

    assert as_json(document_of(contract_from(document))) == as_json(document)


@given(authored_documents(V3_2))
def test_a_strict_export_is_valid_under_the_official_schema(document: Document) -> None:
    exported = write_odcs(contract_from(document))

    assert [error.message for error in OFFICIAL_3_2.iter_errors(exported)] == []


@given(short_documents())
def test_a_strict_export_of_the_short_form_is_valid_under_the_official_schema(document: Document) -> None:
    exported = write_odcs(contract_from(document))

    assert [error.message for error in OFFICIAL_3_2.iter_errors(exported)] == []


def _field_keys(contract: Contract) -> list[tuple[str, FrozenMap]]:
    return [(str(path), field.treaty) for path, field, _ in locate_fields(contract)]


@given(authored_documents())
def test_a_strict_export_equals_the_authored_contract(document: Document) -> None:
    authored = contract_from(document)
    exported = write_odcs(authored)
    again = contract_from(exported)

    assert (again.treaty, again.owners, again.sla) == (authored.treaty, authored.owners, authored.sla)
    assert _field_keys(again) == _field_keys(authored)
    assert as_json(write_odcs(again)) == as_json(exported)


@given(authored_documents())
def test_blocks_of_a_strict_document_can_be_written_plainly(document: Document) -> None:
    strict = contract_from(write_odcs(contract_from(document)))
    plain = with_plain_blocks(strict)
    again = contract_from(document_of(plain))

    assert (again.treaty, again.owners) == (strict.treaty, strict.owners)
    assert _field_keys(again) == _field_keys(strict)
    assert as_json(write_odcs(plain)) == as_json(write_odcs(strict))


@given(short_documents())
def test_a_strict_export_equals_the_short_form(document: Document) -> None:
    short = contract_from(document)
    again = contract_from(write_odcs(short))

    assert (again.treaty, again.owners, again.sla) == (short.treaty, short.owners, short.sla)
    assert again.objects == short.objects


def _as_said(document: Document) -> Document:
    """The short form with every default written out and a guide in one place."""
    said: dict[str, Any] = {"status": "draft", "primary_key": [], "description": None, "freshness_sla": None} | document
    said["fields"] = [
        {"required": True, "description": None, "enum": None, "deprecated": False} | field for field in said["fields"]
    ]
    said["owners"] = [{"contact": None} | owner for owner in said["owners"]]
    if said["freshness_sla"]:
        said["freshness_sla"] = {"measurement": "event_time"} | said["freshness_sla"]
    guide = said.pop("deprecation_uri", None)
    said["deprecation"] = said.get("deprecation", {}) | ({"migration_guide": guide} if guide else {})
    return said


@given(short_documents())
def test_a_short_form_survives_a_round_trip(document: Document) -> None:
    written = document_of(contract_from(document))

    assert as_json(_as_said(written)) == as_json(_as_said(document))


@given(short_documents())
def test_a_written_short_form_is_read_as_the_same_contract(document: Document) -> None:
    contract = contract_from(document)
    again = contract_from(document_of(contract))

    assert same_contract(again, contract)
    assert again.form is Form.SHORT


@given(documents())
def test_a_document_reads_the_same_from_yaml_from_json_and_from_data(document: Document) -> None:
    contract = contract_from(document)

    assert load(write_yaml(document)).contract == contract
    assert load(write_json(document)).contract == contract


@given(documents())
def test_reading_and_writing_do_not_change_the_data(document: Document) -> None:
    before = copy.deepcopy(document)
    contract = contract_from(document)
    written = document_of(contract)
    _overwrite(written)

    assert as_json(document) == as_json(before)
    assert contract == contract_from(before)


def _overwrite(part: Any) -> None:
    """Spoil every mapping and list of a document."""
    for inner in list(part.values()) if isinstance(part, dict) else part if isinstance(part, list) else ():
        _overwrite(inner)
    if isinstance(part, (dict, list)):
        part.clear()


@given(documents())
def test_equal_documents_are_equal_contracts_with_equal_hashes(document: Document) -> None:
    one, other = contract_from(document), contract_from(copy.deepcopy(document))

    assert one == other
    assert hash(one) == hash(other)
