"""Messages of AsyncAPI: the channel and the actions of an object, carried as a custom property."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from treaty.contracts.operations import MESSAGE_KEY
from treaty.contracts.values import FrozenMap, Json

FORMAT = "asyncapi"


class MessagePart(StrEnum):
    """The part of a message that an object describes."""

    PAYLOAD = "payload"
    HEADERS = "headers"


class ActionKind(StrEnum):
    """What the application of the document does with a message."""

    SEND = "send"
    RECEIVE = "receive"


@dataclass(frozen=True, slots=True)
class Action:
    """An operation of the application: what it does, and its id."""

    kind: ActionKind
    operation: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a channel. `wrapped`: the payload is no object; `empty`: there is no schema of a payload."""

    channel: str
    address: str | None
    name: str
    part: MessagePart = MessagePart.PAYLOAD
    actions: tuple[Action, ...] = ()
    content_type: str | None = None
    wrapped: bool = False
    empty: bool = False

    @property
    def object_name(self) -> str:
        """The name of the object: the address of the channel and the name of the message."""
        headers = " headers" if self.part is MessagePart.HEADERS else ""
        return f"{self.address or self.channel} {self.name}{headers}"

    def as_property(self) -> FrozenMap:
        """Return the custom property of the object."""
        stated: dict[str, Json] = {"channel": self.channel}
        stated |= {"address": self.address} if self.address is not None else {}
        stated |= {"message": self.name, "part": str(self.part)}
        if self.actions:
            stated["actions"] = [{"action": str(one.kind), "operation": one.operation} for one in self.actions]
        stated |= {"contentType": self.content_type} if self.content_type else {}
        return FrozenMap(
            {"property": MESSAGE_KEY, "value": stated | {key: True for key in _FLAGS if getattr(self, key)}}
        )


_FLAGS = ("wrapped", "empty")


def message_in(custom_properties: Iterable[FrozenMap] | None) -> Message | None:
    """Return the message among custom properties; None if there is none, or if it is not well-formed."""
    values = [entry.get("value") for entry in custom_properties or () if entry.get("property") == MESSAGE_KEY]
    return _parse_message(values[0]) if len(values) == 1 and isinstance(values[0], Mapping) else None


def _parse_message(value: Mapping[str, Json]) -> Message | None:
    channel, name, part = (value.get(key) for key in ("channel", "message", "part"))
    address, content_type = value.get("address"), value.get("contentType")
    if not isinstance(channel, str) or not channel or not isinstance(name, str) or not name:
        return None
    if part not in list(MessagePart) or any(not isinstance(one, str | None) for one in (address, content_type)):
        return None
    actions = _parse_actions(value.get("actions", ()))
    if actions is None:
        return None
    wrapped, empty = (value.get(key) is True for key in _FLAGS)
    return Message(channel, address, name, MessagePart(part), actions, content_type, wrapped, empty)


def _parse_actions(value: Json) -> tuple[Action, ...] | None:
    actions: list[Action] = []
    for entry in value if isinstance(value, tuple) else ():
        kind, operation = (entry.get(key) if isinstance(entry, Mapping) else None for key in ("action", "operation"))
        if kind not in list(ActionKind) or not isinstance(operation, str) or not operation:
            return None
        actions.append(Action(ActionKind(kind), operation))
    return tuple(actions)
