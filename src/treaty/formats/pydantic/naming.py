"""Names that an attribute of a model may have."""

from __future__ import annotations

import keyword

from pydantic import BaseModel

from treaty.formats.naming import identifier, is_identifier

USED = frozenset(
    {
        *("Any", "AwareDatetime", "BaseModel", "ConfigDict", "Decimal", "Field", "Literal", "NaiveDatetime", "UUID"),
        *("bool", "bytes", "dict", "dt", "float", "int", "list", "model_config", "str"),
    }
)
"""Names that the source itself uses."""


def attribute_name(name: str, taken: set[str]) -> str:
    """Return a name for an attribute that is not taken, close to the field's own."""
    plain = identifier(name).lstrip("_") or "value"
    if not is_identifier(plain):
        plain = f"value_{plain}"
    if keyword.iskeyword(plain) or hasattr(BaseModel, plain) or plain.startswith("model_"):
        plain = f"{plain}_" if not plain.startswith("model_") else f"the_{plain}"
    return identifier(plain, taken)
