"""Connections to brokers: the settings of clients and of Spark, with values from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treaty.errors import NotFound, Unavailable

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

CLIENT_SETTINGS = {
    "protocol": "security.protocol",
    "mechanism": "sasl.mechanism",
    "user": "sasl.username",
    "password": "sasl.password",
    "ca": "ssl.ca.location",
    "certificate": "ssl.certificate.location",
    "key": "ssl.key.location",
    "key_password": "ssl.key.password",
}
"""By security setting of a declaration: the name of the client's setting."""
_PEM_SETTINGS = {
    "ca": ("ssl.truststore.certificates", "ssl.truststore.type"),
    "certificate": ("ssl.keystore.certificate.chain", "ssl.keystore.type"),
    "key": ("ssl.keystore.key", "ssl.keystore.type"),
}
"""Settings of Java's client that take the content of a file in PEM format, and the setting for that format."""
_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_MAX_PEM_BYTES = 1_000_000


@dataclass(frozen=True)
class Connection:
    """The brokers, and the values of the security settings by their names in the declaration."""

    bootstrap: str
    at: str = ""
    """Where it is declared, for messages."""
    security: Mapping[str, str] = field(default_factory=dict, repr=False)

    def client_settings(self) -> dict[str, Any]:
        """Return the settings of a Python client."""
        return {
            "bootstrap.servers": self.bootstrap,
            "client.id": "treaty",
            **{CLIENT_SETTINGS[name]: value for name, value in self.security.items()},
        }

    def spark_options(self) -> dict[str, str]:
        """Return the options of Spark's Kafka source. Files are read here, since executors may not have them."""
        options = {"bootstrap.servers": self.bootstrap}
        for name in ("protocol", "mechanism", "key_password"):
            if name in self.security:
                options[CLIENT_SETTINGS[name]] = self.security[name]
        for name, (setting, kind) in _PEM_SETTINGS.items():
            if name in self.security:
                options |= {setting: self._read_pem(name), kind: "PEM"}
        if "user" in self.security:
            options["sasl.jaas.config"] = self._login()
        return {f"kafka.{name}": value for name, value in options.items()}

    def _read_pem(self, name: str) -> str:
        path = Path(self.security[name])
        try:
            with path.open(encoding="ascii") as file:
                return file.read(_MAX_PEM_BYTES)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not in PEM format"
            raise Unavailable(f"cannot read {path}, the file of security.{name} in {self.at}: {reason}") from None

    def _login(self) -> str:
        mechanism = self.security.get("mechanism", "PLAIN")
        if mechanism not in _LOGIN_MODULES:
            known = ", ".join(_LOGIN_MODULES)
            raise Unavailable(f"{mechanism!r}, set by security.mechanism in {self.at}, is not supported; use {known}")
        user, password = (_quoted(self.security[name]) for name in ("user", "password"))
        return f"{_LOGIN_MODULES[mechanism]} required username={user} password={password};"


def connect_with(bootstrap: str, variables: Mapping[str, str], at: str, environment: Mapping[str, str]) -> Connection:
    """Return a connection with the values of the environment variables that its security settings name."""
    missing = [f"{variable} (security.{name})" for name, variable in variables.items() if not environment.get(variable)]
    if missing:
        raise NotFound(f"{at}: the environment has no {', '.join(missing)}; set it, or correct its name")
    return Connection(bootstrap, at, {name: environment[variable] for name, variable in variables.items()})


def more_specific(known: KafkaError | None, problem: KafkaError) -> KafkaError:
    """Return the more specific of two problems that a client reports: that all brokers are down says least."""
    from confluent_kafka import KafkaError

    vague = (KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT)
    if known is None:
        return problem
    if known.code() not in vague or problem.code() == vague[0]:
        return known
    return problem


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
