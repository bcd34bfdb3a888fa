"""The words of a search are the same, read off the short form or off the contract that it says."""

from __future__ import annotations

import json

from hypothesis import given

from tests.strategies import Document, short_documents
from treaty.contracts import contract_from
from treaty.errors import InvalidDocument
from treaty.registry.preparing import prepare, searched


@given(short_documents())
def test_the_short_form_is_found_by_the_words_of_its_contract(document: Document) -> None:
    try:
        prepared = prepare(json.dumps(document).encode())
    except InvalidDocument:
        return  # a name that no registry keeps

    assert prepared.words == searched(contract_from(document))
