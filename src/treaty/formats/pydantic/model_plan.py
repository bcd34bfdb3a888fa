"""The model classes of a contract, as a plan that is rendered as source and built as models."""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model
from pydantic import Field as PydanticField
from pydantic.errors import PydanticUserError
from pydantic_core import SchemaError

from treaty.contracts.model import Contract, Field, MissingAs, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.types import capacity
from treaty.contracts.values import EMPTY, Json, thaw
from treaty.formats.naming import is_identifier, make_identifier, make_type_name
from treaty.formats.notes import make_note, make_object_note, note_entry
from treaty.formats.pydantic.reader import model_reader, read_model_part
from treaty.formats.pydantic.types import ANY, STRING, PythonType, dict_of, key_type, list_of, scalar_type
from treaty.formats.pydantic.validators import VALIDATORS

_CONSTRAINTS = {
    "string": {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"},
    "array": {"minItems": "min_length", "maxItems": "max_length"},
}
_RANGE = {
    "minimum": "ge",
    "exclusiveMinimum": "gt",
    "maximum": "le",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
}


@dataclass(frozen=True)
class Attribute:
    """One attribute of a class: its Python name, its type, and the arguments of its `Field`."""

    name: str
    typed: PythonType
    arguments: dict[str, Any]


@dataclass(frozen=True)
class ModelClass:
    """One model class: its name, configuration, docstring and attributes."""

    name: str
    config: dict[str, Any]
    doc: str | None
    attributes: tuple[Attribute, ...]

    def build(self) -> type[BaseModel]:
        """Build the model that the source would define."""
        columns: dict[str, Any] = {
            one.name: (one.typed.kind, PydanticField(**one.arguments)) for one in self.attributes
        }
        config = ConfigDict(**self.config)  # type: ignore[typeddict-item]
        built: type[BaseModel] = create_model(self.name, __config__=config, __doc__=self.doc, **columns)
        return built


class ModelPlan:
    """The classes of one contract, ordered so that each is defined before its use."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self.closed = contract.treaty.content == "closed"
        self.classes: list[ModelClass] = []
        self.roots = [self._root(item, index) for index, item in enumerate(contract.schema)]

    def _root(self, item: SchemaObject, index: int) -> ModelClass:
        model_class = self._class(make_type_name(item.name), item.name, item.fields, item.description)
        note = make_object_note(self.contract, index, read_model_part(model_class.build())[0].contract)
        self.classes[-1] = replace(
            model_class, config=model_class.config | ({"json_schema_extra": note_entry(note)} if note else {})
        )
        return self.classes[-1]

    def _class(self, wanted: str, title: str, fields: tuple[Field, ...], doc: str | None = None) -> ModelClass:
        name = make_identifier(wanted, {*RESERVED_NAMES, *(one.name for one in self.classes)})
        config: dict[str, Any] = {"title": title} | ({"extra": "forbid"} if self.closed else {})
        taken: set[str] = {*RESERVED_NAMES, name}
        attributes = tuple(self._attribute(field, name, taken) for field in fields)
        if any("alias" in one.arguments for one in attributes):
            config["populate_by_name"] = True
        self.classes.append(ModelClass(name, config, doc or None, attributes))
        return self.classes[-1]

    def _attribute(self, field: Field, owner: str, taken: set[str]) -> Attribute:
        name = attribute_name(field.name or "", taken)
        taken.add(name)
        typed, constraints = self._constrained(field, make_type_name(owner, field.name or ""))
        if typed.validators:
            typed, constraints = typed.annotated(constraints), {}
        arguments: dict[str, Any] = {}
        if not field.is_required and field.missing_as is not MissingAs.ABSENT:
            typed = typed.or_none()
        if not field.is_required and field.missing_as is not MissingAs.NULL:
            arguments["default"] = None
        if name != field.name:
            arguments["alias"] = field.name or ""
        if field.business_name:
            arguments["title"] = field.business_name
        if field.description:
            arguments["description"] = field.description
        if field.deprecated:
            arguments["deprecated"] = True
        arguments |= constraints
        default = thaw(field.treaty.get("default"))
        if isinstance(default, str | int | float) and accepts_default(typed, arguments, default):
            arguments["default"] = default
        extra = {"format": typed.format} if typed.format else {}
        if extra:
            arguments["json_schema_extra"] = extra
        native = self._read(Attribute(name, typed, arguments))
        if note := note_entry(make_note(field, native)):
            arguments["json_schema_extra"] = extra | note
        return Attribute(name, typed, arguments)

    def _read(self, attribute: Attribute) -> Field:
        """Read an attribute back from its JSON schema."""
        schema = ModelClass("Probe", {}, None, (attribute,)).build().model_json_schema()
        fields = model_reader(self.contract.id, schema).fields
        fields.closed = self.closed
        return fields.inside(fields.composition.documents.root, FieldPath(), ())[0]

    def _constrained(self, field: Field, name: str) -> tuple[PythonType, dict[str, Any]]:
        """Return the type of a field, and the constraints that Pydantic accepts for it."""
        typed = self._typed(field, name)
        return typed, {key: value for key, value in _constraints(field) if accepts_constraint(typed, {key: value})}

    def _element(self, field: Field | None, name: str, default: PythonType) -> PythonType:
        """Return the type of an array element or map value, which may be None unless it is required."""
        if field is None:
            return default
        typed, constraints = self._constrained(field, name)
        typed = typed.annotated(constraints)
        return typed if field.is_required else typed.or_none()

    def _typed(self, field: Field, name: str) -> PythonType:
        kind = field.type.name if field.type else "string"
        if kind == "object" and field.properties is not None:
            model_class = self._class(name, field.name or name, field.properties)
            return PythonType(model_class.name, model_class.build())
        if kind == "array":
            typed = list_of(self._element(field.items, name, ANY))
            return typed.checked("distinct") if (field.options or EMPTY).get("uniqueItems") is True else typed
        if kind == "map":
            return dict_of(self._key(field.map_key), self._element(field.map_value, name, STRING))
        return scalar_type(field)

    def _key(self, field: Field | None) -> PythonType:
        typed = key_type(field)
        constraints = dict(_constraints(field)) if field and field.logical_type == "string" else {}
        return typed.annotated({key: one for key, one in constraints.items() if accepts_constraint(typed, {key: one})})


def _constraints(field: Field) -> Iterator[tuple[str, Any]]:
    options, stated = field.options or EMPTY, field.type
    kind = field.logical_type or ""
    known = _RANGE if kind in ("integer", "number") else _CONSTRAINTS.get(kind, {})
    for option, name in known.items():
        if option in options and not isinstance(options[option], bool):
            yield name, options[option]
    if kind == "string" and (length := capacity(field.physical_type)) is not None:
        yield "max_length", min(length, options.get("maxLength") or length)
    if stated and stated.detail == "decimal" and stated.precision is not None:
        yield "max_digits", stated.precision
        yield "decimal_places", stated.scale or 0


RESERVED_NAMES = frozenset(
    {
        *("AfterValidator", "Annotated", "Any", "AwareDatetime", "BaseModel", "BeforeValidator", "ConfigDict"),
        *("Decimal", "Field", "Literal", "NaiveDatetime", "StrictBool", "StrictFloat", "StrictInt", "UUID"),
        *("bytes", "dict", "dt", "float", "int", "isinstance", "list", "model_config", "re", "str", *VALIDATORS),
    }
)
"""Names that the generated source uses itself."""


def attribute_name(name: str, taken: set[str]) -> str:
    """Return a free attribute name that is close to the field name."""
    plain = make_identifier(name).lstrip("_") or "value"
    if not is_identifier(plain):
        plain = f"value_{plain}"
    if keyword.iskeyword(plain) or hasattr(BaseModel, plain) or plain.startswith("model_"):
        plain = f"{plain}_" if not plain.startswith("model_") else f"the_{plain}"
    return make_identifier(plain, taken)


_PYDANTIC_ERRORS = (PydanticUserError, SchemaError, TypeError, ValueError, OverflowError)
_CONSTRAINT_NAMES = frozenset(
    {"min_length", "max_length", "pattern", "ge", "gt", "le", "lt", "multiple_of", "max_digits", "decimal_places"}
)


def accepts_constraint(typed: PythonType, arguments: dict[str, Any]) -> bool:
    """Whether Pydantic accepts a constraint for a type."""
    try:
        create_model("Probe", value=(typed.kind, PydanticField(**arguments))).model_json_schema()
    except _PYDANTIC_ERRORS:
        return False
    return True


def accepts_default(typed: PythonType, arguments: dict[str, Any], default: Json) -> bool:
    """Whether a default is valid for a type without conversion."""
    limits = {key: value for key, value in arguments.items() if key in _CONSTRAINT_NAMES}
    try:
        probe = create_model("Probe", value=(typed.kind, PydanticField(**limits)))
        TypeAdapter(probe).validate_python({"value": default}, strict=True)
    except _PYDANTIC_ERRORS:
        return False
    return True
