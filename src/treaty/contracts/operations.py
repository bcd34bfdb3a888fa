"""Operations of HTTP APIs: what an object of a contract is in an exchange between client and server.

The operation of an object is carried as a custom property, so it survives every way through ODCS.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from treaty.contracts.values import FrozenMap, Json

OPERATION_KEY = "openapi.operation"
"""The name of the custom property of an object that carries its operation."""
MESSAGE_KEY = "asyncapi.message"
"""The name of the custom property of an object that carries its message and channel."""
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
DEFAULT_MEDIA_TYPE = "application/json"
BODY_FIELD = "body"
"""The only field of an object that represents a body which is no object, such as a list or a text."""
_STATUS = re.compile(r"[1-5](?:[0-9]{2}|XX)|default")


class Part(StrEnum):
    """The part of an exchange: clients send requests and parameters, the server sends responses."""

    PARAMETERS = "parameters"
    REQUEST = "request"
    RESPONSE = "response"


@dataclass(frozen=True, slots=True)
class HttpOperation:
    """An operation of an HTTP API, and the part of it that an object describes.

    `wrapped`: the body is no object, and the field `body` contains it. `empty`: there is no schema of a body.
    """

    method: str
    path: str
    part: Part
    status: str | None = None
    media_type: str | None = None
    operation_id: str | None = None
    wrapped: bool = False
    empty: bool = False

    @property
    def endpoint(self) -> tuple[str, str]:
        """The method and path, which identify the operation."""
        return self.method, self.path

    @property
    def name(self) -> str:
        """The name of the part: `GET /orders/{id} 200`, `POST /orders request`."""
        part = self.status if self.part is Part.RESPONSE else str(self.part)
        other = f" {self.media_type}" if self.media_type not in (None, DEFAULT_MEDIA_TYPE) else ""
        return f"{self.method.upper()} {self.path} {part}{other}"

    @property
    def is_failure(self) -> bool:
        """Whether it is a response to a request that fails."""
        return self.status is not None and self.status[0] in "45d"

    def as_property(self) -> FrozenMap:
        """Return the custom property of the object."""
        stated: dict[str, Json] = {"method": self.method, "path": self.path, "part": str(self.part)}
        optional = {"status": self.status, "mediaType": self.media_type, "operationId": self.operation_id}
        flags = {name: True for name in ("wrapped", "empty") if getattr(self, name)}
        stated |= {key: value for key, value in optional.items() if value is not None} | flags
        return FrozenMap({"property": OPERATION_KEY, "value": stated})


def operation_in(custom_properties: Iterable[FrozenMap] | None) -> HttpOperation | None:
    """Return the operation among custom properties; None if there is none, or if it is not well-formed."""
    values = [entry.get("value") for entry in custom_properties or () if entry.get("property") == OPERATION_KEY]
    return _parse_operation(values[0]) if len(values) == 1 and isinstance(values[0], Mapping) else None


def belongs_to_api(custom_properties: Iterable[FrozenMap] | None) -> bool:
    """Whether an object was read from the description of an API, whose title is no identity."""
    return any(entry.get("property") in (OPERATION_KEY, MESSAGE_KEY) for entry in custom_properties or ())


def _parse_operation(value: Mapping[str, Json]) -> HttpOperation | None:
    method, path, part = (value.get(key) for key in ("method", "path", "part"))
    status, media_type, operation_id = (value.get(key) for key in ("status", "mediaType", "operationId"))
    if method not in METHODS or not isinstance(path, str) or not path.startswith("/") or part not in list(Part):
        return None
    if any(not isinstance(text, str | None) for text in (status, media_type, operation_id)):
        return None
    if (part == Part.RESPONSE) != (status is not None) or (status is not None and not _STATUS.fullmatch(status)):
        return None
    wrapped, empty = value.get("wrapped") is True, value.get("empty") is True
    return HttpOperation(method, path, Part(part), status, media_type, operation_id, wrapped, empty)
