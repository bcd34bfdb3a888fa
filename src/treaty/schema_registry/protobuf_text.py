"""Writes a file descriptor as the text of a .proto file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    ServiceDescriptorProto,
    UninterpretedOption,
)

_INDENT = "  "
_MAX_FIELD_NUMBER = 536_870_911
_MAX_ENUM_NUMBER = 2_147_483_647
_SCALAR_NAMES = {
    number: name.removeprefix("TYPE_").lower()
    for name, number in FieldDescriptorProto.Type.items()
    if name not in ("TYPE_MESSAGE", "TYPE_ENUM", "TYPE_GROUP")
}
_LABEL_NAMES = {
    FieldDescriptorProto.LABEL_REQUIRED: "required ",
    FieldDescriptorProto.LABEL_OPTIONAL: "optional ",
    FieldDescriptorProto.LABEL_REPEATED: "repeated ",
}


def render_file(file: FileDescriptorProto) -> str:
    """Return the text of a file; type names are full names."""
    return "\n".join(_FileText(file).lines()) + "\n"


class _FileText:
    """The lines of one file."""

    def __init__(self, file: FileDescriptorProto) -> None:
        self._file = file
        self._labels_optional = file.syntax in ("", "proto2")

    def lines(self) -> Iterator[str]:
        file = self._file
        if file.syntax == "editions":
            year = type(file).DESCRIPTOR.fields_by_name["edition"].enum_type.values_by_number[file.edition].name
            yield f'edition = "{year.removeprefix("EDITION_")}";'
        else:
            yield f'syntax = "{file.syntax or "proto2"}";'
        if file.package:
            yield f"package {file.package};"
        for index, name in enumerate(file.dependency):
            modifier = (
                "public " if index in file.public_dependency else "weak " if index in file.weak_dependency else ""
            )
            yield f"import {modifier}{_quoted(name)};"
        yield from _option_lines(file.options, "")
        for message in file.message_type:
            yield from self._message(message, "", "message")
        for enum in file.enum_type:
            yield from _enum(enum, "")
        yield from self._extensions(file.extension, "")
        for service in file.service:
            yield from _service(service)

    def _message(self, message: DescriptorProto, indent: str, opening: str) -> Iterator[str]:
        inner = indent + _INDENT
        entries = {one.name: one for one in message.nested_type if one.options.map_entry}
        groups = {
            field.type_name.rpartition(".")[2]
            for field in [*message.field, *message.extension]
            if field.type == FieldDescriptorProto.TYPE_GROUP
        }
        yield f"{indent}{opening} {message.name} {{" if opening == "message" else f"{indent}{opening} {{"
        yield from _option_lines(message.options, inner, skip=("map_entry",))
        yield from _reserved_lines(message, inner)
        written: set[int] = set()
        for field in message.field:
            if field.HasField("oneof_index") and not field.proto3_optional:
                if field.oneof_index not in written:
                    written.add(field.oneof_index)
                    yield from self._oneof(message, field.oneof_index, inner)
            else:
                yield from self._field(message, field, inner, entries, self._label(field))
        yield from self._extensions(message.extension, inner)
        for enum in message.enum_type:
            yield from _enum(enum, inner)
        for nested in message.nested_type:
            if nested.name not in groups and not nested.options.map_entry:
                yield from self._message(nested, inner, "message")
        yield f"{indent}}}"

    def _label(self, field: FieldDescriptorProto) -> str:
        label = _LABEL_NAMES[field.label]
        return label if self._labels_optional or field.proto3_optional or label != "optional " else ""

    def _oneof(self, message: DescriptorProto, index: int, indent: str) -> Iterator[str]:
        yield f"{indent}oneof {message.oneof_decl[index].name} {{"
        yield from _option_lines(message.oneof_decl[index].options, indent + _INDENT)
        for field in message.field:
            if field.HasField("oneof_index") and field.oneof_index == index:
                yield from self._field(message, field, indent + _INDENT, {}, "")
        yield f"{indent}}}"

    def _field(
        self,
        message: DescriptorProto | None,
        field: FieldDescriptorProto,
        indent: str,
        entries: dict[str, DescriptorProto],
        label: str,
    ) -> Iterator[str]:
        short = field.type_name.rpartition(".")[2]
        options = _field_options(field)
        if field.type == FieldDescriptorProto.TYPE_GROUP and message is not None:
            group = next(one for one in message.nested_type if one.name == short)
            yield from self._message(group, indent, f"{label}group {group.name} = {field.number}{options}")
            return
        if short in entries and field.label == FieldDescriptorProto.LABEL_REPEATED:
            key, value = entries[short].field
            yield f"{indent}map<{_type(key)}, {_type(value)}> {field.name} = {field.number}{options};"
            return
        yield f"{indent}{label}{_type(field)} {field.name} = {field.number}{options};"

    def _extensions(self, fields: Iterable[FieldDescriptorProto], indent: str) -> Iterator[str]:
        for field in fields:
            yield f"{indent}extend {field.extendee} {{"
            yield from self._field(None, field, indent + _INDENT, {}, self._label(field))
            yield f"{indent}}}"


def _type(field: FieldDescriptorProto) -> str:
    return str(field.type_name) if field.type_name else _SCALAR_NAMES[field.type]


def _field_options(field: FieldDescriptorProto) -> str:
    parts = []
    if field.HasField("default_value"):
        is_text = field.type in (FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_BYTES)
        parts.append(f"default = {_quoted(field.default_value) if is_text else field.default_value}")
    if field.HasField("json_name") and field.json_name != _json_name(field.name):
        parts.append(f"json_name = {_quoted(field.json_name)}")
    parts += _options(field.options)
    return f" [{', '.join(parts)}]" if parts else ""


def _json_name(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in others)


def _option_lines(options: Any, indent: str, skip: tuple[str, ...] = ()) -> Iterator[str]:
    return (f"{indent}option {one};" for one in _options(options, skip))


def _options(options: Any, skip: tuple[str, ...] = ()) -> Iterator[str]:
    for descriptor, value in options.ListFields():
        if descriptor.name == "uninterpreted_option":
            yield from (_custom_option(one) for one in value)
        elif descriptor.name in skip or descriptor.is_extension or descriptor.is_repeated:
            continue
        elif descriptor.message_type is not None:
            for inner, inner_value in value.ListFields():
                if inner.enum_type is not None and not inner.is_repeated:
                    yield f"{descriptor.name}.{inner.name} = {inner.enum_type.values_by_number[inner_value].name}"
        elif descriptor.enum_type is not None:
            yield f"{descriptor.name} = {descriptor.enum_type.values_by_number[value].name}"
        elif isinstance(value, bool):
            yield f"{descriptor.name} = {'true' if value else 'false'}"
        else:
            yield f"{descriptor.name} = {_quoted(value) if isinstance(value, str) else value}"


def _custom_option(option: UninterpretedOption) -> str:
    name = ".".join(f"({part.name_part})" if part.is_extension else part.name_part for part in option.name)
    if option.HasField("string_value"):
        value = _quoted(option.string_value.decode("utf-8", "replace"))
    elif option.HasField("aggregate_value"):
        value = f"{{ {option.aggregate_value} }}"
    else:
        field = next(one for one, _ in option.ListFields() if one.name != "name")
        value = str(getattr(option, field.name))
    return f"{name} = {value}"


def _reserved_lines(message: DescriptorProto, indent: str) -> Iterator[str]:
    ranges = [_range(one.start, one.end - 1, _MAX_FIELD_NUMBER) for one in message.reserved_range]
    if ranges:
        yield f"{indent}reserved {', '.join(ranges)};"
    if message.reserved_name:
        yield f"{indent}reserved {', '.join(map(_quoted, message.reserved_name))};"
    for one in message.extension_range:
        yield f"{indent}extensions {_range(one.start, one.end - 1, _MAX_FIELD_NUMBER)};"


def _range(first: int, last: int, maximum: int) -> str:
    if first == last:
        return str(first)
    return f"{first} to {'max' if last == maximum else last}"


def _enum(enum: EnumDescriptorProto, indent: str) -> Iterator[str]:
    inner = indent + _INDENT
    yield f"{indent}enum {enum.name} {{"
    yield from _option_lines(enum.options, inner)
    ranges = [_range(one.start, one.end, _MAX_ENUM_NUMBER) for one in enum.reserved_range]
    if ranges:
        yield f"{inner}reserved {', '.join(ranges)};"
    if enum.reserved_name:
        yield f"{inner}reserved {', '.join(map(_quoted, enum.reserved_name))};"
    for value in enum.value:
        options = ", ".join(_options(value.options))
        yield f"{inner}{value.name} = {value.number}{f' [{options}]' if options else ''};"
    yield f"{indent}}}"


def _service(service: ServiceDescriptorProto) -> Iterator[str]:
    yield f"service {service.name} {{"
    yield from _option_lines(service.options, _INDENT)
    for method in service.method:
        takes = f"{'stream ' if method.client_streaming else ''}{method.input_type}"
        gives = f"{'stream ' if method.server_streaming else ''}{method.output_type}"
        options = list(_option_lines(method.options, _INDENT * 2))
        opening = f"{_INDENT}rpc {method.name} ({takes}) returns ({gives})"
        yield from ([f"{opening} {{", *options, f"{_INDENT}}}"] if options else [f"{opening};"])
    yield "}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
