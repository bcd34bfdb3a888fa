"""What the strategies draw is what they say: valid documents, and pairs that differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import Phase, given, settings
from hypothesis.strategies import SearchStrategy

from tests.contracts.official import OFFICIAL_3_2
from tests.strategies import (
    API_VERSIONS,
    V3_2,
    Document,
    authored_documents,
    contract_pairs,
    odcs_documents,
    related_documents,
    short_documents,
)
from treaty.contracts import Contract, Form, contract_from
from treaty.contracts.schemas import block_names, field_key_names

Drawn = TypeVar("Drawn")


@given(odcs_documents(V3_2))
def test_every_document_of_3_2_is_valid_under_the_official_schema(document: Document) -> None:
    assert [error.message for error in OFFICIAL_3_2.iter_errors(document)] == []


@pytest.mark.parametrize("version", API_VERSIONS)
def test_documents_of_every_version_are_contracts(version: str) -> None:
    @given(odcs_documents(version))
    def check(document: Document) -> None:
        contract = contract_from(document)
        assert (contract.api_version, contract.form) == (version, Form.ODCS)

    check()


@given(short_documents())
def test_documents_in_the_short_form_are_contracts(document: Document) -> None:
    assert contract_from(document).form is Form.SHORT


@given(contract_pairs())
def test_pairs_are_contracts_of_one_dataset(pair: tuple[Contract, Contract]) -> None:
    before, after = pair

    assert before.id == after.id == "orders"


def _keys(part: Any) -> set[str]:
    """Every key of a document, at any depth."""
    if isinstance(part, dict):
        return set(part).union(*map(_keys, part.values()))
    return set().union(*map(_keys, part)) if isinstance(part, list) else set()


def _seen(strategy: SearchStrategy[Drawn], tell: Callable[[Drawn], set[str]]) -> set[str]:
    """What is told of a few hundred that were drawn."""
    seen: set[str] = set()

    @settings(max_examples=300, phases=(Phase.generate,))
    @given(strategy)
    def draw(drawn: Drawn) -> None:
        seen.update(tell(drawn))

    draw()
    return seen


def test_documents_of_3_2_have_every_part_at_times() -> None:
    parts = {"items", "map", "enum", "quality", "relationships", "logicalTypeOptions", "team", "servers", "price"}

    assert parts - _seen(odcs_documents(V3_2), _keys) == set()


def test_authored_documents_have_each_of_treatys_own_keys_at_times() -> None:
    assert (block_names() | field_key_names()) - _seen(authored_documents(V3_2), _keys) == set()


def test_pairs_differ_in_every_part_at_times() -> None:
    def changed(pair: tuple[Document, Document]) -> set[str]:
        before, after = pair
        return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}

    parts = {"schema", "slaProperties", "version", "owners", "ordering", "delivery", "deprecation"}
    assert parts - _seen(related_documents(), changed) == set()
