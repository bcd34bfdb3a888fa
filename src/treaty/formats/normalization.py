"""Remove defaults from a contract, so that two ways to state the same terms compare equal."""

from __future__ import annotations

from dataclasses import replace

from treaty.contracts.model import Contract, Field, Form, SchemaObject
from treaty.contracts.types import INTEGER_DEFAULT, NUMBER_DEFAULT
from treaty.contracts.values import EMPTY, FrozenMap

_DEFAULT_FORMATS = {"integer": INTEGER_DEFAULT, "number": NUMBER_DEFAULT}


def normalize(contract: Contract) -> Contract:
    """Return the contract without redundant terms."""
    objects = tuple(map(_object, contract.schema))
    return replace(contract, objects=objects, plain_keys=(), form=Form.ODCS)


def _object(item: SchemaObject) -> SchemaObject:
    keys = item.primary_key
    fields = []
    for field in map(normalize_field, item.fields):
        position = keys.index(field.name or "") + 1 if field.primary_key and len(keys) > 1 else None
        fields.append(replace(field, primary_key_position=position))
    return replace(item, properties=tuple(fields))


def normalize_field(field: Field) -> Field:
    """Return the field and its nested fields without redundant terms."""
    plain = replace(
        field,
        required=field.is_required or None,
        unique=field.unique or None,
        primary_key=field.primary_key or None,
        primary_key_position=None,
        deprecated=field.deprecated or None,
        options=field.options or None,
        properties=None if field.properties is None else tuple(map(normalize_field, field.properties)),
        items=field.items and normalize_field(field.items),
        map_key=field.map_key and normalize_field(field.map_key),
        map_value=field.map_value and normalize_field(field.map_value),
        plain_keys=(),
    )
    return _without_default_format(plain)


def _without_default_format(field: Field) -> Field:
    options = field.options or EMPTY
    default = _DEFAULT_FORMATS.get(field.logical_type or "")
    if default is None or options.get("format") != default:
        return field
    rest = FrozenMap({key: value for key, value in options.items() if key != "format"})
    shorter = replace(field, options=rest or None)
    return shorter if shorter.type == field.type else field
