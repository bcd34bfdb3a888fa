"""Write contracts as AsyncAPI 3.0 documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.values import Json
from treaty.formats.api_documents import NOTES_KEY, ApiWriter, start_notes, write_document, write_head
from treaty.formats.asyncapi.messages import FORMAT, Action, ActionKind, Message, MessagePart, message_in
from treaty.formats.asyncapi.reader import Reader
from treaty.formats.naming import make_identifier, make_type_name, unique_name
from treaty.formats.results import Loss, WriteResult

TITLE = "AsyncAPI"
VERSION = "3.0.0"


def write(contract: Contract) -> WriteResult:
    """Write a contract as a document in which an object whose message is not known is sent to a channel of its own."""
    return write_document(contract, TITLE, _Writer, Reader)


@dataclass(frozen=True)
class _Body:
    """The objects that are written as one payload or as the headers of one message."""

    message: Message
    indexes: tuple[int, ...]


class _Writer(ApiWriter):
    """Writes one contract."""

    def __init__(self, contract: Contract) -> None:
        super().__init__(contract)
        self._channels: dict[str, dict[str, Any]] = {}
        self._operations: dict[str, dict[str, Any]] = {}

    def document(self) -> dict[str, Json]:
        """Return the document without the notes on its objects."""
        for body in self._messages():
            self._add(body)
        return {
            "asyncapi": VERSION,
            "info": write_head(self.contract),
            "defaultContentType": "application/json",
            "channels": self._channels,
            "operations": self._operations,
            **self.components(),
            NOTES_KEY: start_notes(self.contract),
        }

    def carried_terms(self) -> Iterator[Loss]:
        """Yield the payloads of other schema languages, of which the document has only a note."""
        for item in self.contract.schema:
            for one in item.foreign:
                if one.format == FORMAT:
                    yield Loss(
                        item.name, f"{one.name} {one.text}", "payloads are written as JSON Schema", is_carried=True
                    )

    def _messages(self) -> list[_Body]:
        """Return the messages of all objects; several objects of one payload are its alternatives."""
        stated = [message_in(item.custom_properties) for item in self.contract.schema]
        payloads = {(one.channel, one.name) for one in stated if one and one.part is MessagePart.PAYLOAD}
        bodies: dict[tuple[str, str, str], _Body] = {}
        channels = {one.channel for one in stated if one}
        for index, (item, known) in enumerate(zip(self.contract.schema, stated, strict=True)):
            message = self._fitting(item, known) if known and (known.channel, known.name) in payloads else None
            other = bodies.get(_key(message)) if message else None
            if message is None or not _joins(message, other):
                message, other = _make_message(item, channels), None
                channels.add(message.channel)
            bodies[_key(message)] = _Body(message, (*(other.indexes if other else ()), index))
        return sorted(bodies.values(), key=lambda body: body.message.part is MessagePart.HEADERS)

    def _fitting(self, item: SchemaObject, message: Message) -> Message:
        """Return the message of an object, as an object if it is no longer the single value or the empty payload."""
        wrapped = message.wrapped and self.bodies.is_value(item)
        return replace(message, wrapped=wrapped, empty=message.empty and not item.fields)

    def _add(self, body: _Body) -> None:
        message, items = body.message, [self.contract.schema[index] for index in body.indexes]
        channel = self._channels.setdefault(message.channel, {"address": message.address, "messages": {}})
        written = channel["messages"].setdefault(message.name, {})
        if message.content_type:
            written["contentType"] = message.content_type
        part, names = str(message.part), [message.object_name]
        if (message.wrapped or message.empty) and items[0].description:
            written["description"] = items[0].description
        if message.wrapped:
            written[part] = self.bodies.write_value(items[0])
        elif not message.empty:
            written[part], names = self.bodies.write(message.object_name, items)
        for index, name in zip(body.indexes, names, strict=True):
            self.native_names[index] = name
        if message.part is MessagePart.PAYLOAD:
            for action in message.actions:
                self._add_action(message, action)

    def _add_action(self, message: Message, action: Action) -> None:
        channel = f"#/channels/{_escape(message.channel)}"
        operation = self._operations.setdefault(
            action.operation, {"action": str(action.kind), "channel": {"$ref": channel}, "messages": []}
        )
        reference = {"$ref": f"{channel}/messages/{_escape(message.name)}"}
        if (operation["action"], operation["channel"]) == (str(action.kind), {"$ref": channel}):
            operation["messages"].append(reference)


def _joins(message: Message, other: _Body | None) -> bool:
    """Whether an object can be written with those of the same payload: alone, or as one more alternative."""
    return other is None or not any((message.wrapped, message.empty, other.message.wrapped, other.message.empty))


def _key(message: Message) -> tuple[str, str, str]:
    return message.channel, message.name, str(message.part)


def _make_message(item: SchemaObject, taken: set[str]) -> Message:
    """Return a message that is sent to a channel named after the object."""
    name = make_type_name(item.name)
    channel = unique_name(make_identifier(item.name), taken, "_")
    return Message(channel, item.name, name, actions=(Action(ActionKind.SEND, f"send_{channel}"),))


def _escape(name: str) -> str:
    """Return a name as a step of a reference."""
    return quote(name.replace("~", "~0").replace("/", "~1"), safe="~")
