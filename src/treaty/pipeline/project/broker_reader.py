"""Reading the addresses of brokers, and the security settings of connections to them."""

from __future__ import annotations

import re

from treaty.contracts.values import EMPTY, FrozenMap
from treaty.pipeline.project.mapping_reader import MappingReader

SECURITY_KEYS = ("protocol", "mechanism", "user", "password", "ca", "certificate", "key", "key_password")
"""Settings of a connection; each names an environment variable that holds the value."""
_BROKER = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")
_BOOTSTRAP_HINT = "write it like bootstrap: broker.example.org:9092"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_VALUES = re.compile(r"(?:SASL_)?(?:PLAINTEXT|SSL)|PLAIN|SCRAM_SHA_(?:256|512)")
"""Values of settings that look like names of variables."""
_SECURITY_HINT = "write it like security: {protocol: KAFKA_PROTOCOL, user: KAFKA_USER, password: KAFKA_PASSWORD}"


def read_bootstrap(entry: MappingReader) -> str:
    """Read the addresses of brokers, separated by commas."""
    given = entry.required_text("bootstrap", _BOOTSTRAP_HINT)
    brokers = [broker.strip() for broker in given.split(",")]
    if given and not all(map(_BROKER.fullmatch, brokers)):
        shown = "bootstrap has credentials" if "@" in given else f"{given!r} is not a list of brokers with ports"
        entry.report(shown, f"{_BOOTSTRAP_HINT}; credentials go into security", "bootstrap")
        return ""
    return ",".join(brokers)


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
