"""Builds the descriptor of a .proto file from its syntax tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    MethodDescriptorProto,
    ServiceDescriptorProto,
    UninterpretedOption,
)
from google.protobuf.message import Message

from treaty.formats.protobuf.definitions import ProtoFile
from treaty.schema_registry.model import InvalidSchema

_MAX_FIELD_NUMBER = 536_870_911
_MAX_ENUM_NUMBER = 2_147_483_647
_SCALARS = {
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "float": FieldDescriptorProto.TYPE_FLOAT,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "uint64": FieldDescriptorProto.TYPE_UINT64,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "fixed64": FieldDescriptorProto.TYPE_FIXED64,
    "fixed32": FieldDescriptorProto.TYPE_FIXED32,
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "string": FieldDescriptorProto.TYPE_STRING,
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "uint32": FieldDescriptorProto.TYPE_UINT32,
    "sfixed32": FieldDescriptorProto.TYPE_SFIXED32,
    "sfixed64": FieldDescriptorProto.TYPE_SFIXED64,
    "sint32": FieldDescriptorProto.TYPE_SINT32,
    "sint64": FieldDescriptorProto.TYPE_SINT64,
}
_LABELS = {
    "REQUIRED": FieldDescriptorProto.LABEL_REQUIRED,
    "OPTIONAL": FieldDescriptorProto.LABEL_OPTIONAL,
    "REPEATED": FieldDescriptorProto.LABEL_REPEATED,
}
_OPTION_NAME = re.compile(r"\(([^)]+)\)|([^.()]+)")


class FileBuilder:
    """Turns the syntax tree of one file into a descriptor, with every type name resolved."""

    def __init__(self, file: ProtoFile, imported: Mapping[str, str]) -> None:
        self._file = file
        self._types = {**imported, **dict(_declared_types(file.elements, file.package))}
        self._is_proto3 = file.syntax == "proto3"

    def build(self) -> FileDescriptorProto:
        """Return the descriptor."""
        file, elements = FileDescriptorProto(), self._file.elements
        if self._file.package:
            file.package = self._file.package
        if self._is_proto3:
            file.syntax = "proto3"
        elif self._file.syntax.startswith("edition "):
            file.syntax, file.edition = "editions", f"EDITION_{self._file.syntax.removeprefix('edition ')}"
        for element in _of_kind(elements, "Import"):
            if element.public:
                file.public_dependency.append(len(file.dependency))
            if element.weak:
                file.weak_dependency.append(len(file.dependency))
            file.dependency.append(element.name)
        _set_options(file.options, _of_kind(elements, "Option"))
        scope = self._file.package
        file.message_type.extend(self._message(one, scope) for one in _of_kind(elements, "Message"))
        file.enum_type.extend(self._enum(one) for one in _of_kind(elements, "Enum"))
        file.service.extend(self._service(one, scope) for one in _of_kind(elements, "Service"))
        for element in _of_kind(elements, "Extension"):
            file.extension.extend(self._extensions(element, scope))
        if not self._file.elements:
            raise InvalidSchema("the Protobuf schema is empty; define a message")
        return file

    def _message(self, node: Any, scope: str) -> DescriptorProto:
        message = DescriptorProto(name=node.name)
        self._fill(message, node.elements, f"{scope}.{node.name}" if scope else node.name)
        _check_unique(message)
        return message

    def _fill(self, message: DescriptorProto, elements: Iterable[Any], scope: str) -> None:
        proto3_optional: list[FieldDescriptorProto] = []
        for element in elements:
            kind = type(element).__name__
            if kind == "Field":
                field = self._field(element, scope)
                message.field.append(field)
                if self._is_proto3 and element.cardinality and element.cardinality.value == "OPTIONAL":
                    proto3_optional.append(message.field[-1])
            elif kind == "MapField":
                self._map_field(message, element, scope)
            elif kind == "Group":
                self._group(message, element, scope)
            elif kind == "OneOf":
                self._oneof(message, element, scope)
            elif kind == "Message":
                message.nested_type.append(self._message(element, scope))
            elif kind == "Enum":
                message.enum_type.append(self._enum(element))
            elif kind == "Extension":
                message.extension.extend(self._extensions(element, scope))
            elif kind == "Reserved":
                _reserve(message, element)
            elif kind == "ExtensionRange":
                for first, last in _ranges(element.ranges, _MAX_FIELD_NUMBER):
                    message.extension_range.add(start=first, end=last + 1)
        _set_options(message.options, _of_kind(elements, "Option"))
        for field in proto3_optional:  # after the declared ones, as protoc numbers them
            field.proto3_optional = True
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=f"_{field.name}")

    def _field(self, node: Any, scope: str) -> FieldDescriptorProto:
        field = FieldDescriptorProto(name=node.name, number=_field_number(node))
        field.label = _LABELS[node.cardinality.value] if node.cardinality else FieldDescriptorProto.LABEL_OPTIONAL
        self._set_type(field, node.type, scope)
        _set_field_options(field, node.options)
        return field

    def _set_type(self, field: FieldDescriptorProto, name: str, scope: str) -> None:
        if name in _SCALARS:
            field.type = _SCALARS[name]
            return
        full, kind = self._resolve(name, scope)
        field.type_name = f".{full}"
        if kind is not None:
            is_enum = kind == "enum"
            field.type = FieldDescriptorProto.TYPE_ENUM if is_enum else FieldDescriptorProto.TYPE_MESSAGE

    def _resolve(self, name: str, scope: str) -> tuple[str, str | None]:
        """Return the full name of a type and its kind, searching from the inner scope outwards."""
        if name.startswith("."):
            if name[1:] in self._types:
                return name[1:], self._types[name[1:]]
        else:
            while True:
                full = f"{scope}.{name}" if scope else name
                if full in self._types:
                    return full, self._types[full]
                if not scope:
                    break
                scope = scope.rpartition(".")[0]
        raise InvalidSchema(f"the type {name!r} is not defined; define it, or import it and add a reference")

    def _map_field(self, message: DescriptorProto, node: Any, scope: str) -> None:
        entry = message.nested_type.add(name=f"{_camel_case(node.name)}Entry")
        entry.options.map_entry = True
        for number, (name, type_name) in enumerate((("key", node.key_type), ("value", node.value_type)), 1):
            field = entry.field.add(name=name, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
            self._set_type(field, type_name, scope)
        field = message.field.add(name=node.name, number=_field_number(node), label=FieldDescriptorProto.LABEL_REPEATED)
        field.type, field.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".{scope}.{entry.name}"
        _set_field_options(field, node.options)

    def _group(self, message: DescriptorProto, node: Any, scope: str) -> None:
        message.nested_type.append(self._message(node, scope))
        field = message.field.add(name=node.name.lower(), number=_field_number(node))
        field.label = _LABELS[node.cardinality.value] if node.cardinality else FieldDescriptorProto.LABEL_OPTIONAL
        field.type, field.type_name = FieldDescriptorProto.TYPE_GROUP, f".{scope}.{node.name}"

    def _oneof(self, message: DescriptorProto, node: Any, scope: str) -> None:
        index = len(message.oneof_decl)
        oneof = message.oneof_decl.add(name=node.name)
        _set_options(oneof.options, _of_kind(node.elements, "Option"))
        for element in node.elements:
            kind = type(element).__name__
            if kind == "Field":
                message.field.append(self._field(element, scope))
            elif kind == "Group":
                self._group(message, element, scope)
            if kind in ("Field", "Group"):
                message.field[-1].oneof_index = index

    def _enum(self, node: Any) -> EnumDescriptorProto:
        enum = EnumDescriptorProto(name=node.name)
        for element in node.elements:
            kind = type(element).__name__
            if kind == "EnumValue":
                value = enum.value.add(name=element.name, number=int(element.number))
                _set_options(value.options, element.options)
            elif kind == "EnumReserved":
                for first, last in _ranges(element.ranges, _MAX_ENUM_NUMBER):
                    enum.reserved_range.add(start=first, end=last)
                enum.reserved_name.extend(element.names)
        if not enum.value:
            raise InvalidSchema(f"the enum {node.name!r} has no values; add one")
        _set_options(enum.options, _of_kind(node.elements, "Option"))
        return enum

    def _service(self, node: Any, scope: str) -> ServiceDescriptorProto:
        service = ServiceDescriptorProto(name=node.name)
        for element in _of_kind(node.elements, "Method"):
            takes, gives = element.input_type, element.output_type
            method = MethodDescriptorProto(name=element.name)
            method.input_type = f".{self._resolve(takes.type, scope)[0]}"
            method.output_type = f".{self._resolve(gives.type, scope)[0]}"
            if takes.stream:
                method.client_streaming = True
            if gives.stream:
                method.server_streaming = True
            _set_options(method.options, _of_kind(element.elements, "Option"))
            service.method.append(method)
        _set_options(service.options, _of_kind(node.elements, "Option"))
        return service

    def _extensions(self, node: Any, scope: str) -> Iterator[FieldDescriptorProto]:
        for element in _of_kind(node.elements, "Field"):
            field = self._field(element, scope)
            name = node.typeName.removeprefix(".")
            field.extendee = (
                f".{name if name.startswith('google.protobuf.') else self._resolve(node.typeName, scope)[0]}"
            )
            yield field


def _of_kind(elements: Iterable[Any], kind: str) -> list[Any]:
    return [one for one in elements if type(one).__name__ == kind]


def _declared_types(elements: Iterable[Any], scope: str) -> Iterator[tuple[str, str]]:
    for element in elements:
        kind = type(element).__name__
        if kind in ("Message", "Enum", "Group"):
            name = f"{scope}.{element.name}" if scope else element.name
            yield name, "enum" if kind == "Enum" else "message"
            if kind != "Enum":
                yield from _declared_types(element.elements, name)
        elif kind == "OneOf":
            yield from _declared_types(element.elements, scope)


def _field_number(node: Any) -> int:
    number = int(node.number)
    if not 0 < number <= _MAX_FIELD_NUMBER or 19_000 <= number <= 19_999:
        raise InvalidSchema(f"the field {node.name!r} has the number {number}, which Protobuf does not allow")
    return number


def _check_unique(message: DescriptorProto) -> None:
    numbers: dict[int, str] = {}
    names: set[str] = set()
    for field in message.field:
        if field.number in numbers:
            other = numbers[field.number]
            raise InvalidSchema(
                f"{message.name}: the fields {other!r} and {field.name!r} have the number {field.number}"
            )
        if field.name in names:
            raise InvalidSchema(f"{message.name}: the field {field.name!r} is declared twice")
        numbers[field.number] = field.name
        names.add(field.name)


def _reserve(message: DescriptorProto, node: Any) -> None:
    for first, last in _ranges(node.ranges, _MAX_FIELD_NUMBER):
        message.reserved_range.add(start=first, end=last + 1)
    message.reserved_name.extend(node.names)


def _ranges(texts: Iterable[str], maximum: int) -> Iterator[tuple[int, int]]:
    for text in texts:
        first, _, last = text.partition("to")
        start = int(first)
        yield start, (maximum if last.strip() == "max" else int(last)) if last.strip() else start


def _set_field_options(field: FieldDescriptorProto, options: Iterable[Any]) -> None:
    others = []
    for option in options:
        if option.name == "default":
            field.default_value = _text(option.value)
        elif option.name == "json_name":
            field.json_name = str(option.value)
        else:
            others.append(option)
    _set_options(field.options, others)


def _set_options(target: Message, options: Iterable[Any]) -> None:
    """Set the options that Protobuf defines; keep the others as they are written."""
    for option in options:
        descriptor = target.DESCRIPTOR.fields_by_name.get(option.name)
        if descriptor is None or descriptor.message_type is not None or descriptor.is_repeated:
            target.uninterpreted_option.append(_uninterpreted(option))
        elif descriptor.enum_type is not None:
            value = descriptor.enum_type.values_by_name.get(_text(option.value))
            if value is None:
                raise InvalidSchema(f"the option {option.name!r} has no value {_text(option.value)!r}")
            setattr(target, option.name, value.number)
        else:
            setattr(target, option.name, _option_value(option, descriptor.cpp_type == descriptor.CPPTYPE_BOOL))


def _option_value(option: Any, is_bool: bool) -> Any:
    value = _text(option.value) if hasattr(option.value, "name") else option.value
    return str(value).lower() == "true" if is_bool else value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(getattr(value, "name", value))


def _uninterpreted(option: Any) -> UninterpretedOption:
    result = UninterpretedOption()
    for extension, plain in _OPTION_NAME.findall(option.name):
        result.name.add(name_part=extension or plain, is_extension=bool(extension))
    value = option.value
    if isinstance(value, bool):
        result.identifier_value = _text(value)
    elif isinstance(value, int):
        if value >= 0:
            result.positive_int_value = value
        else:
            result.negative_int_value = value
    elif isinstance(value, float):
        result.double_value = value
    elif isinstance(value, str):
        result.string_value = value.encode()
    elif hasattr(value, "elements") or isinstance(value, list):
        result.aggregate_value = aggregate_text(value)
    else:
        result.identifier_value = _text(value)
    return result


def aggregate_text(value: Any) -> str:
    """Return an option that is written as a message, without its braces."""
    parts = (
        [f"{one.name}: {_literal(one.value)}" for one in value.elements if hasattr(one, "value")]
        if hasattr(value, "elements")
        else [_literal(one) for one in value]
    )
    return " ".join(parts)


def _literal(value: Any) -> str:
    if hasattr(value, "elements"):
        return f"{{ {aggregate_text(value)} }}"
    if isinstance(value, list):
        return f"[{', '.join(_literal(one) for one in value)}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return _text(value)


def _camel_case(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
