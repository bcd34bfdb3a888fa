"""Reading how the values of a source are decoded: their format, the wire header, schemas, and change feeds."""

from __future__ import annotations

import re
from pathlib import Path

from treaty.contracts.values import EMPTY, FrozenMap, abbreviate
from treaty.pipeline.project.declarations import (
    ChangeFeed,
    Codec,
    FeedFormat,
    Framing,
    SchemaRegistryAddress,
    ValueFormat,
)
from treaty.pipeline.project.document import Document, resolve_path
from treaty.pipeline.project.mapping_reader import MappingReader, list_choices

CODEC_KEYS = ("value", "framing", "schema", "schema_registry")
CHANGE_FEED_KEYS = ("change_feed", "envelope")
REGISTRY_KEYS = ("url", "user", "password", "token")
MAX_SCHEMA_BYTES = 2_000_000

_REGISTRY_HINT = "write it like schema_registry: {url: https://registry.example.org, user: NAME_OF_A_VARIABLE, …}"
_ENVELOPE_HINT = "write it like envelope: {lsn: source.lsn}"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ENVELOPE_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")


def read_codec(document: Document) -> Codec:
    """Read how the values of a topic are decoded; by default they are JSON without a header."""
    entry = document.entry
    format_ = entry.choice("value", tuple(ValueFormat)) or ValueFormat.JSON
    default = Framing.NONE if format_ is ValueFormat.JSON else Framing.CONFLUENT
    framing = entry.choice("framing", tuple(Framing)) or default
    return Codec(format_, framing, _schema(document, format_, framing), _registry(entry, framing))


def _schema(document: Document, format_: ValueFormat, framing: Framing) -> str | None:
    entry = document.entry
    named = entry.text("schema")
    if named is None:
        return None
    if format_ is ValueFormat.JSON or framing is Framing.CONFLUENT:
        which = "JSON values" if format_ is ValueFormat.JSON else "values with a header"
        entry.report(f"{which} need no schema file", "remove it, or add framing: none to Avro or Protobuf", "schema")
        return None
    path = Path(resolve_path(document.folder, named))
    try:
        with path.open("rb") as file:
            content = file.read(MAX_SCHEMA_BYTES + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        entry.report(f"cannot read {path}: {error.strerror}", "correct the path, relative to the project", "schema")
    except UnicodeDecodeError:
        entry.report(f"{path} is not a UTF-8 text file", "save it as UTF-8", "schema")
    else:
        if len(content) <= MAX_SCHEMA_BYTES:
            return text
        entry.report(f"{path} has more than {MAX_SCHEMA_BYTES:,} bytes", "write a shorter schema", "schema")
    return None


def _registry(entry: MappingReader, framing: Framing) -> SchemaRegistryAddress | None:
    inner = entry.inner("schema_registry", _REGISTRY_HINT)
    if inner is None:
        return None
    inner.allow_only(REGISTRY_KEYS)
    if framing is Framing.NONE:
        entry.report(
            "values without a header name no schema ids", "remove it, or add framing: confluent", "schema_registry"
        )
    url = inner.required_text("url", _REGISTRY_HINT)
    if url and not url.startswith(("http://", "https://")):
        inner.report(f"{url!r} is not the address of a schema registry", "write http://… or https://…", "url")
    if "@" in url.partition("://")[2].partition("/")[0]:
        hint = "remove it, and name environment variables under user and password"
        inner.report("a password must not be stored in this file", hint, "url")
    names = {key: _variable(inner, key) for key in ("user", "password", "token")}
    if names["token"] and (names["user"] or names["password"]):
        inner.report("a schema registry takes a token, or a user and a password", "remove one of them", "token")
    return SchemaRegistryAddress(url, **names)


def _variable(inner: MappingReader, key: str) -> str | None:
    name = inner.text(key)
    if name is not None and _VARIABLE.fullmatch(name) is None:
        message = f"schema_registry.{key} must be the name of an environment variable, not {abbreviate(name)!r}"
        inner.report(message, "store the value in a variable, and write its name", key)
    return name


def read_change_feed(entry: MappingReader, format_: ValueFormat) -> ChangeFeed | None:
    """Read whether a source is a change feed, and the fields that its envelopes provide."""
    kind = entry.choice("change_feed", tuple(FeedFormat))
    if kind is None:
        if "envelope" in entry and "change_feed" not in entry:
            entry.report("only change feeds have envelopes", "add change_feed: debezium, or remove it", "envelope")
        return None
    if format_ is ValueFormat.PROTOBUF:
        hint = list_choices((ValueFormat.JSON, ValueFormat.AVRO))
        entry.report("a change feed has values in JSON or Avro, not Protobuf", hint, "value")
    return ChangeFeed(kind, _envelope(entry))


def _envelope(entry: MappingReader) -> FrozenMap:
    inner = entry.inner("envelope", _ENVELOPE_HINT)
    paths: dict[str, str] = {}
    for name in inner.data if inner else ():
        path = inner.text(name) if inner else None
        if path is None:
            continue
        if _ENVELOPE_PATH.fullmatch(path) is None:
            entry.report(f"{path!r} is not a path in an envelope", _ENVELOPE_HINT, "envelope", name)
        else:
            paths[name] = path
    return FrozenMap(paths) if paths else EMPTY
