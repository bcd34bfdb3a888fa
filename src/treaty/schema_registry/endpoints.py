"""Both ends of a transfer: a schema registry at an address, and the one of this registry."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx2

from treaty.errors import InvalidDocument, NotAllowed, Unavailable
from treaty.registry.store.subjects import Kept
from treaty.schema_registry.configuration import LEVEL
from treaty.schema_registry.errors import SchemaRegistryError
from treaty.schema_registry.model import ParsedSchema, Reference, SchemaType
from treaty.schema_registry.schema_loader import SchemaRequest
from treaty.schema_registry.service import SchemaRegistry
from treaty.schema_registry.subject_versions import FoundVersion
from treaty.schema_registry.subjects import ANY_CONTEXT, DEFAULT_CONTEXT, Subject, parse_subject
from treaty.schema_registry.transfer import ALL_SUBJECTS, VersionRecord

T = TypeVar("T")
MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
TIMEOUT_S = 60.0
ATTEMPTS = 3
MAX_CACHED = 10_000
_NOT_SET = (40401, 40403, 40408, 40409)


class RemoteRegistry:
    """A schema registry at an address; reads are repeated if the connection fails."""

    def __init__(
        self, address: str, user: str | None = None, password: str | None = None, token: str | None = None
    ) -> None:
        if not address.startswith(("http://", "https://")):
            raise InvalidDocument(f"{address!r} is not the address of a schema registry; write http://… or https://…")
        headers = {"Accept": MEDIA_TYPE, "Content-Type": MEDIA_TYPE}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        auth = (user or "", password or "") if user or password else None
        self._address = address.rstrip("/")
        self._client = httpx2.Client(auth=auth, headers=headers, timeout=TIMEOUT_S)
        self.version = lru_cache(MAX_CACHED)(self._version)  # type: ignore[method-assign]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def versions(self) -> list[tuple[str, int, bool]]:
        """Return subject, number and whether it is deleted, of every version."""
        found: list[tuple[str, int, bool]] = []
        for subject in self._get("/subjects?deleted=true"):
            path = f"/subjects/{_escape(subject)}/versions"
            active = set(self._get(path, missing=[]))
            found += [(subject, number, number not in active) for number in self._get(f"{path}?deleted=true")]
        return found

    def version(self, subject: str, number: int, is_deleted: bool) -> VersionRecord:
        """Return a version."""
        return self._version(subject, number, is_deleted)

    def _version(self, subject: str, number: int, is_deleted: bool) -> VersionRecord:
        data = self._get(f"/subjects/{_escape(subject)}/versions/{number}?deleted=true")
        return VersionRecord(
            subject,
            number,
            data["id"],
            data["schema"],
            data.get("schemaType") or "AVRO",
            tuple(data.get("references") or ()),
            data.get("metadata"),
            data.get("ruleSet"),
            is_deleted,
        )

    def schema(self, identity: int) -> VersionRecord | None:
        """Return the schema with an id, of no subject; None if there is none."""
        data = self._get(f"/schemas/ids/{identity}", missing=None)
        return None if data is None else _schema_record(identity, data)

    def config(self, subject: str) -> Mapping[str, Any] | None:
        """Return the configuration of a subject or of all."""
        config: Mapping[str, Any] | None = self._get(_place("/config", subject), missing=None)
        return config

    def mode(self, subject: str) -> str | None:
        """Return the mode of a subject or of all."""
        data = self._get(_place("/mode", subject), missing=None)
        return None if data is None else str(data["mode"])

    def set_config(self, subject: str, config: Mapping[str, Any]) -> None:
        """Change the configuration of a subject or of all."""
        body = {("compatibility" if name == LEVEL else name): value for name, value in config.items()}
        self._send("PUT", _place("/config", subject), body)

    def set_mode(self, subject: str, mode: str) -> None:
        """Change the mode of a subject or of all."""
        self._send("PUT", f"{_place('/mode', subject)}?force=true", {"mode": mode})

    def register(self, record: VersionRecord) -> int:
        """Register a version with its number and id, and return the id."""
        body = {**_body(record), "id": record.id, "version": record.version}
        return int(self._send("POST", f"/subjects/{_escape(record.subject)}/versions", body)["id"])

    def register_schema(self, subject: str, schema: ParsedSchema) -> int:
        """Register a schema under a subject, unless it is known there, and return its id."""
        body = {"schema": schema.text, "schemaType": str(schema.type)}
        return int(self._send("POST", f"/subjects/{_escape(subject)}/versions", body)["id"])

    def delete(self, subject: str, number: int) -> None:
        """Delete a version, but not permanently."""
        self._send("DELETE", f"/subjects/{_escape(subject)}/versions/{number}", None)

    def look_up(self, record: VersionRecord) -> int | None:
        """Return the id of the schema of a record under its subject."""
        try:
            return int(self._send("POST", f"/subjects/{_escape(record.subject)}?deleted=true", _body(record))["id"])
        except SchemaRegistryError as error:
            if error.status == 404:
                return None
            raise

    def _get(self, path: str, **default: Any) -> Any:
        for attempt in range(ATTEMPTS):
            try:
                return self._send("GET", path, None)
            except SchemaRegistryError as error:
                if "missing" in default and error.code in _NOT_SET:
                    return default["missing"]
                raise
            except Unavailable:
                if attempt == ATTEMPTS - 1:
                    raise
        raise AssertionError

    def _send(self, method: str, path: str, body: Any) -> Any:
        content = None if body is None else json.dumps(body)
        try:
            response = self._client.request(method, f"{self._address}{path}", content=content)
        except httpx2.HTTPError as error:
            reason = type(error).__name__
            raise Unavailable(f"the schema registry at {self._address} cannot be reached: {reason}") from None
        try:
            data = response.json()
        except ValueError:
            raise Unavailable(
                f"{self._address}{path} did not answer with JSON ({response.status_code}); is it a schema registry?"
            ) from None
        if response.status_code in (401, 403):
            raise NotAllowed(f"the schema registry at {self._address} refused the credentials: {data.get('message')}")
        if response.is_success:
            return data
        raise SchemaRegistryError(int(data.get("error_code", response.status_code)), str(data.get("message")))


class LocalRegistry:
    """The schema registry of an open registry."""

    def __init__(self, registry: SchemaRegistry) -> None:
        self._registry = registry

    def versions(self) -> list[tuple[str, int, bool]]:
        """Return subject, number and whether it is deleted, of every version."""
        listed = self._registry.versions_below(Subject(ANY_CONTEXT, ""), Kept.BOTH)
        return [(str(Subject(one.context, one.subject)), one.version, one.is_deleted) for one in listed]

    def version(self, subject: str, number: int, is_deleted: bool) -> VersionRecord:
        """Return a version."""
        return _record(self._registry.version(parse_subject(subject), number, Kept.BOTH))

    def schema(self, identity: int) -> VersionRecord | None:
        """Return the schema with an id, of no subject; None if there is none."""
        found = _or_none(lambda: self._registry.schema(DEFAULT_CONTEXT, identity))
        if found is None:
            return None
        return VersionRecord("", 0, identity, found.text, found.type, found.references)

    def config(self, subject: str) -> Mapping[str, Any] | None:
        """Return the configuration of a subject or of all."""
        return _or_none(lambda: self._registry.config(parse_subject(subject), False))

    def mode(self, subject: str) -> str | None:
        """Return the mode of a subject or of all."""
        return _or_none(lambda: str(self._registry.mode(parse_subject(subject), False)))

    def set_config(self, subject: str, config: Mapping[str, Any]) -> None:
        """Change the configuration of a subject or of all."""
        self._registry.set_config(parse_subject(subject), config)

    def set_mode(self, subject: str, mode: str) -> None:
        """Change the mode of a subject or of all."""
        self._registry.set_mode(parse_subject(subject), mode, True)

    def register(self, record: VersionRecord) -> int:
        """Register a version with its number and id, and return the id."""
        return self._registry.register(parse_subject(record.subject), _request(record)).schema.id

    def register_schema(self, subject: str, schema: ParsedSchema) -> int:
        """Register a schema under a subject, unless it is known there, and return its id."""
        request = SchemaRequest(schema.type, schema.text)
        return self._registry.register(parse_subject(subject), request).schema.id

    def delete(self, subject: str, number: int) -> None:
        """Delete a version, but not permanently."""
        self._registry.delete_version(parse_subject(subject), number, False)

    def look_up(self, record: VersionRecord) -> int | None:
        """Return the id of the schema of a record under its subject."""
        subject = parse_subject(record.subject)
        found = _or_none(lambda: self._registry.lookup(subject, _request(record), Kept.BOTH))
        return None if found is None else found.schema.id


def _schema_record(identity: int, data: Mapping[str, Any]) -> VersionRecord:
    references = tuple(data.get("references") or ())
    return VersionRecord("", 0, identity, data["schema"], data.get("schemaType") or "AVRO", references)


def _or_none(call: Callable[[], T]) -> T | None:
    try:
        return call()
    except SchemaRegistryError as error:
        if error.status == 404:
            return None
        raise


def _record(found: FoundVersion) -> VersionRecord:
    schema, version = found.schema, found.version
    return VersionRecord(
        str(found.subject),
        version.version,
        schema.id,
        schema.text,
        schema.type,
        schema.references,
        schema.metadata,
        schema.rule_set,
        version.is_deleted,
    )


def _request(record: VersionRecord) -> SchemaRequest:
    references = tuple(Reference(one["name"], one["subject"], one["version"]) for one in record.references)
    return SchemaRequest(
        SchemaType(record.type),
        record.schema,
        references,
        record.metadata or None,
        record.rule_set or None,
        record.id,
        record.version,
    )


def _body(record: VersionRecord) -> dict[str, Any]:
    body: dict[str, Any] = {"schema": record.schema, "schemaType": record.type}
    if record.references:
        body["references"] = [dict(one) for one in record.references]
    if record.metadata:
        body["metadata"] = record.metadata
    if record.rule_set:
        body["ruleSet"] = record.rule_set
    return body


def _escape(subject: str) -> str:
    return quote(subject, safe="")


def _place(path: str, subject: str) -> str:
    return path if subject == ALL_SUBJECTS else f"{path}/{_escape(subject)}"
