"""What the strategies draw is what they say: valid documents, and pairs that differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import Phase, given, seed, settings
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
_ROUNDS = 8


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


def _unseen(wanted: set[str], strategy: SearchStrategy[Drawn], tell: Callable[[Drawn], set[str]]) -> set[str]:
    """What is not told of those that were drawn, some at a time until all is told; what is drawn rests on all code."""
    left = set(wanted)
    for number in range(_ROUNDS):

        @seed(number)
        @settings(max_examples=150, phases=(Phase.generate,), derandomize=False, database=None)
        @given(strategy)
        def draw(drawn: Drawn) -> None:
            left.difference_update(tell(drawn))

        draw()
        if not left:
            break
    return left


def test_generated_documents_of_3_2_cover_every_part() -> None:
    parts = {"items", "map", "enum", "quality", "relationships", "logicalTypeOptions", "team", "servers", "price"}

    assert _unseen(parts, odcs_documents(V3_2), _keys) == set()


def test_generated_documents_cover_every_key_of_treaty() -> None:
    assert _unseen({*block_names(), *field_key_names()}, authored_documents(V3_2), _keys) == set()


def test_generated_pairs_differ_in_every_part() -> None:
    def changed(pair: tuple[Document, Document]) -> set[str]:
        before, after = pair
        return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}

    parts = {"schema", "slaProperties", "version", "owners", "ordering", "delivery", "deprecation"}
    assert _unseen(parts, related_documents(), changed) == set()
