"""How a Spark session is asked for: values, and the Spark settings they stand for."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from treaty.contracts.values import EMPTY
from treaty.errors import InvalidDocument
from treaty.spark.jars import Package, driver_packages, find_jars

_MEMORY = re.compile(r"[1-9][0-9]{0,6}[kmgt]", re.IGNORECASE)
_CATALOG_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Start(StrEnum):
    """What a session is for: one short command, or long work."""

    FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m"
    """Half the time to the first answer; long work would be slower.

    Java would give so simple a compiler 48 MB for its code, and then forget and compile again what Spark generates.
    """
    THROUGHPUT = "-XX:-DontCompileHugeMethods"
    """A contract with many rules compiles to methods that Java would interpret for ever."""


class UserInterface(StrEnum):
    """Whether Spark shows its pages."""

    OFF = "false"
    ON = "true"


@dataclass(frozen=True)
class IcebergCatalog:
    """A catalog of Iceberg tables that is kept in a database."""

    uri: str
    warehouse: str
    name: str = "treaty"
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not _CATALOG_NAME.fullmatch(self.name):
            raise InvalidDocument(f"{self.name!r} cannot name a catalog; use letters, digits and _")
        if not self.uri.startswith("jdbc:"):
            raise InvalidDocument(f"a catalog is at a JDBC address, such as jdbc:sqlite:catalog.db, not {self.uri!r}")

    @property
    def packages(self) -> frozenset[Package]:
        """What Spark needs to read it."""
        return driver_packages(self.uri) | {Package.ICEBERG}

    def conf(self) -> dict[str, str]:
        """Return Spark's settings for it."""
        at = f"spark.sql.catalog.{self.name}"
        login = {"jdbc.user": self.user, "jdbc.password": self.password}
        return {
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            at: "org.apache.iceberg.spark.SparkCatalog",
            f"{at}.type": "jdbc",
            f"{at}.uri": _patient(self.uri),
            f"{at}.warehouse": self.warehouse,
            f"{at}.jdbc.schema-version": "V1",  # with views
            f"{at}.cache-enabled": "false",  # a cached table does not see what others committed
            **{f"{at}.{key}": value for key, value in login.items() if value is not None},
        }


def _patient(uri: str) -> str:
    """Let an SQLite catalog wait for its turn, and be read while it is written."""
    if not uri.startswith("jdbc:sqlite:"):
        return uri
    missing = [part for part in ("busy_timeout=30000", "journal_mode=WAL") if part.partition("=")[0] not in uri]
    return uri + "".join(("&" if "?" in uri or number else "?") + part for number, part in enumerate(missing))


@dataclass(frozen=True)
class SparkOptions:
    """The session that somebody wants; `master` is a Spark master, or the address of a Connect server (sc://…)."""

    master: str = "local[*]"
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

    def __post_init__(self) -> None:
        if not _MEMORY.fullmatch(self.memory):
            raise InvalidDocument(f"memory must be a number and k, m, g or t, such as 2g, not {self.memory[:40]!r}")

    @property
    def is_remote(self) -> bool:
        """Whether the session is on a Connect server."""
        return self.master.startswith("sc://")

    @property
    def is_local(self) -> bool:
        """Whether Spark runs on this machine alone, in one process or (local-cluster) in several."""
        return self.master.startswith("local")

    def needing(self, packages: frozenset[Package]) -> SparkOptions:
        """Return the same options with more packages."""
        return replace(self, packages=self.packages | packages)

    def session_conf(self) -> dict[str, str]:
        """Return the settings that any session has, those on a Connect server too."""
        return {
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.runSQLOnFiles": "false",  # a table named csv.`…` would read any file
            **self.conf,
        }

    def start_conf(self) -> dict[str, str]:
        """Return the settings that Spark is started with; jars that are missing are fetched."""
        needed = self.packages | (self.catalog.packages if self.catalog else frozenset())
        jars = [str(jar) for jar in find_jars(needed, self.jars, self.ivy_settings)]
        own = {
            "spark.master": self.master,
            "spark.app.name": self.name,
            "spark.driver.memory": self.memory,
            "spark.driver.extraJavaOptions": self.start.value,
            "spark.ui.enabled": self.user_interface.value,
            "spark.ui.showConsoleProgress": "false",
            **(_UNSEEN_PLANS if self.user_interface is UserInterface.OFF else {}),
            "spark.log.level": "ERROR",
            "spark.python.sql.dataFrameDebugging.enabled": "false",  # it walks the stack for every column
            **(_LOOPBACK if self.is_local else {}),
            **(self.catalog.conf() if self.catalog else {}),
        }
        if jars and self.is_local:  # jars on the class path are not copied first: it saves seconds
            own |= dict.fromkeys(_CLASS_PATHS, os.pathsep.join(jars))
        elif jars:
            own["spark.jars"] = ",".join(jars)
        return _joined(own, self.session_conf())


_UNSEEN_PLANS = {"spark.sql.ui.explainMode": "simple"}
"""Spark writes every plan out for its pages, again and again as it adapts it; without pages nobody reads that."""
_LOOPBACK = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
_CLASS_PATHS = ("spark.driver.extraClassPath", "spark.executor.extraClassPath")
_LISTS = {"spark.driver.extraJavaOptions": " ", **dict.fromkeys(_CLASS_PATHS, os.pathsep), "spark.jars": ","}


def _joined(own: Mapping[str, str], said: Mapping[str, str]) -> dict[str, str]:
    """Let what the user says go over ours, but add to lists."""
    lists = {key: own[key] + mark + said[key] for key, mark in _LISTS.items() if key in own and key in said}
    return {**own, **said, **lists}
