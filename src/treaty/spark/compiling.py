"""Fields found in data: by their names, and whether their values may be shown."""

from __future__ import annotations

from pyspark.sql import types as spark

from treaty.contracts.model import Field
from treaty.spark.schema import column_name

_OPEN_CLASSES = frozenset({"public", "open", "unclassified"})


def is_classified(field: Field) -> bool:
    """Tell whether the values of a field must not be shown."""
    return field.classification is not None and field.classification.strip().lower() not in _OPEN_CLASSES


def child_of(kind: spark.StructType, name: str) -> spark.StructField | None:
    """Find a part of an object by its name: to the letter, or else the only one that differs in case."""
    exact = [item for item in kind.fields if item.name == name]
    loose = exact or [item for item in kind.fields if item.name.lower() == name.lower()]
    return loose[0] if len(loose) == 1 else None


def unknown_names(kind: spark.StructType, fields: tuple[Field, ...]) -> list[str]:
    """Return the names in the data that no field stands for."""
    known = {found.name for item in fields if (found := child_of(kind, column_name(item)))}
    return [item.name for item in kind.fields if item.name not in known]
