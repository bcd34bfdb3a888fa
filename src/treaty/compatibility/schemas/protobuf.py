"""Protobuf: the wire format decides. Fields are the same if their numbers are, and names do not matter."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from treaty.compatibility.schemas.differences import MAX_DIFFERENCES, Budget, SchemaDifference

_SCALAR_GROUPS: Mapping[int, str] = {
    FieldDescriptorProto.TYPE_INT32: "varint",
    FieldDescriptorProto.TYPE_INT64: "varint",
    FieldDescriptorProto.TYPE_UINT32: "varint",
    FieldDescriptorProto.TYPE_UINT64: "varint",
    FieldDescriptorProto.TYPE_BOOL: "varint",
    FieldDescriptorProto.TYPE_ENUM: "varint",
    FieldDescriptorProto.TYPE_SINT32: "zigzag",
    FieldDescriptorProto.TYPE_SINT64: "zigzag",
    FieldDescriptorProto.TYPE_STRING: "bytes",
    FieldDescriptorProto.TYPE_BYTES: "bytes",
    FieldDescriptorProto.TYPE_FIXED32: "fixed32",
    FieldDescriptorProto.TYPE_SFIXED32: "fixed32",
    FieldDescriptorProto.TYPE_FIXED64: "fixed64",
    FieldDescriptorProto.TYPE_SFIXED64: "fixed64",
    FieldDescriptorProto.TYPE_FLOAT: "float",
    FieldDescriptorProto.TYPE_DOUBLE: "double",
}
"""Scalar types that are read as each other have the same group."""
_REPEATED = FieldDescriptorProto.LABEL_REPEATED
_REQUIRED = FieldDescriptorProto.LABEL_REQUIRED


@dataclass(frozen=True)
class ProtobufFile:
    """A file and those that it imports, by the name of the import, with what identifies each version of them."""

    file: FileDescriptorProto
    imported: Mapping[str, tuple[FileDescriptorProto, object]] = field(default_factory=dict)


def compare(reader: ProtobufFile, writer: ProtobufFile) -> list[SchemaDifference]:
    """Return why programs with the reader's file misread messages of the writer's file."""
    comparison = _Comparison(_Types(writer), _Types(reader))
    return list(comparison.differences(writer.file, reader.file))[:MAX_DIFFERENCES]


@dataclass(frozen=True)
class _Type:
    message: DescriptorProto
    local_name: str
    version: object
    """What identifies the version of the imported file; None in the file itself."""
    is_proto2: bool


class _Types:
    """The messages and enums that a file can refer to, by full name."""

    def __init__(self, root: ProtobufFile) -> None:
        self.messages: dict[str, _Type] = {}
        self.is_proto2 = root.file.syntax in ("", "proto2")
        for file, version in [*root.imported.values(), (root.file, None)]:
            for name, message in _messages(file.message_type, ""):
                full = f".{file.package}.{name}" if file.package else f".{name}"
                self.messages[full] = _Type(message, name, version, file.syntax in ("", "proto2"))

    def map_entry(self, one: FieldDescriptorProto) -> DescriptorProto | None:
        """Return the entry of a map field; None for other fields."""
        found = self.messages.get(one.type_name) if one.label == _REPEATED else None
        return found.message if found is not None and found.message.options.map_entry else None


class _Comparison:
    """One comparison of what the writer has (`old`) and the reader has (`new`); a pair of messages is compared once."""

    def __init__(self, old: _Types, new: _Types) -> None:
        self._old, self._new = old, new
        self._budget = Budget()
        self._waiting: deque[tuple[DescriptorProto, DescriptorProto, str]] = deque()
        self._found: dict[tuple[int, int], list[SchemaDifference]] = {}
        self._fields_of_type: list[tuple[tuple[int, int], SchemaDifference]] = []
        self._compared: list[DescriptorProto] = []
        """Keeps the messages alive, because their ids are the keys of what was found."""

    def differences(self, old: FileDescriptorProto, new: FileDescriptorProto) -> Iterator[SchemaDifference]:
        """Compare all messages; a field whose message does not fit is reported too."""
        yield from self._types(old, new, "#")
        while self._waiting:
            before, after, path = self._waiting.popleft()
            key = (id(before), id(after))
            if key not in self._found:
                self._budget.spend(1 + len(before.field) + len(after.field))
                self._compared += (before, after)
                self._found[key] = [
                    *self._oneofs(before, after, path),
                    *self._fields(before, after, path),
                    *self._types(before, after, path),
                ]
                yield from self._found[key]
        for key, difference in self._fields_of_type:
            if self._found[key]:
                yield difference

    def _types(
        self, old: FileDescriptorProto | DescriptorProto, new: FileDescriptorProto | DescriptorProto, path: str
    ) -> Iterator[SchemaDifference]:
        """Compare the messages that a file or message defines; enums are open, so their values do not matter."""
        kept = {message.name: message for message in _nested(new)}
        for message in _nested(old):
            if message.options.map_entry:
                continue
            place = f"{path}/{message.name}"
            if message.name in kept:
                self._waiting.append((message, kept[message.name], place))
            else:
                text = f"the message at '{place}' is missing in the {{reader}} schema"
                yield SchemaDifference("MESSAGE_REMOVED", place, text)

    def _oneofs(self, old: DescriptorProto, new: DescriptorProto, path: str) -> Iterator[SchemaDifference]:
        """Check that no two fields that could be set together now exclude each other, and that no member is lost."""
        before = {one.number: _oneof(old, one) for one in old.field}
        numbers = {one.number for one in new.field}
        members: dict[str, list[int]] = {}
        for one in new.field:
            name = _oneof(new, one)
            if name is not None:
                members.setdefault(name, []).append(one.number)
        for name, contained in members.items():
            moved = [number for number in contained if number in before and before[number] is None]
            existing = [number for number in contained if before.get(number) is not None]
            place = f"{path}/{name}"
            if len(moved) > 1:
                text = (
                    f"the oneof at '{place}' in the {{reader}} schema has several fields that are independent "
                    "in the {writer} schema"
                )
                yield SchemaDifference("MULTIPLE_FIELDS_MOVED_TO_ONEOF", place, text)
            elif moved and existing:
                text = (
                    f"the oneof at '{place}' has the field {moved[0]}, which is not in a oneof in the {{writer}} schema"
                )
                yield SchemaDifference("FIELD_MOVED_TO_EXISTING_ONEOF", place, text)
        for number, old_name in before.items():
            if old_name is not None and old_name in members and number not in numbers:
                place = f"{path}/{old_name}/{number}"
                text = f"the field at '{place}' of a oneof is missing in the {{reader}} schema"
                yield SchemaDifference("ONEOF_FIELD_REMOVED", place, text)

    def _fields(self, old: DescriptorProto, new: DescriptorProto, path: str) -> Iterator[SchemaDifference]:
        kept = {one.number: one for one in new.field}
        for one in old.field:
            place = f"{path}/{one.number}"
            if one.number in kept:
                yield from self._field(one, kept[one.number], place)
            elif one.label == _REQUIRED:
                text = f"the required field '{one.name}' at '{place}' is missing in the {{reader}} schema"
                yield SchemaDifference("REQUIRED_FIELD_REMOVED", place, text)
        numbers = {one.number for one in old.field}
        for one in new.field:
            if one.label == _REQUIRED and one.number not in numbers:
                place = f"{path}/{one.number}"
                text = (
                    f"the field '{one.name}' at '{place}' is required in the {{reader}} schema "
                    "and missing in the {writer} schema"
                )
                yield SchemaDifference("REQUIRED_FIELD_ADDED", place, text)

    def _field(self, old: FieldDescriptorProto, new: FieldDescriptorProto, path: str) -> Iterator[SchemaDifference]:
        entries = self._old.map_entry(old), self._new.map_entry(new)
        kinds = _kind(old, entries[0]), _kind(new, entries[1])
        if kinds[0] != kinds[1]:
            text = (
                f"the field at '{path}' is a {kinds[1]} in the {{reader}} schema "
                f"and a {kinds[0]} in the {{writer}} schema"
            )
            yield SchemaDifference("FIELD_KIND_CHANGED", path, text)
        elif entries[0] is not None and entries[1] is not None:
            for before, after in zip(entries[0].field, entries[1].field, strict=True):
                yield from self._field(before, after, path)
        elif kinds[0] == "scalar":
            yield from self._scalar(old, new, path)
        else:
            yield from self._message_field(old, new, path)

    def _scalar(self, old: FieldDescriptorProto, new: FieldDescriptorProto, path: str) -> Iterator[SchemaDifference]:
        groups = _SCALAR_GROUPS[old.type], _SCALAR_GROUPS[new.type]
        if groups[0] != groups[1]:
            text = (
                f"the field at '{path}' is {_type_name(new)} in the {{reader}} schema "
                f"and {_type_name(old)} in the {{writer}} schema, which are written differently"
            )
            yield SchemaDifference("FIELD_SCALAR_KIND_CHANGED", path, text)
        elif groups[0] != "bytes" and self._has_other_label(old, new):
            text = (
                f"the field at '{path}' has another label (optional, repeated, required) in the {{reader}} schema "
                "than in the {writer} schema"
            )
            yield SchemaDifference("FIELD_NUMERIC_LABEL_CHANGED", path, text)

    def _has_other_label(self, old: FieldDescriptorProto, new: FieldDescriptorProto) -> bool:
        """Whether the labels differ; a field without a label in its text is like an optional one."""
        if old.HasField("oneof_index") or new.HasField("oneof_index"):
            return bool((old.label == _REPEATED) != (new.label == _REPEATED))
        return bool(old.label != new.label)

    def _message_field(
        self, old: FieldDescriptorProto, new: FieldDescriptorProto, path: str
    ) -> Iterator[SchemaDifference]:
        """Compare the messages that two fields have; the same version of an imported file is not compared."""
        types = self._old.messages.get(old.type_name), self._new.messages.get(new.type_name)
        text = (
            f"the field at '{path}' has the type {new.type_name.lstrip('.')} in the {{reader}} schema "
            f"and {old.type_name.lstrip('.')} in the {{writer}} schema, which do not fit"
        )
        changed = SchemaDifference("FIELD_NAMED_TYPE_CHANGED", path, text)
        before, after = types
        if before is None or after is None:
            if old.type_name != new.type_name:
                yield changed
        elif before.local_name != after.local_name:
            yield changed
        elif before.version is None or before.version != after.version:
            place = f"#/{before.local_name.replace('.', '/')}"
            self._waiting.append((before.message, after.message, place))
            self._fields_of_type.append(((id(before.message), id(after.message)), changed))


def _messages(messages: object, scope: str) -> Iterator[tuple[str, DescriptorProto]]:
    for message in messages:  # type: ignore[attr-defined]
        name = f"{scope}{message.name}"
        yield name, message
        yield from _messages(message.nested_type, f"{name}.")


def _nested(parent: FileDescriptorProto | DescriptorProto) -> list[DescriptorProto]:
    return list(parent.message_type if isinstance(parent, FileDescriptorProto) else parent.nested_type)


def _oneof(message: DescriptorProto, one: FieldDescriptorProto) -> str | None:
    """Return the oneof that a field is a member of; `optional` in proto3 is not one."""
    if not one.HasField("oneof_index") or one.proto3_optional:
        return None
    return str(message.oneof_decl[one.oneof_index].name)


def _kind(one: FieldDescriptorProto, entry: DescriptorProto | None) -> str:
    if entry is not None:
        return "map"
    if one.type == FieldDescriptorProto.TYPE_GROUP:
        return "group"
    return "scalar" if one.type in _SCALAR_GROUPS else "message"


def _type_name(one: FieldDescriptorProto) -> str:
    if one.type == FieldDescriptorProto.TYPE_ENUM:
        return f"the enum {one.type_name.lstrip('.')}"
    return str(FieldDescriptorProto.Type.Name(one.type)).removeprefix("TYPE_").lower()
