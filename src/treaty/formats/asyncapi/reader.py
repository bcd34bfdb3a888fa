"""Read contracts from AsyncAPI documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from treaty.contracts.foreign import ForeignConstruct, add_constructs
from treaty.contracts.model import SchemaObject
from treaty.contracts.text import read_document_with_number_keys
from treaty.contracts.values import Json, abbreviate
from treaty.errors import NoContract
from treaty.formats.api_documents import ApiReader
from treaty.formats.asyncapi.messages import FORMAT, Action, ActionKind, Message, MessagePart
from treaty.formats.avro.named_types import read_schema_text
from treaty.formats.avro.reader import Reader as AvroReader
from treaty.formats.flat_terms import as_list, as_mapping
from treaty.formats.json_schema.documents import Node, UnresolvedReference, Vocabulary
from treaty.formats.nearby_files import NO_FILES, NearbyFiles
from treaty.formats.notes import apply_note
from treaty.formats.results import ReadResult, no_contract

_VERSION = re.compile(r"(2|3)\.\d+\.\d+")
_ACTIONS_2 = {"publish": ActionKind.RECEIVE, "subscribe": ActionKind.SEND}
"""In AsyncAPI 2, an operation describes what clients do: they publish what the application receives."""
_AVRO = "application/vnd.apache.avro"
_JSON_SCHEMAS = ("application/vnd.aai.asyncapi", "application/schema+json", "application/schema+yaml")
_DRAFT = 7
_NAMED_PARTS = frozenset({"schemas", "messages", "channels", "operations", "parameters", "messageTraits"})


def read(text: str, name: str, files: NearbyFiles = NO_FILES) -> ReadResult:
    """Read the messages of an AsyncAPI document as the objects of one contract."""
    return Reader(name, read_document_with_number_keys(text, name).data, files).result()


def _foreign_parts(node: Node) -> frozenset[str]:
    """Return the keys of a message or schema that contain an Avro schema."""
    stated = node.get("schemaFormat")
    return frozenset({"payload", "schema"}) if isinstance(stated, str) and stated.startswith(_AVRO) else frozenset()


@dataclass(frozen=True)
class _Channel:
    """A channel: its id, its address and its messages by name, each with its actions."""

    name: str
    address: str | None
    messages: tuple[tuple[str, Mapping[str, Any], tuple[Action, ...]], ...]


class Reader(ApiReader):
    """Reads one document."""

    title = "AsyncAPI"

    def __init__(self, source: str, data: Mapping[str, Any], files: NearbyFiles = NO_FILES) -> None:
        self.files = files
        stated = _VERSION.fullmatch(str(data.get("asyncapi")))
        if stated is None:
            message = f"AsyncAPI {abbreviate(str(data.get('asyncapi')))!r} is not read, only 2 and 3"
            raise no_contract(message, source, "convert the document to AsyncAPI 3")
        self.major = int(stated[1])
        super().__init__(source, data, files, Vocabulary(_DRAFT, _NAMED_PARTS, _foreign_parts))

    def objects(self) -> tuple[SchemaObject, ...]:
        """Read the objects of the document; raise NoContract if there are none."""
        channels = self._channels_2() if self.major == 2 else self._channels_3()
        items = tuple(item for channel in channels for item in self._channel(channel))
        if not items:
            raise no_contract("the document has no messages", self.source, "add channels with messages")
        return items

    def _channels_2(self) -> Iterator[_Channel]:
        """Yield the channels of a document of version 2, whose operations contain the messages."""
        for address, value in as_mapping(self.data.get("channels")).items():
            channel = self.resolve(value, address)
            messages: dict[str, tuple[Mapping[str, Any], tuple[Action, ...]]] = {}
            for key, kind in _ACTIONS_2.items():
                if key not in channel:
                    continue
                operation = self.resolve(channel[key], f"{address} {key}")
                identifier = operation.get("operationId")
                action = Action(kind, identifier if isinstance(identifier, str) and identifier else f"{key} {address}")
                for name, message in self._messages_2(operation.get("message"), action):
                    known = messages.get(name, (message, ()))
                    messages[name] = (message, (*known[1], action))
            listed = tuple((name, message, actions) for name, (message, actions) in messages.items())
            yield _Channel(address, address, listed)

    def _messages_2(self, value: Json, action: Action) -> Iterator[tuple[str, Mapping[str, Any]]]:
        choices = as_list(as_mapping(value).get("oneOf")) or ([value] if value is not None else [])
        for number, choice in enumerate(choices, 1):
            message = self.resolve(choice, action.operation)
            reference = as_mapping(choice).get("$ref")
            named = [message.get("messageId"), message.get("name")]
            named += [reference.rpartition("/")[2]] if isinstance(reference, str) else []
            default = "message" if len(choices) == 1 else f"message{number}"
            yield next((one for one in named if isinstance(one, str) and one), default), message

    def _channels_3(self) -> Iterator[_Channel]:
        """Yield the channels of a document of version 3, to whose messages the operations refer."""
        actions = self._actions_3()
        for name, value in as_mapping(self.data.get("channels")).items():
            channel = self.resolve(value, name)
            address = channel.get("address")
            messages = []
            for key, message in as_mapping(channel.get("messages")).items():
                done = tuple(action for of, only, action in actions if of == name and (only is None or key in only))
                messages.append((key, self.resolve(message, f"{name} {key}"), done))
            yield _Channel(name, address if isinstance(address, str) and address else None, tuple(messages))

    def _actions_3(self) -> list[tuple[str, frozenset[str] | None, Action]]:
        """Return each operation with its channel and, if it names them, its messages."""
        actions = []
        for name, value in as_mapping(self.data.get("operations")).items():
            operation = self.resolve(value, f"operation {name}")
            reference = as_mapping(operation.get("channel")).get("$ref")
            kind = operation.get("action")
            if not isinstance(reference, str) or kind not in list(ActionKind):
                raise self.invalid(f"operation {name}: it has no channel, or its action is not send or receive")
            listed = [as_mapping(one).get("$ref") for one in as_list(operation.get("messages"))]
            only = frozenset(_last_step(one) for one in listed if isinstance(one, str)) or None
            actions.append((_last_step(reference), only, Action(ActionKind(kind), name)))
        return actions

    def _channel(self, channel: _Channel) -> Iterator[SchemaObject]:
        for name, stated, actions in channel.messages:
            message = self._with_traits(stated, f"{channel.name} {name}")
            content_type = message.get("contentType")
            about = Message(
                channel.name,
                channel.address,
                name,
                actions=actions,
                content_type=content_type if isinstance(content_type, str) else None,
            )
            for item in self._payload(about, message):
                words = next((message[key] for key in ("description", "summary") if message.get(key)), None)
                is_described = item.description is not None or not isinstance(words, str)
                yield item if is_described else replace(item, description=words)
            if "headers" in message:
                headers = replace(about, part=MessagePart.HEADERS)
                yield from self._schema(headers, message["headers"])

    def _with_traits(self, message: Mapping[str, Any], where: str) -> Mapping[str, Any]:
        """Return a message with the keys of its traits that it does not have itself."""
        merged: dict[str, Any] = {}
        for trait in as_list(message.get("traits")):
            merged |= self.resolve(trait, where)
        return {**merged, **message}

    def _payload(self, message: Message, stated: Mapping[str, Any]) -> Iterator[SchemaObject]:
        payload, language = stated.get("payload"), stated.get("schemaFormat")
        if isinstance(payload, Mapping) and "$ref" in payload and self.major == 3 and language is None:
            target = self._follow(payload)
            payload = target if "schemaFormat" in target else payload
        if isinstance(payload, Mapping) and "schemaFormat" in payload and "schema" in payload:
            payload, language = payload["schema"], payload["schemaFormat"]
        if payload is None:
            name = self.bodies.free_name(message.object_name)
            yield SchemaObject(name, custom_properties=(replace(message, empty=True).as_property(),))
        elif language is None or str(language).startswith(_JSON_SCHEMAS):
            yield from self._schema(message, payload)
        elif str(language).startswith(_AVRO):
            yield from self._avro(message, payload)
        else:
            yield self._opaque(message, payload, f"{abbreviate(str(language))} is not read")

    def _schema(self, message: Message, schema: Json) -> Iterator[SchemaObject]:
        for body in self.bodies.read(message.object_name, schema):
            stated = replace(message, wrapped=body.wrapped).as_property()
            yield replace(body.item, custom_properties=(stated, *(body.item.custom_properties or ())))

    def _avro(self, message: Message, payload: Json) -> Iterator[SchemaObject]:
        """Yield the records of an Avro schema that is in the document or in a file beside it."""
        reference = as_mapping(payload).get("$ref")
        data = self._avro_file(reference) if isinstance(reference, str) else payload
        if data is None:
            yield self._opaque(message, payload, "the Avro schema is in no file that can be read")
            return
        try:
            data = read_schema_text(data, self.source) if isinstance(data, str) else data
            reader = AvroReader(self.source, data, self.files)
        except NoContract:
            yield self._opaque(message, payload, "the Avro schema defines no record")
            return
        for root in reader.roots:
            part = reader.part(root)
            item = apply_note(part.contract.schema[0], part.note, self.source, root.name)
            suffix = f" {root.short}" if len(reader.roots) > 1 else ""
            name = self.bodies.free_name(f"{message.object_name}{suffix}")
            language = [ForeignConstruct(FORMAT, "schemaFormat", _AVRO)]
            custom = add_constructs((message.as_property(), *(item.custom_properties or ())), language)
            yield replace(item, name=name, custom_properties=custom)
        self.lost += reader.losses

    def _avro_file(self, reference: str) -> Json:
        """Return the Avro schema that a payload refers to: in the document, or the text of a file; None without it."""
        if not reference.startswith("#"):
            return self.files(reference) if "://" not in reference else None
        try:
            return self.documents.resolve(f"{self.documents.identifier}{reference}")
        except UnresolvedReference:
            return None

    def _opaque(self, message: Message, payload: Json, why: str) -> SchemaObject:
        """Return the object of a payload that is not read; if its text changes, the change cannot be judged."""
        name = self.bodies.free_name(message.object_name)
        self.lose(name, "the payload", why)
        construct = ForeignConstruct.of(FORMAT, "payload", payload)
        custom = add_constructs((replace(message, empty=True).as_property(),), [construct])
        return SchemaObject(name, custom_properties=custom)

    def _follow(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return as_mapping(self.documents.resolve(str(value["$ref"])))
        except UnresolvedReference:
            return {}


def _last_step(reference: str) -> str:
    """Return the name at the end of a reference."""
    return unquote(reference.rpartition("/")[2]).replace("~1", "/").replace("~0", "~")
