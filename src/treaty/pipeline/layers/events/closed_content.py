"""Names in a JSON record that a closed contract does not know, at any depth."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.contracts.model import Field
from treaty.spark.schema import column_name


def unknown_in(text: Column, fields: tuple[Field, ...]) -> Column:
    """Return the paths of unknown names that have a value in a JSON text; none where it is no record."""
    known = F.array(*[F.lit(column_name(field)) for field in fields]).cast("array<string>")
    values = F.from_json(text, "map<string,string>")
    own = F.map_keys(F.map_filter(values, lambda name, value: value.isNotNull() & ~F.array_contains(known, name)))
    inside = [
        _below(field, F.get_json_object(text, _path(column_name(field)))) for field in fields if _has_parts(field)
    ]
    nothing = F.array().cast("array<string>")
    found = [F.coalesce(names, nothing) for names in (own, *inside)]
    return F.array_distinct(F.concat(*found)) if inside else found[0]


def _below(field: Field, text: Column) -> Column:
    """Return the unknown names inside a field, with the way to them."""
    kind = field.type.name if field.type else None
    prefix = column_name(field)
    if kind == "array" and field.items is not None:
        items = F.from_json(text, "array<string>")
        return _of_each(items, field.items.properties or (), f"{prefix}[].")
    if kind == "map" and field.map_value is not None:
        values = F.map_values(F.from_json(text, "map<string,string>"))
        return _of_each(values, field.map_value.properties or (), f"{prefix}{{}}.")
    return _after(unknown_in(text, field.properties or ()), f"{prefix}.")


def _of_each(texts: Column, fields: tuple[Field, ...], prefix: str) -> Column:
    return _after(F.flatten(F.transform(texts, lambda item: unknown_in(item, fields))), prefix)


def _after(names: Column, prefix: str) -> Column:
    return F.transform(names, lambda name: F.concat(F.lit(prefix), name))


def _has_parts(field: Field) -> bool:
    """Tell whether a field declares names of its own: an object's, or those of the objects in a list or map."""
    inner = field.items or field.map_value
    return bool(field.properties) or bool(inner and inner.properties)


def _path(name: str) -> str:
    return f"$['{name}']"
