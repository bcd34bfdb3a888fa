"""The sections of the settings: each setting is a field with its type, default and description."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from treaty.contracts.values import EMPTY

_DIGITS = re.compile(r"[0-9]{1,18}")
_FLAGS = {"true": True, "false": False}


@dataclass(frozen=True)
class Kind:
    """A type of setting: its name, which values are valid, and how the text of a variable is parsed."""

    description: str
    is_valid: Callable[[Any], bool]
    parse: Callable[[str], Any]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _parse_integer(text: str) -> Any:
    return int(text) if _DIGITS.fullmatch(text) else text


def _parse_list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(entry, (str, int, float, bool)) for entry in value.values())


def _parse_pairs(text: str) -> Any:
    pairs = [pair.partition("=") for pair in text.split(";") if pair.strip()]
    return (
        {key.strip(): value.strip() for key, _, value in pairs} if all(separator for _, separator, _ in pairs) else text
    )


TEXT = Kind("a string", _is_text, str)
FLAG = Kind("true or false", lambda value: isinstance(value, bool), lambda text: _FLAGS.get(text.lower(), text))
TEXTS = Kind("a list of strings", lambda value: isinstance(value, list) and all(map(_is_text, value)), _parse_list)
PAIRS = Kind("a mapping of names to values", _is_mapping, _parse_pairs)


def integer(minimum: int, maximum: int) -> Kind:
    """Return the type of an integer within bounds."""

    def is_valid(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and minimum <= value <= maximum

    return Kind(f"an integer from {minimum:,} to {maximum:,}", is_valid, _parse_integer)


def integers(minimum: int, maximum: int) -> Kind:
    """Return the type of a list of integers within bounds."""
    element = integer(minimum, maximum)

    def is_valid(value: Any) -> bool:
        return isinstance(value, list) and all(map(element.is_valid, value))

    return Kind(
        f"a list of integers from {minimum:,} to {maximum:,}",
        is_valid,
        lambda text: [_parse_integer(part) for part in _parse_list(text)] if text.strip() else [],
    )


def one_of(*choices: str) -> Kind:
    """Return the type of a choice."""
    return Kind(f"one of: {', '.join(choices)}", lambda value: value in choices, str)


DEFAULT_REGISTRY = ".treaty/registry.db"


def _setting(default: Any, kind: Kind, what: str) -> Any:
    return field(default=default, metadata={"kind": kind, "what": what})


@dataclass(frozen=True)
class Lifecycle:
    """Minimum periods of the life cycle."""

    deprecation_days: int = _setting(
        30, integer(0, 3650), "Minimum number of days between deprecation and sunset. Default: 30."
    )
    sunset_days: int = _setting(7, integer(0, 3650), "Number of days between sunset and retirement. Default: 7.")


@dataclass(frozen=True)
class Migrations:
    """Migrations of consumers."""

    acknowledgement: str = _setting(
        "required",
        one_of("required", "off"),
        "Whether a breaking change needs acknowledgement by affected critical consumers: required or off.",
    )
    reminder_days: tuple[int, ...] = _setting(
        (30, 7, 1),
        integers(0, 3650),
        "Days before the end of a migration window on which consumers are reminded. Default: 30, 7 and 1.",
    )


@dataclass(frozen=True)
class Oidc:
    """OpenID Connect."""

    issuer: str | None = _setting(None, TEXT, "The https URL of the issuer of accepted bearer tokens.")
    audience: str | None = _setting(None, TEXT, "The audience that tokens must have.")
    algorithms: tuple[str, ...] | None = _setting(
        None, TEXTS, "Accepted signature algorithms. Default: RS256 and ES256."
    )
    jwks_url: str | None = _setting(None, TEXT, "The URL of the issuer's keys, if its metadata does not contain it.")
    name_claim: str | None = _setting(None, TEXT, "The claim with the name of the user. Default: sub.")
    roles_claim: str | None = _setting(None, TEXT, "The claim with roles such as owner:growth. Default: treaty_roles.")
    leeway: int | None = _setting(None, integer(0, 300), "Allowed clock difference in seconds. Default: 30.")


@dataclass(frozen=True)
class Access:
    """Access to the server."""

    required: bool = _setting(False, FLAG, "Whether users must sign in even if no token exists yet. Default: false.")
    read: str = _setting("open", one_of("open", "members"), "Who may read if sign-in is required: open or members.")
    oidc: Oidc = field(default_factory=Oidc)


@dataclass(frozen=True)
class Smtp:
    """The mail server for notices."""

    host: str | None = _setting(None, TEXT, "The host of the mail server for notices.")
    port: int = _setting(
        25, integer(1, 65535), "The port of the mail server. Default: 25. STARTTLS is used if the server offers it."
    )
    user: str | None = _setting(None, TEXT, "The user of the mail server. The password is TREATY_SMTP_PASSWORD.")
    sender: str | None = _setting(None, TEXT, "The sender address of e-mails.")


@dataclass(frozen=True)
class Notices:
    """Delivery of notices."""

    allow_private: bool = _setting(
        False, FLAG, "Whether webhooks may use private and loopback addresses. Default: false."
    )
    smtp: Smtp = field(default_factory=Smtp)


@dataclass(frozen=True)
class Server:
    """The server and its request limits."""

    host: str = _setting("127.0.0.1", TEXT, "The address that treaty serve listens on. Default: 127.0.0.1.")
    port: int = _setting(8090, integer(0, 65535), "The port of the server. Default: 8090; 0 selects a free port.")
    body_limit: int = _setting(
        4_000_000, integer(1_000, 1_000_000_000), "Maximum size of a request in bytes. Default: 4,000,000."
    )
    timeout_seconds: int = _setting(60, integer(1, 3_600), "Maximum duration of a request in seconds. Default: 60.")
    body_timeout_seconds: int = _setting(
        30, integer(1, 3_600), "Maximum time in seconds to receive the body of a request. Default: 30."
    )
    head_limit: int = _setting(
        32_768, integer(4_096, 1_000_000), "Maximum size of the request line and headers in bytes. Default: 32,768."
    )
    keep_alive_seconds: int = _setting(
        5, integer(1, 3_600), "Time in seconds after which an idle connection is closed. Default: 5."
    )
    connection_limit: int = _setting(
        1_000, integer(1, 100_000), "Maximum number of connections per process; more get 503. Default: 1,000."
    )


@dataclass(frozen=True)
class Audit:
    """Signed checkpoints of the audit log."""

    checkpoint_file: str | None = _setting(
        None, TEXT, "The file to which signed checkpoints of the audit log are appended, best on another disk."
    )
    checkpoint_url: str | None = _setting(None, TEXT, "The URL to which signed checkpoints are posted.")
    checkpoint_key_file: str | None = _setting(
        None, TEXT, "The file with the key that signs checkpoints, if it is not in TREATY_CHECKPOINT_KEY."
    )


@dataclass(frozen=True)
class Catalog:
    """The catalog and its publication."""

    name: str | None = _setting(None, TEXT, "The title of the catalog. Default: Treaty.")
    publish: str | None = _setting(
        None, TEXT, "The folder to which the catalog is published as a static site when the registry changes."
    )


@dataclass(frozen=True)
class Iceberg:
    """The Iceberg catalog."""

    name: str = _setting("treaty", TEXT, "The name of the Iceberg catalog. Default: treaty.")
    uri: str | None = _setting(None, TEXT, "The database of the Iceberg catalog, such as jdbc:sqlite:catalog.db.")
    warehouse: str | None = _setting(None, TEXT, "The folder or URL of the Iceberg tables.")
    user: str | None = _setting(None, TEXT, "The user of the catalog database.")


@dataclass(frozen=True)
class Spark:
    """The Spark session."""

    master: str = _setting("local[*]", TEXT, "Where Spark runs: local[*], a cluster, or sc://host for Spark Connect.")
    memory: str = _setting("2g", TEXT, "The memory of a local Spark. Default: 2g.")
    jars: str | None = _setting(None, TEXT, "The cache folder of Spark jars. Default: ~/.cache/treaty/jars.")
    ivy_settings: str | None = _setting(None, TEXT, "An Ivy settings file, for example to download jars from a mirror.")
    log: str | None = _setting(None, TEXT, "The log file of Spark. Without it, Spark logs are discarded.")
    conf: Mapping[str, Any] = _setting(EMPTY, PAIRS, "Spark configuration properties by name.")
    iceberg: Iceberg = field(default_factory=Iceberg)


@dataclass(frozen=True)
class Pipeline:
    """The contracts of a pipeline."""

    contracts: tuple[str, ...] = _setting(
        ("contracts",), TEXTS, "The folders with the contracts of a pipeline without a registry. Default: contracts."
    )
    on_registry_down: str = _setting(
        "last_known",
        one_of("last_known", "halt"),
        "What a run does if the registry cannot be reached: last_known uses the last known contracts, halt stops.",
    )


@dataclass(frozen=True)
class Check:
    """The check of a branch."""

    base: str | None = _setting(
        None,
        TEXT,
        "The base that treaty check compares a branch with. Default: the target branch in CI, else the main branch.",
    )
    ignore: tuple[str, ...] = _setting((), TEXTS, "Patterns of paths that treaty check ignores; * matches any text.")
    on_registry_down: str = _setting(
        "warn",
        one_of("warn", "fail"),
        "What treaty check does if the registry does not answer: warn uses the repository only, fail exits with 1.",
    )


@dataclass(frozen=True)
class Parts:
    """All sections, and the settings without a section."""

    registry: str = _setting(
        DEFAULT_REGISTRY,
        TEXT,
        "The registry: a file (default .treaty/registry.db next to this file), a database URL, or a server URL.",
    )
    approvals: str = _setting(
        "off",
        one_of("off", "required"),
        "Whether a breaking change needs approval by another person: off or required. Default: off.",
    )
    lifecycle: Lifecycle = field(default_factory=Lifecycle)
    migrations: Migrations = field(default_factory=Migrations)
    access: Access = field(default_factory=Access)
    notices: Notices = field(default_factory=Notices)
    server: Server = field(default_factory=Server)
    audit: Audit = field(default_factory=Audit)
    catalog: Catalog = field(default_factory=Catalog)
    spark: Spark = field(default_factory=Spark)
    pipeline: Pipeline = field(default_factory=Pipeline)
    check: Check = field(default_factory=Check)
