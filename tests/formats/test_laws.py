"""Laws of all formats: nothing is lost without its name, and what came through once comes through again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings

from tests.formats.plain_documents import plain_document
from tests.strategies import contract_pairs, contracts
from treaty.compatibility import diff
from treaty.contracts import Contract
from treaty.contracts.foreign import FOREIGN_KEY
from treaty.contracts.paths import FieldPath
from treaty.contracts.types import normalize_type
from treaty.formats import FORMATS, Format, ReadResult, get_format

CARRIERS = ("avro", "json-schema", "openapi", "asyncapi", "dbt")
"""Formats with room for notes, which lose nothing; Pydantic is tried where its source is run."""
WRITINGS = [
    (one, dialect) for one in FORMATS if one.writes and one.name != "pydantic" for dialect in one.dialects or (None,)
]
_SETTLED = frozenset({"physicalType", "physicalName", "id"})
"""What a format may say where the contract leaves it open: stored types and names, and the numbers of Protobuf."""


def _in(form: Format, dialect: str | None) -> Callable[[Contract], tuple[ReadResult, tuple[Any, ...]]]:
    def through(contract: Contract) -> tuple[ReadResult, tuple[Any, ...]]:
        written = form.write(contract, dialect=dialect)
        losses = tuple(loss for loss in written.losses if not loss.is_carried)
        return form.read(written.text, name=contract.id), losses

    return through


def _examples(form: Format) -> int:
    return {"protobuf": 12, "sql": 8, "dbt": 8}.get(form.name, 25)


@pytest.mark.parametrize("name", CARRIERS)
def test_a_format_with_room_for_notes_loses_nothing(name: str) -> None:
    through = _in(get_format(name), None)

    @settings(max_examples=_examples(get_format(name)))
    @given(contracts())
    def law(contract: Contract) -> None:
        read, losses = through(contract)
        assert losses == ()
        assert _agree(plain_document(contract), plain_document(read.contracts[0]))

    law()


@pytest.mark.parametrize(("form", "dialect"), WRITINGS, ids=lambda part: getattr(part, "name", part))
def test_what_came_through_once_comes_through_again(form: Format, dialect: str | None) -> None:
    through = _in(form, dialect)

    @settings(max_examples=_examples(form))
    @given(contracts())
    def law(contract: Contract) -> None:
        read, _ = through(contract)
        assert read.losses == ()
        for one in read.contracts:
            again, losses = through(one)
            assert losses == again.losses == ()
            assert again.contracts == (one,)

    law()


@pytest.mark.parametrize("name", ["protobuf", "sql", "spark"])
def test_every_difference_is_named_where_it_is(name: str) -> None:
    through = _in(get_format(name), None)

    @settings(max_examples=_examples(get_format(name)))
    @given(contracts())
    def law(contract: Contract) -> None:
        read, losses = through(contract)
        after = [item for one in read.contracts for item in plain_document(one)["schema"]]
        before = plain_document(contract)["schema"]
        several = len(before) > 1
        for item, other in zip(before, after, strict=False):
            for field, back in zip(item["properties"], other["properties"], strict=True):
                path = str(FieldPath(object=item["name"] if several else None).field(field["name"]))
                if not _agree(field, _without_constructs(back)):
                    assert any(loss.path.startswith(path) for loss in losses), (path, field, back)
        if plain_document(contract).keys() - {"schema"} != plain_document(read.contracts[0]).keys() - {"schema"}:
            assert any(loss.path == "" for loss in losses)
        assert len({item["name"] for item in before}) == len(after) or any(loss.what == "the object" for loss in losses)

    law()


@pytest.mark.parametrize("name", ["avro", "json-schema"])
def test_changes_are_of_the_same_kinds_in_contracts_and_in_foreign_schemas(name: str) -> None:
    through = _in(get_format(name), None)

    @settings(max_examples=25)
    @given(contract_pairs())
    def law(pair: tuple[Contract, Contract]) -> None:
        before, after = pair
        if not before.schema or not after.schema:
            return
        foreign = [through(one)[0].contracts[0] for one in (before, after)]
        assert _kinds(before, after) == _kinds(*foreign)

    law()


def _without_constructs(node: Any) -> Any:
    """Return what was said without foreign constructs, which a format adds where the contract leaves it open."""
    if isinstance(node, list):
        kept = [one for one in node if not (isinstance(one, dict) and one.get("property") == FOREIGN_KEY)]
        return [_without_constructs(one) for one in kept]
    if isinstance(node, dict):
        inner = {key: _without_constructs(value) for key, value in node.items()}
        return {key: value for key, value in inner.items() if key != "customProperties" or value}
    return node


def _kinds(before: Contract, after: Contract) -> list[tuple[str, str | None]]:
    return sorted((change.kind, change.field or "") for change in diff(before, after))


def _agree(before: Any, after: Any) -> bool:
    """Tell whether all that was said is said still; what the format settles may stand beside it."""
    if isinstance(before, dict) and isinstance(after, dict):
        same = all(key in after and _agree(value, after[key]) for key, value in before.items())
        return same and after.keys() - before.keys() <= _SETTLED
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(_agree, before, after))
    if isinstance(before, str) and isinstance(after, str):
        return before == after or normalize_type(before) == normalize_type(after)
    return bool(before == after)
