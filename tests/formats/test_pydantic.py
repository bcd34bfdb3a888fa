"""Pydantic models: the source runs, its models hold the contract's terms, and classes are read back."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from pydantic import BaseModel, Field, ValidationError

from tests.documents import contract
from tests.formats.plain_documents import plain_document
from tests.formats.sample_rows import BAD, FIELDS, GOOD
from tests.strategies import contracts
from treaty.contracts import Contract
from treaty.formats.notes import assemble_contracts
from treaty.formats.pydantic import read_model, write
from treaty.formats.pydantic.reader import read_model_part


def _run(source: str) -> list[type[BaseModel]]:
    """Run the source of models that we wrote ourselves, and return those that others do not use."""
    names: dict[str, Any] = {"__name__": "generated"}
    exec(compile(source, "generated", "exec", dont_inherit=True), names)  # noqa: S102
    models = [one for one in names.values() if isinstance(one, type) and issubclass(one, BaseModel)]
    return [one for one in models if "'treaty'" in repr(one.model_config.get("json_schema_extra"))]


@settings(max_examples=12)
@given(contracts())
def test_the_source_runs_and_its_models_say_the_whole_contract(contract: Contract) -> None:
    written = write(contract)

    back = assemble_contracts([read_model_part(model)[0] for model in _run(written.text)], "models.py")

    assert [loss for loss in written.losses if not loss.is_carried] == []
    assert [plain_document(one) for one in back] == [plain_document(contract)]


def test_the_models_hold_rows_to_the_contract() -> None:
    fields = [
        {"name": "class", "logicalType": "string", "required": True, "enum": [{"value": "web"}]},
        {"name": "total", "logicalType": "number", "physicalType": "decimal(4,2)", "required": True},
        {"name": "at", "logicalType": "timestamp", "required": True},
        {"name": "lines", "logicalType": "array", "required": True, "logicalTypeOptions": {"minItems": 1}, "items": {
            "logicalType": "object", "properties": [{"name": "sku", "logicalType": "string", "required": True}]}},
        {"name": "note", "logicalType": "string"},
    ]  # fmt: skip
    (model,) = _run(write(contract(fields)).text)
    row = {"class": "web", "total": "1.50", "at": "2026-01-01T00:00:00Z", "lines": [{"sku": "a"}]}

    order: Any = model.model_validate(row)

    assert order.total == Decimal("1.50")
    assert order.at == dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    breaches: list[dict[str, Any]] = [
        {"class": "shop"},
        {"total": "1.555"},
        {"at": "2026-01-01T00:00:00"},
        {"lines": []},
        {"lines": [{}]},
    ]
    for broken in breaches:
        with pytest.raises(ValidationError):
            model.model_validate(row | broken)


def test_the_models_accept_good_rows_and_refuse_bad_ones() -> None:
    (model,) = _run(write(contract(FIELDS)).text)

    assert model.model_validate(GOOD).model_dump()["total"] == Decimal("19.99")
    for name, value in [*BAD, ("total", "19.999"), ("at", 1700000000), ("day", "1700000000"), ("count", True)]:
        if name != "raw":  # bytes in Python, base64 in JSON
            with pytest.raises(ValidationError):
                model.model_validate(GOOD | {name: value})


def test_missing_values_are_absent_or_null_as_the_contract_says() -> None:
    absent, null = ([{"property": "treaty.missing_as", "value": way}] for way in ("absent", "null"))
    fields = [
        {"name": "a", "logicalType": "string", "customProperties": absent},
        {"name": "b", "logicalType": "string", "customProperties": null},
    ]
    (model,) = _run(write(contract(fields)).text)

    assert model.model_validate({"b": None}).model_dump() == {"a": None, "b": None}
    for broken in ({"a": None, "b": None}, {"a": "x"}):
        with pytest.raises(ValidationError):
            model.model_validate(broken)


def test_rules_that_no_model_checks_are_named_as_lost() -> None:
    fields = [
        {"name": "id", "logicalType": "string", "unique": True},
        {"name": "born", "logicalType": "date", "logicalTypeOptions": {"format": "dd.MM.yyyy"}},
        {"name": "iban", "logicalType": "string", "logicalTypeOptions": {"format": "iban"}},
        {"name": "day", "logicalType": "date", "logicalTypeOptions": {"minimum": "2024-01-01"}},
    ]

    assert [str(loss) for loss in write(contract(fields)).losses] == [
        "id: unique true (a model validates one row at a time)",
        "born: format dd.MM.yyyy (the model does not check it)",
        "iban: format iban (the model does not check it)",
        "day: minimum 2024-01-01 (the model does not check it)",
    ]


class Address(BaseModel):
    """Where somebody lives."""

    city: str


class Customer(BaseModel):
    """Somebody who bought."""

    customer_id: int = Field(ge=1, description="Given at the first purchase.")
    home: Address | None = None
    balance: Decimal


class Node(BaseModel):
    """A tree."""

    children: list[Node] = []


def test_a_class_is_read_without_its_file() -> None:
    read = read_model(Customer)

    item = read.contracts[0].schema[0]
    number, home, balance = item.fields
    assert (item.name, item.description) == ("Customer", "Somebody who bought.")
    assert (number.description, number.is_required, dict(number.options or {})) == (
        "Given at the first purchase.",
        True,
        {"minimum": 1},
    )
    assert (home.is_required, home.description, [part.name for part in home.properties or ()]) == (
        False,
        "Where somebody lives.",
        ["city"],
    )
    assert str(balance.type) == "decimal"
    assert read.losses == ()


def test_a_class_that_contains_itself_is_kept_as_a_named_reference() -> None:
    (children,) = read_model(Node).contracts[0].schema[0].fields

    assert children.items is not None
    assert children.items.physical_type == "$ref #/$defs/Node"
