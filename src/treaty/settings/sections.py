"""The sections of the settings: each setting is a field with its type, default and description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treaty.contracts.values import EMPTY
from treaty.settings.server_sections import (
    Access,
    Audit,
    Catalog,
    Confluent,
    Notices,
    Observability,
    Retention,
    Server,
)
from treaty.settings.setting_types import PAIRS, TEXT, TEXTS, integer, integers, one_of, setting

DEFAULT_REGISTRY = ".treaty/registry.db"
DEFAULT_LAKE = ".treaty/lake"


@dataclass(frozen=True)
class Lifecycle:
    """Minimum periods of the life cycle."""

    deprecation_days: int = setting(
        30, integer(0, 3650), "Minimum number of days between deprecation and sunset. Default: 30."
    )
    sunset_days: int = setting(7, integer(0, 3650), "Number of days between sunset and retirement. Default: 7.")


@dataclass(frozen=True)
class Consumers:
    """Subscriptions of consumers."""

    unsuitable: str = setting(
        "warn",
        one_of("warn", "refuse"),
        "What happens if a consumer needs a lower latency than is promised, or is not intended to use a contract: "
        "warn or refuse. Default: warn.",
    )
    direct_reads: str = setting(
        "warn",
        one_of("allow", "warn", "refuse"),
        "What happens if a consumer of a critical class reads raw data, a change feed or a product directly: "
        "allow, warn or refuse. Default: warn.",
    )
    observed_days: int = setting(
        90,
        integer(1, 3650),
        "Days for which a consumer that was seen reading counts as a dependency, and after which a subscriber that "
        "was not seen reading is marked. Default: 90.",
    )


@dataclass(frozen=True)
class OpenLineage:
    """Where runs send their lineage events, besides the registry."""

    url: str | None = setting(
        None,
        TEXT,
        "The URL of an OpenLineage server to which runs send their events, such as https://marquez.example.org.",
    )
    endpoint: str = setting("api/v1/lineage", TEXT, "The path of its endpoint. Default: api/v1/lineage.")
    file: str | None = setting(None, TEXT, "A file to which runs append their events, one JSON document per line.")
    namespace: str = setting("treaty", TEXT, "The namespace of the jobs in the events of runs. Default: treaty.")


@dataclass(frozen=True)
class Migrations:
    """Migrations of consumers."""

    acknowledgement: str = setting(
        "required",
        one_of("required", "off"),
        "Whether a breaking change needs acknowledgement by affected critical consumers: required or off.",
    )
    confirmation_days: int = setting(
        14,
        integer(0, 3650),
        "Days that the team of a challenged consumer has to confirm it, before the consumer no longer counts. "
        "Default: 14.",
    )
    reminder_days: tuple[int, ...] = setting(
        (30, 7, 1),
        integers(0, 3650),
        "Days before the end of a migration window on which consumers are reminded. Default: 30, 7 and 1.",
    )


@dataclass(frozen=True)
class Iceberg:
    """The Iceberg catalog."""

    name: str = setting("treaty", TEXT, "The name of the Iceberg catalog. Default: treaty.")
    uri: str | None = setting(
        None,
        TEXT,
        "The database of the Iceberg catalog, such as jdbc:sqlite:catalog.db. Default: a file below .treaty/lake.",
    )
    warehouse: str | None = setting(None, TEXT, "The folder or URL of the tables. Default: .treaty/lake/tables.")
    user: str | None = setting(None, TEXT, "The user of the catalog database.")


@dataclass(frozen=True)
class Spark:
    """The Spark session."""

    master: str = setting("local[*]", TEXT, "Where Spark runs: local[*], a cluster, or sc://host for Spark Connect.")
    memory: str = setting("2g", TEXT, "The memory of a local Spark. Default: 2g.")
    jars: str | None = setting(None, TEXT, "The cache folder of Spark jars. Default: ~/.cache/treaty/jars.")
    ivy_settings: str | None = setting(None, TEXT, "An Ivy settings file, for example to download jars from a mirror.")
    log: str | None = setting(None, TEXT, "The log file of Spark. Without it, Spark logs are discarded.")
    conf: Mapping[str, Any] = setting(EMPTY, PAIRS, "Spark configuration properties by name.")
    iceberg: Iceberg = field(default_factory=Iceberg)


@dataclass(frozen=True)
class Pipeline:
    """The contracts and sources of a pipeline, and the history of its tables."""

    contracts: tuple[str, ...] = setting(
        ("contracts",), TEXTS, "The folders with the contracts of a pipeline without a registry. Default: contracts."
    )
    on_registry_down: str = setting(
        "last_known",
        one_of("last_known", "halt"),
        "What a run does if the registry cannot be reached: last_known uses the last known contracts, halt stops.",
    )
    maintenance: str = setting(
        "run",
        one_of("run", "off"),
        "Whether runs expire old states and compact small files: run, or off (then treaty maintain does it). "
        "Default: run.",
    )
    keep_days: int = setting(
        30, integer(0, 36_500), "Days for which the states of tables are kept, for --as-of. Default: 30."
    )
    keep_runs: int = setting(
        20, integer(1, 100_000), "Number of runs of a table whose states are kept even if they are older. Default: 20."
    )
    on_set_apart: str = setting(
        "warn",
        one_of("warn", "fail"),
        "What treaty run does if it sets files apart because they cannot be read: warn shows them, fail also exits "
        "with 3.",
    )


@dataclass(frozen=True)
class Check:
    """The check of a branch."""

    base: str | None = setting(
        None,
        TEXT,
        "The base that treaty check compares a branch with. Default: the target branch in CI, else the main branch.",
    )
    ignore: tuple[str, ...] = setting((), TEXTS, "Patterns of paths that treaty check ignores; * matches any text.")
    on_registry_down: str = setting(
        "warn",
        one_of("warn", "fail"),
        "What treaty check does if the registry does not answer: warn uses the repository only, fail exits with 1.",
    )


@dataclass(frozen=True)
class Policies:
    """The policies of contracts."""

    defaults: Mapping[str, Any] = setting(
        EMPTY,
        PAIRS,
        "The default policy of contracts by prefix of their id, by domain (domain:NAME), or of all (*).",
    )


@dataclass(frozen=True)
class Parts:
    """All sections, and the settings without a section."""

    registry: str = setting(
        DEFAULT_REGISTRY,
        TEXT,
        "The registry: a file (default .treaty/registry.db next to this file), a database URL, or a server URL.",
    )
    waivable_kinds: tuple[str, ...] | None = setting(
        None,
        TEXTS,
        "Kinds of change that a waiver may set aside. Default: all but those that every mode refuses.",
    )
    approvals: str = setting(
        "off",
        one_of("off", "required"),
        "Whether a breaking change needs approval by another person: off or required. Default: off.",
    )
    upgrade: str = setting(
        "auto",
        one_of("auto", "manual"),
        "Whether opening a database of an earlier version upgrades it: auto, or manual with treaty admin upgrade.",
    )
    lifecycle: Lifecycle = field(default_factory=Lifecycle)
    policies: Policies = field(default_factory=Policies)
    consumers: Consumers = field(default_factory=Consumers)
    migrations: Migrations = field(default_factory=Migrations)
    access: Access = field(default_factory=Access)
    notices: Notices = field(default_factory=Notices)
    server: Server = field(default_factory=Server)
    confluent: Confluent = field(default_factory=Confluent)
    audit: Audit = field(default_factory=Audit)
    retention: Retention = field(default_factory=Retention)
    observability: Observability = field(default_factory=Observability)
    catalog: Catalog = field(default_factory=Catalog)
    spark: Spark = field(default_factory=Spark)
    pipeline: Pipeline = field(default_factory=Pipeline)
    openlineage: OpenLineage = field(default_factory=OpenLineage)
    check: Check = field(default_factory=Check)
