"""The contract of the rows that one consumer reads: the served fields, with the types that masks give them."""

from __future__ import annotations

from dataclasses import replace

from treaty.contracts.data_policies import Granularity, Mask, MaskMethod
from treaty.contracts.model import Contract, Field
from treaty.contracts.paths import Step
from treaty.policy.effective_view import EffectiveView
from treaty.policy.masked_parts import ITEM, MAP_VALUE, Parts, columns_of, has_clear_keys, parts_inside, whole_part

KEEPS_IDENTITY = frozenset({MaskMethod.HASH, MaskMethod.TOKENISE})
"""Masks that give different values for different values."""


def served_contract(contract: Contract, view: EffectiveView) -> Contract:
    """Return a contract with one object as a consumer reads it, without rules on masked values."""
    served = columns_of(view)
    (schema,) = contract.schema
    fields = tuple(
        _served(field, parts) for field in schema.fields if (parts := served.get(_column(field))) is not None
    )
    return replace(contract, objects=(replace(schema, properties=fields, quality=None),))


def key_problem(contract: Contract, view: EffectiveView) -> str | None:
    """Return why a consumer cannot tell rows apart by the primary key as it reads it, or None if it can."""
    (schema,) = contract.schema
    served = {field.column.steps[0].text: field for field in view.served}
    for name in schema.primary_key:
        column = next(_column(field) for field in schema.fields if field.name == name)
        field = served.get(column)
        if field is None:
            return f"the consumer does not read the key field {name}"
        if field.mask is not None and field.mask.method not in KEEPS_IDENTITY:
            return f"the key field {name} is masked ({field.mask}) by {field.rule} of {field.origin}"
    return None if schema.primary_key else "the contract has no primary key"


def region_problem(view: EffectiveView) -> str | None:
    """Return why no row may be delivered in the region that a delivery declares, or None."""
    closed = next((rule for rule in view.regions if not rule.values), None)
    if view.region is None or closed is None:
        return None
    return f"{closed.rule} of {closed.origin} allows no rows in the region {view.region}"


def _column(field: Field) -> str:
    return field.physical_name or field.name or ""


def _served(field: Field, parts: Parts) -> Field:
    whole = whole_part(parts)
    if whole is not None:
        return field if whole.mask is None else _masked(field, whole.mask)
    if field.properties:
        inside = ((child, parts_inside(parts, Step(_column(child)))) for child in field.properties)
        return replace(field, properties=tuple(_served(child, inner) for child, inner in inside if inner))
    if field.items is not None:
        return replace(field, items=_served(field.items, parts_inside(parts, ITEM)))
    if field.map_value is not None and has_clear_keys(parts) and (inner := parts_inside(parts, MAP_VALUE)):
        return replace(field, map_value=_served(field.map_value, inner))
    return replace(field, required=None)  # null for every row


def _masked(field: Field, mask: Mask) -> Field:
    """Return a field with masked values: a text for hashes and tokens, an integer for ranges, and never required."""
    plain = replace(field, required=None, enum=None, quality=None, unique=None)
    if mask.method.needs_key:
        return replace(plain, logical_type="string", physical_type=None, options=None)
    if mask.to is Granularity.RANGE:
        return replace(plain, logical_type="integer", physical_type="bigint", options=None)
    text = field.type is not None and field.type.name == "string"
    return replace(plain, options=None) if text else plain
