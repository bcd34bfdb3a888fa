"""The settings of each part: every one a field with its kind, its default and what it is for."""

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
    """One kind of value: what it is called, which values fit, and what a variable's text stands for."""

    words: str
    fits: Callable[[Any], bool]
    plain: Callable[[str], Any]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _number(text: str) -> Any:
    return int(text) if _DIGITS.fullmatch(text) else text


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, (str, int, float, bool)) for one in value.values())


def _paired(text: str) -> Any:
    pairs = [pair.partition("=") for pair in text.split(";") if pair.strip()]
    return {key.strip(): value.strip() for key, _, value in pairs} if all(mark for _, mark, _ in pairs) else text


TEXT = Kind("a text", _is_text, str)
FLAG = Kind("true or false", lambda value: isinstance(value, bool), lambda text: _FLAGS.get(text.lower(), text))
TEXTS = Kind("a list of texts", lambda value: isinstance(value, list) and all(map(_is_text, value)), _listed)
PAIRS = Kind("a mapping of names to values", _is_mapping, _paired)


def whole(least: int, most: int) -> Kind:
    """Return the kind of a whole number within bounds."""

    def fits(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

    return Kind(f"a whole number from {least:,} to {most:,}", fits, _number)


def wholes(least: int, most: int) -> Kind:
    """Return the kind of a list of whole numbers within bounds."""
    one = whole(least, most)

    def fits(value: Any) -> bool:
        return isinstance(value, list) and all(map(one.fits, value))

    return Kind(
        f"a list of whole numbers from {least:,} to {most:,}",
        fits,
        lambda text: [_number(part) for part in _listed(text)] if text.strip() else [],
    )


def one_of(*choices: str) -> Kind:
    """Return the kind of a choice."""
    return Kind(f"one of: {', '.join(choices)}", lambda value: value in choices, str)


DEFAULT_REGISTRY = ".treaty/registry.db"


def _setting(default: Any, kind: Kind, what: str) -> Any:
    return field(default=default, metadata={"kind": kind, "what": what})


@dataclass(frozen=True)
class Lifecycle:
    """How long consumers are given."""

    deprecation_days: int = _setting(30, whole(0, 3650), "The least days between a deprecation and its sunset: 30.")
    sunset_days: int = _setting(7, whole(0, 3650), "The days between a sunset and the retirement: 7.")


@dataclass(frozen=True)
class Migrations:
    """How consumers are moved across breaking changes."""

    acknowledgement: str = _setting(
        "required",
        one_of("required", "off"),
        "Whether a breaking change waits for acknowledgement by the critical consumers that it hits: required or off.",
    )
    reminder_days: tuple[int, ...] = _setting(
        (30, 7, 1),
        wholes(0, 3650),
        "How many days before a migration's window ends its consumers are reminded: 30, 7 and 1.",
    )


@dataclass(frozen=True)
class Oidc:
    """Whose bearer tokens are accepted."""

    issuer: str | None = _setting(None, TEXT, "Whose bearer tokens are accepted: an https address.")
    audience: str | None = _setting(None, TEXT, "For whom such tokens must be made out.")
    algorithms: tuple[str, ...] | None = _setting(None, TEXTS, "The signatures that are accepted: RS256 and ES256.")
    jwks_url: str | None = _setting(None, TEXT, "Where the issuer's keys are, if it does not say so itself.")
    name_claim: str | None = _setting(None, TEXT, "The claim that names who asks: sub.")
    roles_claim: str | None = _setting(None, TEXT, "The claim with their roles, such as owner:growth: treaty_roles.")
    leeway: int | None = _setting(None, whole(0, 300), "Seconds that clocks may differ: 30.")


@dataclass(frozen=True)
class Access:
    """How people come in."""

    required: bool = _setting(False, FLAG, "Whether everybody must sign in, even before there is a token: false.")
    read: str = _setting("open", one_of("open", "members"), "Who may read once one must sign in: open or members.")
    oidc: Oidc = field(default_factory=Oidc)


@dataclass(frozen=True)
class Smtp:
    """The mail server that takes notices."""

    host: str | None = _setting(None, TEXT, "The mail server that takes notices by e-mail.")
    port: int = _setting(25, whole(1, 65535), "Its port: 25. STARTTLS is used wherever it is offered.")
    user: str | None = _setting(None, TEXT, "Who signs in there, if anybody; the password is TREATY_SMTP_PASSWORD.")
    sender: str | None = _setting(None, TEXT, "The address that e-mails come from.")


@dataclass(frozen=True)
class Notices:
    """Where notices may go."""

    allow_private: bool = _setting(False, FLAG, "Whether webhooks may lead to private and loopback addresses: false.")
    smtp: Smtp = field(default_factory=Smtp)


@dataclass(frozen=True)
class Server:
    """How the server listens, and how much it takes from a request."""

    host: str = _setting("127.0.0.1", TEXT, "Where treaty serve listens: 127.0.0.1.")
    port: int = _setting(8090, whole(0, 65535), "Its port: 8090; 0 takes a free one.")
    body_limit: int = _setting(4_000_000, whole(1_000, 1_000_000_000), "The largest request in bytes: 4,000,000.")
    timeout_seconds: int = _setting(60, whole(1, 3_600), "How long a request may take: 60.")


@dataclass(frozen=True)
class Catalog:
    """What people see of the registry, and where it is published."""

    name: str | None = _setting(None, TEXT, "What the catalog's pages are called: Treaty.")
    publish: str | None = _setting(
        None, TEXT, "The folder that the catalog is published to, as a static site, whenever the registry changes."
    )


@dataclass(frozen=True)
class Iceberg:
    """The catalog that Iceberg tables are found in."""

    name: str = _setting("treaty", TEXT, "What the catalog of Iceberg tables is called: treaty.")
    uri: str | None = _setting(None, TEXT, "The database it is kept in, such as jdbc:sqlite:catalog.db.")
    warehouse: str | None = _setting(None, TEXT, "The folder or address that its tables are written to.")
    user: str | None = _setting(None, TEXT, "Who signs in to the database, if anybody.")


@dataclass(frozen=True)
class Spark:
    """Where Spark runs, and what it is given."""

    master: str = _setting("local[*]", TEXT, "Where Spark runs: local[*], a cluster, or sc://host for Spark Connect.")
    memory: str = _setting("2g", TEXT, "The memory of a Spark that runs here: 2g.")
    jars: str | None = _setting(None, TEXT, "The folder that Spark's jars are kept in: ~/.cache/treaty/jars.")
    ivy_settings: str | None = _setting(None, TEXT, "An Ivy settings file, to fetch the jars from a mirror.")
    log: str | None = _setting(None, TEXT, "The file that Spark's own messages go to; without one, nowhere.")
    conf: Mapping[str, Any] = _setting(EMPTY, PAIRS, "Any settings of Spark itself, by their names.")
    iceberg: Iceberg = field(default_factory=Iceberg)


@dataclass(frozen=True)
class Pipeline:
    """Where a pipeline finds its contracts."""

    contracts: tuple[str, ...] = _setting(
        ("contracts",), TEXTS, "The folders with the contracts of a pipeline that has no registry: contracts."
    )
    on_registry_down: str = _setting(
        "last_known",
        one_of("last_known", "halt"),
        "What a run does while the registry cannot be reached: last_known goes on with the contracts as they were "
        "last known, halt stops.",
    )


@dataclass(frozen=True)
class Check:
    """How a branch is checked before it merges."""

    base: str | None = _setting(
        None, TEXT, "What treaty check compares a branch with: by default what CI says, else the main branch."
    )
    ignore: tuple[str, ...] = _setting(
        (), TEXTS, "Paths that treaty check leaves alone: patterns in which * stands for anything."
    )
    on_registry_down: str = _setting(
        "warn",
        one_of("warn", "fail"),
        "What treaty check does while the registry gives no answer: warn judges by the repository alone, fail ends "
        "with exit code 1.",
    )


@dataclass(frozen=True)
class Parts:
    """The settings of the registry, of what serves it, of Spark, of pipelines, and of checks."""

    registry: str = _setting(
        DEFAULT_REGISTRY,
        TEXT,
        "Where the registry is: a file (.treaty/registry.db beside this file), a database URL, or a server's address.",
    )
    approvals: str = _setting(
        "off", one_of("off", "required"), "Whether a breaking change waits for somebody else's approval: off."
    )
    lifecycle: Lifecycle = field(default_factory=Lifecycle)
    migrations: Migrations = field(default_factory=Migrations)
    access: Access = field(default_factory=Access)
    notices: Notices = field(default_factory=Notices)
    server: Server = field(default_factory=Server)
    catalog: Catalog = field(default_factory=Catalog)
    spark: Spark = field(default_factory=Spark)
    pipeline: Pipeline = field(default_factory=Pipeline)
    check: Check = field(default_factory=Check)
