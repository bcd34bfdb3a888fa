"""Protobuf schemas: read as text or as a serialized descriptor, kept as a file descriptor and written as text."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto, FileDescriptorProto
from google.protobuf.message import DecodeError

from treaty.errors import InvalidDocument
from treaty.formats.protobuf.definitions import parse_file
from treaty.schema_registry.model import InvalidSchema, ParsedSchema, ReferencedSchema, SchemaType, all_references
from treaty.schema_registry.protobuf_builder import FileBuilder
from treaty.schema_registry.protobuf_text import render_file

DEFAULT_NAME = "default.proto"
_KNOWN_PREFIXES = ("google/protobuf/", "google/type/", "confluent/", "buf/validate/", "validate/", "gogoproto/")
"""Imports of well-known types and options, which need no reference."""


def parse(text: str, references: tuple[ReferencedSchema, ...]) -> ParsedSchema:
    """Parse a .proto file, or the base64 text of its serialized descriptor, as some clients register it."""
    imported = {one.reference.name: one.schema.model for one in all_references(references)}
    file = _read_serialized(text)
    if file is None:
        file = _read_text(text, imported)
    else:
        _check_imports(list(file.dependency), imported)
    return ParsedSchema(SchemaType.PROTOBUF, render_file(file), references, file)


def canonical(schema: ParsedSchema) -> str:
    """Return the text of the schema without comments, with fields in the order of their declaration."""
    return render_file(schema.model)


def normalized(schema: ParsedSchema) -> str:
    """Return the canonical text with imports, fields and values in the order of their names or numbers."""
    file = FileDescriptorProto()
    file.CopyFrom(schema.model)
    dependencies = sorted(file.dependency)
    public = {file.dependency[index] for index in file.public_dependency}
    del file.dependency[:], file.public_dependency[:], file.weak_dependency[:]
    file.dependency.extend(dependencies)
    file.public_dependency.extend(index for index, name in enumerate(dependencies) if name in public)
    for message in file.message_type:
        _sort_fields(message)
    return render_file(file)


def serialize(schema: ParsedSchema) -> str:
    """Return the descriptor of a schema, serialized, as base64 text."""
    file = FileDescriptorProto()
    file.CopyFrom(schema.model)
    file.name = file.name or DEFAULT_NAME
    return base64.b64encode(file.SerializeToString(deterministic=True)).decode()


def definitions(file: FileDescriptorProto) -> Iterator[tuple[str, DescriptorProto | EnumDescriptorProto]]:
    """Yield every message and enum of a file, at any depth, with its full name."""
    scope = file.package
    for enum in file.enum_type:
        yield _join(scope, enum.name), enum
    for message in file.message_type:
        yield from _definitions_in(message, scope)


def _definitions_in(
    message: DescriptorProto, scope: str
) -> Iterator[tuple[str, DescriptorProto | EnumDescriptorProto]]:
    name = _join(scope, message.name)
    yield name, message
    for enum in message.enum_type:
        yield _join(name, enum.name), enum
    for nested in message.nested_type:
        yield from _definitions_in(nested, name)


def _join(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


def _read_serialized(text: str) -> FileDescriptorProto | None:
    """Read base64 text; None if the text is something else."""
    try:
        content = base64.b64decode(text.strip(), validate=True)
        file = FileDescriptorProto.FromString(content)
    except (binascii.Error, ValueError, DecodeError):
        return None
    file.name = ""
    file.ClearField("source_code_info")
    return file


def _read_text(text: str, imported: Mapping[str, FileDescriptorProto]) -> FileDescriptorProto:
    try:
        parsed = parse_file(text, "schema")
        _check_imports(parsed.imports, imported)
        return FileBuilder(parsed, _known_types(parsed.imports, imported)).build()
    except RecursionError:
        raise InvalidSchema("the Protobuf schema is nested too deeply; split it") from None
    except InvalidSchema:
        raise
    except InvalidDocument as error:
        raise InvalidSchema(str(error)) from None
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidSchema(f"the Protobuf schema is not valid: {str(error)[:500]}") from None


def _check_imports(names: list[str], imported: Mapping[str, FileDescriptorProto]) -> None:
    for name in names:
        if name not in imported and not name.startswith(_KNOWN_PREFIXES):
            raise InvalidSchema(f"the import {name!r} is not among the references of the schema; add a reference to it")


def _known_types(names: list[str], imported: Mapping[str, FileDescriptorProto]) -> dict[str, str]:
    """Return the full names of imported types with their kind, message or enum."""
    types: dict[str, str] = {}
    for file in imported.values():
        types |= _kinds(file)
    for name in names:
        if name not in imported and (file := well_known_file(name)) is not None:
            types |= _kinds(file)
    return types


def _kinds(file: FileDescriptorProto) -> dict[str, str]:
    return {name: "enum" if isinstance(one, EnumDescriptorProto) else "message" for name, one in definitions(file)}


@cache
def well_known_file(name: str) -> FileDescriptorProto | None:
    """Return a file of Google's well-known types; None if it is not installed."""
    if not name.startswith(("google/protobuf/", "google/type/")) or not name.endswith(".proto"):
        return None
    module = name.removesuffix(".proto").replace("/", ".") + "_pb2"
    if not all(part.isidentifier() for part in module.split(".")):
        return None
    try:
        descriptor = import_module(module).DESCRIPTOR
    except ModuleNotFoundError:
        return None
    file = FileDescriptorProto()
    descriptor.CopyToProto(file)
    return file


def _sort_fields(message: DescriptorProto) -> None:
    message.field.sort(key=lambda field: field.number)
    for nested in message.nested_type:
        _sort_fields(nested)
