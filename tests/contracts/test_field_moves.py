"""What a migration block says of fields: held to the contract it stands in, and carried through every form."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import contract, document
from treaty.contracts import load
from treaty.contracts.blocks import FieldMove
from treaty.contracts.odcs import BlockStyle, write_odcs
from treaty.contracts.short_form import write_short_form
from treaty.contracts.text.writer import write_yaml
from treaty.contracts.values import FrozenMap
from treaty.errors import InvalidDocument

FIELDS = [{"name": "first", "logicalType": "string"}, {"name": "state", "logicalType": "string"}]
MOVES = [
    {"from": "full", "to": "first", "sql": "split_part(full, ' ', 1)", "exact": True, "note": "two names now"},
    {"field": "state", "values": {"A": "active"}},
    {"from": "flag", "back_default": False},
    {"to": "first", "default": "?"},
]
READ = (
    FieldMove("full", "first", sql="split_part(full, ' ', 1)", exact=True, note="two names now"),
    FieldMove("state", "state", values=FrozenMap({"A": "active"})),
    FieldMove("flag", None, back_default=False),
    FieldMove(None, "first", default="?"),
)


def _document(moves: list[Any]) -> dict[str, Any]:
    plan = {"guide": "g", "window": "60 d", "owner": "o", "fields": moves}
    return document({"version": "2.0.0", "fields": FIELDS, "migration": plan})


def test_moves_are_read() -> None:
    plan = contract(_document(MOVES)).treaty.migration

    assert plan is not None
    assert plan.fields == READ


def test_moves_travel_as_a_custom_property_and_back() -> None:
    strict = write_odcs(contract(_document(MOVES)), BlockStyle.CUSTOM)

    assert "migration" not in strict
    again = load(write_yaml(strict)).contract
    assert again.treaty.migration is not None
    assert again.treaty.migration.fields == READ
    assert write_odcs(again, BlockStyle.CUSTOM) == strict


def test_the_short_form_accepts_field_moves() -> None:
    short = write_short_form(contract(_document(MOVES)))

    assert short["migration"]["fields"] == MOVES
    assert contract(short).treaty.migration == contract(_document(MOVES)).treaty.migration


WRONG = [
    ({"from": "a", "field": "b"}, "'field' cannot be combined with 'from' or 'to'"),
    ({"note": "x"}, "the entry names no field"),
    ({"from": "a"}, "the entry does not say how its field is mapped"),
    ({"from": "a", "sql": "1"}, "'sql' needs a field of the new line"),
    ({"to": "first", "back": "1"}, "'back' needs a field of the old line"),
    ({"to": "first", "values": {"a": "b"}}, "'values' needs a field on both sides"),
    ({"field": "state", "values": {"a": "b"}, "sql": "1"}, "'values' cannot be combined with SQL"),
    ({"field": "state", "default": "x", "exact": True}, "'exact' applies only to SQL"),
    ({"from": "a..b", "back_default": 1}, "cannot read field path 'a..b'"),
    ({"to": "fist", "default": "x"}, "'fist' is not a field of this contract"),
    ({"to": "first", "default": [1]}, "is not a"),
    ({"to": "first", "defualt": "x"}, "unknown key 'defualt'"),
]


@pytest.mark.parametrize(("entry", "said"), WRONG, ids=[said for _, said in WRONG])
def test_an_invalid_entry_is_refused_at_its_line(entry: dict[str, Any], said: str) -> None:
    text = write_yaml(_document([MOVES[2], entry]))
    first = text.splitlines().index("    back_default: false") + 2

    with pytest.raises(InvalidDocument) as refused:
        load(text, "orders.yaml")

    finding = next(one for one in refused.value.findings if said in one.message)
    assert finding.place is not None
    assert finding.place.source == "orders.yaml"
    assert (finding.place.line or 0) >= first
    assert finding.hint


def test_a_misspelt_field_gets_a_suggestion() -> None:
    with pytest.raises(InvalidDocument, match="its fields: first"):
        contract(_document([{"to": "fist", "default": "x"}]))
