"""Whether Pydantic takes a constraint or a default: tried, since it knows best."""

from __future__ import annotations

from typing import Any

from pydantic import Field, TypeAdapter, create_model
from pydantic.errors import PydanticUserError
from pydantic_core import SchemaError

from treaty.contracts.values import Json
from treaty.formats.pydantic.types import Typed

_TROUBLE = (PydanticUserError, SchemaError, TypeError, ValueError, OverflowError)
_LIMITS = frozenset(
    {"min_length", "max_length", "pattern", "ge", "gt", "le", "lt", "multiple_of", "max_digits", "decimal_places"}
)


def works(typed: Typed, says: dict[str, Any]) -> bool:
    """Tell whether a type takes a constraint."""
    try:
        create_model("Trial", value=(typed.kind, Field(**says))).model_json_schema()
    except _TROUBLE:
        return False
    return True


def accepts(typed: Typed, says: dict[str, Any], default: Json) -> bool:
    """Tell whether a value is one of the type as it stands, without being converted."""
    limits = {key: value for key, value in says.items() if key in _LIMITS}
    try:
        trial = create_model("Trial", value=(typed.kind, Field(**limits)))
        TypeAdapter(trial).validate_python({"value": default}, strict=True)
    except _TROUBLE:
        return False
    return True
