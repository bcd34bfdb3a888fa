"""Reading the topic of a publication."""

from __future__ import annotations

import re

from treaty.contracts.values import abbreviate
from treaty.contracts.versions import Line
from treaty.pipeline.project.broker_reader import read_bootstrap, read_security
from treaty.pipeline.project.declarations import Form, Records, Topic, ValueFormat
from treaty.pipeline.project.document import Document
from treaty.pipeline.project.mapping_reader import MappingReader

TOPIC_KEYS = (
    "name",
    "bootstrap",
    "value",
    "records",
    "partitions",
    "replication",
    "security",
    "schema_registry",
)
MAX_PARTITIONS = 1_000
MAX_REPLICATION = 10
_NAME = re.compile(r"[A-Za-z0-9._-]{1,240}")
_NAME_HINT = "use letters, digits, '.', '_' and '-', at most 240 characters"
_HINT = "write it like topic: {bootstrap: localhost:9092, value: json}"


def default_topic_name(line: Line) -> str:
    """Return the name of the topic of a line: the contract id, `.v` and MAJOR."""
    return f"{line.contract}.v{line.major}"


def read_topic(document: Document, form: Form, line: Line) -> Topic | None:
    """Read the topic of a publication; report it if it is missing, or if the form has none."""
    entry = document.entry
    if "topic" not in entry:
        if form is Form.TOPIC:
            entry.report("as: topic requires topic:, with the address of the brokers", _HINT, "as")
        return None
    if form is not Form.TOPIC and ("as" not in entry or entry.data["as"] in tuple(Form)):
        entry.report(f"topic has no effect on a {form}", "add as: topic, or remove it", "topic")
    return read_topic_settings(entry, default_topic_name(line))


def read_topic_settings(entry: MappingReader, default_name: str) -> Topic | None:
    """Read the settings below `topic:`."""
    inner = entry.inner("topic", _HINT)
    if inner is None:
        return None
    inner.allow_only(TOPIC_KEYS)
    return Topic(
        name=_topic_name(inner, default_name),
        bootstrap=read_bootstrap(inner),
        value=inner.choice("value", tuple(ValueFormat)) or ValueFormat.JSON,
        records=inner.choice("records", tuple(Records)),
        partitions=_number(inner, "partitions", MAX_PARTITIONS) or 1,
        replication=_number(inner, "replication", MAX_REPLICATION),
        security=read_security(inner),
        schema_registry=_schema_registry(inner),
    )


def _topic_name(inner: MappingReader, default_name: str) -> str:
    name = inner.text("name") or default_name
    if not default_name.startswith(".") and not _NAME.fullmatch(name):
        hint = _NAME_HINT if "name" in inner else f"{_NAME_HINT}; add topic.name, since the contract id is not one"
        inner.report(f"{name!r} is not a valid topic name", hint, "name")
    return name


def _number(inner: MappingReader, key: str, most: int) -> int | None:
    given = inner.data.get(key)
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= most:
        message = f"topic.{key} must be an integer from 1 to {most:,}, not {abbreviate(given)}"
        inner.report(message, f"write {key}: 1", key)
        return None
    return given


def _schema_registry(inner: MappingReader) -> str | None:
    address = inner.text("schema_registry")
    if address is not None and not address.startswith(("http://", "https://")):
        inner.report(
            f"{address!r} is not the address of a schema registry", "write http://… or https://…", "schema_registry"
        )
    return address
