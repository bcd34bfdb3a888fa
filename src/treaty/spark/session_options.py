"""Options of a Spark session and the Spark settings they translate to."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from treaty.contracts.values import EMPTY
from treaty.errors import InvalidDocument
from treaty.spark.class_archive import archive_options
from treaty.spark.jars import Package, driver_packages, find_jars

_MEMORY = re.compile(r"[1-9][0-9]{0,6}[kmgt]", re.IGNORECASE)
_SQLITE = "jdbc:sqlite:"
_CATALOG_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Start(StrEnum):
    """JVM options for short commands or for long jobs."""

    FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m"
    """Halves the time to the first result; long jobs would be slower.

    With only the simple compiler, Java defaults to a 48 MB code cache and would recompile Spark's code repeatedly.
    """
    THROUGHPUT = "-XX:-DontCompileHugeMethods"
    """A contract with many rules compiles to huge methods, which Java would otherwise never compile."""


class UserInterface(StrEnum):
    """Whether Spark serves its web UI."""

    OFF = "false"
    ON = "true"


EXTENSIONS = {"spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"}
"""The SQL statements of Iceberg; Spark accepts them only at its start."""


class Sharing(StrEnum):
    """Whether a session runs on the shared Spark of the user."""

    NONE = "none"
    """It starts a Spark of its own, or connects to the given server."""
    IF_RUNNING = "if running"
    """It uses the shared Spark if one is running and fits."""
    CONNECTED = "connected"
    """`master` is the address of the shared Spark, which runs on this machine."""


DEFAULT_MASTER = "local[*]"


@dataclass(frozen=True)
class IcebergCatalog:
    """A JDBC catalog of Iceberg tables."""

    uri: str
    warehouse: str
    name: str = "treaty"
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not _CATALOG_NAME.fullmatch(self.name):
            raise InvalidDocument(f"{self.name!r} is not a valid catalog name; use letters, digits and _")
        if not self.uri.startswith("jdbc:"):
            raise InvalidDocument(
                f"the URI of a catalog is a JDBC URL such as jdbc:sqlite:catalog.db, not {self.uri!r}"
            )

    @property
    def packages(self) -> frozenset[Package]:
        """The packages that Spark needs for the catalog."""
        return driver_packages(self.uri) | {Package.ICEBERG}

    @property
    def sqlite_file(self) -> Path | None:
        """The file of the catalog, if it is an SQLite database in a file."""
        path = self.uri.removeprefix(_SQLITE).partition("?")[0]
        return None if path == self.uri or path.startswith(":") else Path(path)

    def conf(self) -> dict[str, str]:
        """Return the Spark settings of the catalog."""
        at = f"spark.sql.catalog.{self.name}"
        login = {"jdbc.user": self.user, "jdbc.password": self.password}
        return {
            **EXTENSIONS,
            at: "org.apache.iceberg.spark.SparkCatalog",
            f"{at}.type": "jdbc",
            f"{at}.uri": _with_sqlite_options(self.uri),
            f"{at}.warehouse": self.warehouse,
            f"{at}.jdbc.schema-version": "V1",  # with views
            f"{at}.cache-enabled": "false",  # a cached table would not show commits of other sessions
            **{f"{at}.{key}": value for key, value in login.items() if value is not None},
        }


def _with_sqlite_options(uri: str) -> str:
    """Make SQLite wait for locks and allow reads during writes."""
    if not uri.startswith(_SQLITE):
        return uri
    missing = [part for part in ("busy_timeout=30000", "journal_mode=WAL") if part.partition("=")[0] not in uri]
    return uri + "".join(("&" if "?" in uri or number else "?") + part for number, part in enumerate(missing))


@dataclass(frozen=True)
class SparkOptions:
    """Options of a session; `master` is a Spark master or the URL of a Connect server (sc://…)."""

    master: str = DEFAULT_MASTER
    name: str = "treaty"
    memory: str = "2g"
    start: Start = Start.FAST
    packages: frozenset[Package] = frozenset()
    catalog: IcebergCatalog | None = None
    conf: Mapping[str, str] = EMPTY
    jars: Path | None = None
    ivy_settings: Path | None = None
    log: Path | None = None
    user_interface: UserInterface = UserInterface.OFF
    sharing: Sharing = Sharing.NONE

    def __post_init__(self) -> None:
        if not _MEMORY.fullmatch(self.memory):
            raise InvalidDocument(f"memory must be a number and k, m, g or t, such as 2g, not {self.memory[:40]!r}")

    @property
    def is_remote(self) -> bool:
        """Whether the session runs on a Connect server."""
        return self.master.startswith("sc://")

    @property
    def is_local(self) -> bool:
        """Whether Spark runs only on this machine, in one process or (local-cluster) in several."""
        return self.master.startswith("local")

    def needing(self, packages: frozenset[Package]) -> SparkOptions:
        """Return the same options with more packages."""
        return replace(self, packages=self.packages | packages)

    def session_conf(self) -> dict[str, str]:
        """Return the settings of every session, including those on a Connect server.

        The shared Spark serves every project, so that a session on it brings its own catalog.
        """
        catalog = self.catalog.conf() if self.catalog and self.sharing is Sharing.CONNECTED else {}
        return {
            **{key: value for key, value in catalog.items() if key not in EXTENSIONS},
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.runSQLOnFiles": "false",  # a table named csv.`…` would read any file
            **self.conf,
        }

    def start_conf(self) -> dict[str, str]:
        """Return the settings to start Spark with; missing jars are downloaded."""
        needed = self.packages | (self.catalog.packages if self.catalog else frozenset())
        jars = find_jars(needed, self.jars, self.ivy_settings)
        archive = archive_options(jars) if self.is_local else ""
        own = {
            "spark.master": self.master,
            "spark.app.name": self.name,
            "spark.driver.memory": self.memory,
            "spark.driver.extraJavaOptions": f"{self.start.value} {archive}".strip(),
            "spark.ui.enabled": self.user_interface.value,
            "spark.ui.showConsoleProgress": "false",
            **(_SIMPLE_PLANS if self.user_interface is UserInterface.OFF else {}),
            "spark.log.level": "ERROR",
            "spark.python.sql.dataFrameDebugging.enabled": "false",  # it inspects the stack for every column
            **(_LOOPBACK if self.is_local else {}),
            **(self.catalog.conf() if self.catalog else {}),
        }
        if jars and self.is_local:  # jars on the class path are not copied, which saves seconds
            own |= dict.fromkeys(_CLASS_PATHS, os.pathsep.join(map(str, jars)))
        elif jars:
            own["spark.jars"] = ",".join(map(str, jars))
        return _merge_settings(own, self.session_conf())


_SIMPLE_PLANS = {"spark.sql.ui.explainMode": "simple"}
"""Spark renders every plan for its UI, repeatedly as it adapts it; without the UI this is wasted."""
_LOOPBACK = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
_CLASS_PATHS = ("spark.driver.extraClassPath", "spark.executor.extraClassPath")
_LISTS = {"spark.driver.extraJavaOptions": " ", **dict.fromkeys(_CLASS_PATHS, os.pathsep), "spark.jars": ","}


def _merge_settings(own: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Let settings of the user override ours, but append to lists."""
    lists = {key: own[key] + mark + given[key] for key, mark in _LISTS.items() if key in own and key in given}
    return {**own, **given, **lists}
