"""Foreign constructs on contracts, objects and fields, and their way through ODCS."""

from __future__ import annotations

from dataclasses import replace

from tests.documents import contract
from treaty.contracts.foreign import ForeignConstruct, add_constructs, remove_constructs
from treaty.contracts.loader import contract_from
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.odcs import write_odcs
from treaty.contracts.values import FrozenMap

NOT_ZERO = ForeignConstruct.of("json_schema", "not", {"const": 0, "$comment": "free orders"})
PAYMENT = ForeignConstruct("protobuf", "oneof payment", "card bank")
UNIT = FrozenMap({"property": "unit", "value": "EUR"})


def _with_constructs() -> Contract:
    base = contract([])
    field = Field("total", custom_properties=add_constructs((UNIT,), [NOT_ZERO]))
    item = SchemaObject("orders", properties=(field,), custom_properties=add_constructs(None, [PAYMENT]))
    return replace(base, objects=(item,), custom_properties=add_constructs(base.custom_properties, [NOT_ZERO, PAYMENT]))


def test_the_text_of_a_construct_does_not_depend_on_the_order_of_keys() -> None:
    assert NOT_ZERO.text == '{"$comment": "free orders", "const": 0}'


def test_constructs_survive_an_export_to_odcs() -> None:
    again = contract_from(write_odcs(_with_constructs()))

    assert again.foreign == (NOT_ZERO, PAYMENT)
    assert again.schema[0].foreign == (PAYMENT,)
    assert again.schema[0].fields[0].foreign == (NOT_ZERO,)
    assert again.schema[0].fields[0].treaty == FrozenMap({"unit": "EUR"})


def test_constructs_are_added_to_those_there_are_in_one_property() -> None:
    once = add_constructs((UNIT,), [PAYMENT])
    twice = add_constructs(once, [NOT_ZERO, PAYMENT])

    assert Field(custom_properties=twice).foreign == (NOT_ZERO, PAYMENT)
    assert twice is not None
    assert len(twice) == 2
    assert add_constructs(None, []) is None


def test_constructs_are_removed_without_the_other_properties() -> None:
    assert remove_constructs(add_constructs((UNIT,), [PAYMENT])) == (UNIT,)
    assert remove_constructs(add_constructs(None, [PAYMENT])) is None
    assert remove_constructs(None) is None
