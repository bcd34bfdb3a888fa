"""Contracts and schemas: the subjects of a contract, the schema it writes, and the contract that a schema describes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from treaty.contracts.model import Contract, Field, Form, SchemaObject
from treaty.contracts.names import invalid_id_characters
from treaty.contracts.odcs import LATEST_API_VERSION
from treaty.contracts.values import FrozenMap, freeze
from treaty.errors import InvalidDocument, NoContract
from treaty.formats.nearby_files import NearbyFiles
from treaty.formats.notes import NOTE_KEY
from treaty.formats.supported_formats import get_format
from treaty.schema_registry import avro_schemas
from treaty.schema_registry.model import ParsedSchema, SchemaType, all_references
from treaty.schema_registry.protobuf_schemas import definitions
from treaty.schema_registry.schemas import parse_schema
from treaty.schema_registry.subjects import DEFAULT_CONTEXT, NameStrategy, Subject, parse_context, subject_of, topic_of

KAFKA = "kafka"
STRATEGY_PROPERTY, CONTEXT_PROPERTY, TOPIC_PROPERTY = "subjectNameStrategy", "schemaContext", "topic"
FIRST_VERSION = "1.0.0"
UNKNOWN = "unknown"
"""The owner and the host of a draft, until they are stated."""
MAX_ID_LENGTH = 200
MAX_CACHED_OBJECTS = 500
_TYPES = {
    "avro": SchemaType.AVRO,
    "json": SchemaType.JSON,
    "json-schema": SchemaType.JSON,
    "jsonschema": SchemaType.JSON,
    "protobuf": SchemaType.PROTOBUF,
}
_FORMATS = {SchemaType.AVRO: "avro", SchemaType.JSON: "json-schema", SchemaType.PROTOBUF: "protobuf"}
_SERVER_FORMATS = {SchemaType.AVRO: "avro", SchemaType.JSON: "json", SchemaType.PROTOBUF: "protobuf"}
_SUFFIXES = {SchemaType.AVRO: ".avsc", SchemaType.JSON: ".json", SchemaType.PROTOBUF: ".proto"}
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class Stream:
    """A topic of a contract: the object that describes it, and how its records are named and written."""

    context: str
    topic: str
    object: str
    type: SchemaType
    strategy: NameStrategy

    def subject(self, schema: ParsedSchema) -> Subject:
        """Return the subject of the values of the topic."""
        return Subject(self.context, subject_of(self.strategy, self.topic, record_name(schema) or self.object))


def streams_of(contract: Contract) -> Iterator[Stream]:
    """Yield the topics of a contract: one for each Kafka server and object."""
    for server in contract.servers or ():
        if server.get("type") != KAFKA:
            continue
        kind = _TYPES.get(str(server.get("format", "json")).lower())
        if kind is None:
            continue
        custom = _custom_properties(server)
        strategy = _strategy(custom.get(STRATEGY_PROPERTY))
        context = parse_context(str(custom[CONTEXT_PROPERTY])) if CONTEXT_PROPERTY in custom else DEFAULT_CONTEXT
        for item in contract.schema:
            topic = custom.get(TOPIC_PROPERTY) if len(contract.schema) == 1 else None
            yield Stream(context, str(topic or item.physical_name or item.name), item.name, kind, strategy)


def write_schema(contract: Contract, stream: Stream) -> ParsedSchema:
    """Write the object of a stream in the format of the stream."""
    only = replace(contract, objects=tuple(item for item in contract.schema if item.name == stream.object))
    return parse_schema(stream.type, get_format(_FORMATS[stream.type]).write(only).text)


def without_notes(schema: ParsedSchema) -> ParsedSchema:
    """Return a schema without the notes for those who read it back as a contract: they change with every version."""
    if schema.type is SchemaType.PROTOBUF:
        return schema
    return parse_schema(schema.type, json.dumps(_strip_notes(json.loads(schema.text)), ensure_ascii=False))


def _strip_notes(node: Any) -> Any:
    if isinstance(node, list):
        return [_strip_notes(one) for one in node]
    if isinstance(node, Mapping):
        return {key: _strip_notes(value) for key, value in node.items() if key != NOTE_KEY}
    return node


@lru_cache(MAX_CACHED_OBJECTS)
def read_objects(schema: ParsedSchema) -> tuple[SchemaObject, ...]:
    """Return the objects that a schema describes; raise NoContract if it describes no records."""
    suffix = _SUFFIXES[schema.type]
    texts = {one.reference.name: one.schema.text for one in all_references(schema.references)}
    texts |= {f"{name}{suffix}": text for name, text in texts.items() if not name.endswith(suffix)}
    files = NearbyFiles(f"schema{suffix}", texts.get, lambda folder: sorted(texts), texts.get)
    result = get_format(_FORMATS[schema.type]).read(schema.text, name=f"schema{suffix}", files=files)
    objects = tuple(item for contract in result.contracts for item in contract.schema)
    if not objects:
        raise NoContract("the schema describes no records", ())
    return objects


def draft_contract(subject: Subject, schema: ParsedSchema, owner: str | None) -> Contract:
    """Return a draft of a contract for a subject without one; what the schema does not state stays open."""
    objects = read_objects(schema)
    topic = topic_of(subject.name)
    main = objects[0]
    strategy = NameStrategy.TOPIC if topic != subject.name else NameStrategy.RECORD
    server: dict[str, Any] = {
        "server": KAFKA,
        "type": KAFKA,
        "host": UNKNOWN,
        "format": _SERVER_FORMATS[schema.type],
        "customProperties": [{"property": STRATEGY_PROPERTY, "value": str(strategy)}],
    }
    if subject.context != DEFAULT_CONTEXT:
        server["customProperties"].append({"property": CONTEXT_PROPERTY, "value": subject.context})
    return Contract(
        id=contract_id(subject),
        version=FIRST_VERSION,
        api_version=LATEST_API_VERSION,
        name=str(subject)[:MAX_ID_LENGTH],
        status="draft",
        objects=(replace(main, physical_name=topic), *objects[1:]),
        team=freeze({"name": owner or UNKNOWN}),
        servers=(FrozenMap(freeze(server)),),
        form=Form.ODCS,
    )


def contract_id(subject: Subject) -> str:
    """Return the id of the contract of a subject: its topic, with a digest if the topic cannot be an id."""
    context = "" if subject.context == DEFAULT_CONTEXT else f"{subject.context.strip('.')}."
    text = f"{context}{topic_of(subject.name)}"
    plain = _NOT_IN_IDS.sub("_", text)[:MAX_ID_LENGTH].strip("._-")
    if plain == text and not invalid_id_characters(text):
        return text
    return f"{plain or 'subject'}-{hashlib.sha256(str(subject).encode()).hexdigest()[:8]}"


def follow_schema(own: Contract, name: str | None, before: ParsedSchema | None, after: ParsedSchema) -> Contract:
    """Return a contract with the changes between two schemas of its subject; what schemas do not state is kept."""
    new = read_objects(after)
    old = read_objects(before) if before is not None else ()
    mine = {item.name: item for item in own.schema}
    target = mine.get(name or "") or (own.schema[0] if own.schema else None)
    if target is None:
        return replace(own, objects=new)
    main = new[0]
    earlier = old[0] if old else SchemaObject(main.name, properties=())
    changed = replace(target, properties=_merge(target.fields, earlier.fields, main.fields))
    return replace(own, objects=tuple(changed if item is target else item for item in own.schema))


def record_name(schema: ParsedSchema) -> str | None:
    """Return the name of the record that a schema describes, as name strategies use it."""
    if schema.type is SchemaType.AVRO:
        data = avro_schemas.read_data(schema.text)
        if isinstance(data, Mapping) and data.get("name"):
            space, name = data.get("namespace"), str(data["name"])
            return f"{space}.{name}" if space and "." not in name else name
        return None
    if schema.type is SchemaType.JSON:
        title = schema.model.data.get("title") if isinstance(schema.model.data, Mapping) else None
        return title if isinstance(title, str) else None
    return next((name for name, one in definitions(schema.model) if type(one).__name__ == "DescriptorProto"), None)


def _merge(own: tuple[Field, ...], old: tuple[Field, ...], new: tuple[Field, ...]) -> tuple[Field, ...]:
    mine, before = ({field.name: field for field in some} for some in (own, old))
    return tuple(
        _merged(mine[field.name], before.get(field.name), field) if field.name in mine else field for field in new
    )


def _merged(own: Field, old: Field | None, new: Field) -> Field:
    """Return a field with what changed between two schemas."""
    if old == new:
        return own
    if old is None:
        old = own
    changes: dict[str, Any] = {}
    for attribute in fields(Field):
        before, after = getattr(old, attribute.name), getattr(new, attribute.name)
        if before == after:
            continue
        if attribute.name == "properties":
            after = _merge(own.properties or (), before or (), after or ()) if after is not None else None
        elif attribute.name in ("items", "map_value") and before is not None and after is not None:
            after = _merged(getattr(own, attribute.name) or after, before, after)
        changes[attribute.name] = after
    return replace(own, **changes)


def _custom_properties(server: Mapping[str, Any]) -> dict[str, Any]:
    entries = server.get("customProperties") or ()
    return {str(one.get("property")): one.get("value") for one in entries}


def _strategy(value: object) -> NameStrategy:
    try:
        return NameStrategy(str(value or NameStrategy.TOPIC).lower())
    except ValueError:
        raise InvalidDocument(
            f"unknown {STRATEGY_PROPERTY} {value!r} of a Kafka server; use one of: {', '.join(NameStrategy)}"
        ) from None
