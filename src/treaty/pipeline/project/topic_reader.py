"""Reading the topic of a publication."""

from __future__ import annotations

import re

from treaty.contracts.values import EMPTY, FrozenMap, abbreviate
from treaty.contracts.versions import Line
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
SECURITY_KEYS = ("protocol", "mechanism", "user", "password", "ca", "certificate", "key", "key_password")
"""Settings of a connection; each names an environment variable that holds the value."""
MAX_PARTITIONS = 1_000
MAX_REPLICATION = 10
_NAME = re.compile(r"[A-Za-z0-9._-]{1,240}")
_NAME_HINT = "use letters, digits, '.', '_' and '-', at most 240 characters"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_VALUES = re.compile(r"(?:SASL_)?(?:PLAINTEXT|SSL)|PLAIN|SCRAM_SHA_(?:256|512)")
"""Values of settings that look like names of variables."""
_SECURITY_HINT = "write it like security: {protocol: KAFKA_PROTOCOL, user: KAFKA_USER, password: KAFKA_PASSWORD}"
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
    inner = entry.inner("topic", _HINT)
    if inner is None:
        return None
    inner.allow_only(TOPIC_KEYS)
    return Topic(
        name=_topic_name(inner, line),
        bootstrap=inner.required_text("bootstrap", "name the brokers, like bootstrap: localhost:9092"),
        value=inner.choice("value", tuple(ValueFormat)) or ValueFormat.JSON,
        records=inner.choice("records", tuple(Records)),
        partitions=_number(inner, "partitions", MAX_PARTITIONS) or 1,
        replication=_number(inner, "replication", MAX_REPLICATION),
        security=read_security(inner),
        schema_registry=_schema_registry(inner),
    )


def _topic_name(inner: MappingReader, line: Line) -> str:
    name = inner.text("name") or default_topic_name(line)
    if line.contract and not _NAME.fullmatch(name):
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


def read_security(entry: MappingReader) -> FrozenMap:
    """Read the names of the environment variables with the security settings; values themselves are refused."""
    inner = entry.inner("security", _SECURITY_HINT)
    if inner is None:
        return EMPTY
    inner.allow_only(SECURITY_KEYS)
    names: dict[str, str] = {}
    for key in SECURITY_KEYS:
        name = inner.text(key)
        if name is None:
            continue
        if _VARIABLE.fullmatch(name) and not _VALUES.fullmatch(name):
            names[key] = name
        else:
            message = f"{inner.named(key)} must be the name of an environment variable in capitals, not a value"
            inner.report(message, f"set KAFKA_{key.upper()} to the value, and write {key}: KAFKA_{key.upper()}", key)
    if ("user" in names) != ("password" in names):
        inner.report("security.user and security.password belong together", _SECURITY_HINT)
    if ("certificate" in names) != ("key" in names):
        inner.report("security.certificate and security.key belong together", "name a variable for both")
    return FrozenMap(names)


def _schema_registry(inner: MappingReader) -> str | None:
    address = inner.text("schema_registry")
    if address is not None and not address.startswith(("http://", "https://")):
        inner.report(
            f"{address!r} is not the address of a schema registry", "write http://… or https://…", "schema_registry"
        )
    return address
