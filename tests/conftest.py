"""One Spark for all tests of a process: classic, and over Spark Connect."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import pytest
from xdist.scheduler.loadscope import LoadScopeScheduling  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LEFT_OPEN = "ignore:unclosed <socket:ResourceWarning"
"""PySpark leaves the sockets open that it collects rows from."""


_TOGETHER = {
    "tests/catalog/browser/": "browser",
    "tests/pipeline/retail/": "retail",
    "tests/pipeline/run/test_elsewhere.py": "processes",
    "tests/pipeline/run/test_full_disk.py": "processes",
    "tests/pipeline/run/test_killing.py": "processes",
}
"""Tests that look at one result which takes long to make, and so run in one process."""


class _Together(LoadScopeScheduling):  # type: ignore[misc]
    """Gives each process one test after another, and some of them together."""

    def _split_scope(self, nodeid: str) -> str:
        return _group(nodeid) or nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """Hand tests out to processes."""
    return _Together(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run fast tests first, then what takes longest; one JVM in each process serves those that need Spark."""
    for item in filter(_needs_spark, items):
        item.add_marker(pytest.mark.filterwarnings(_LEFT_OPEN))
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> tuple[bool, bool]:
    grouped = _group(item.nodeid) is not None
    return (grouped or _needs_spark(item), not grouped)


def _group(nodeid: str) -> str | None:
    return next((group for place, group in _TOGETHER.items() if nodeid.startswith(place)), None)


def _needs_spark(item: pytest.Item) -> bool:
    return "spark" in getattr(item, "fixturenames", ())


@pytest.fixture(scope="session")
def connect_address() -> str:
    """A free place for the Connect server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"sc://127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture(scope="session")
def spark(connect_address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Start Spark once, with every package and an Iceberg catalog `lake`; its JVM serves Connect too."""
    from treaty.spark.jars import Package
    from treaty.spark.session import spark_session
    from treaty.spark.session_options import IcebergCatalog, SparkOptions

    folder = tmp_path_factory.mktemp("spark")
    conf = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "tables"),
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": connect_address.rpartition(":")[2],
    }
    lake = IcebergCatalog(f"jdbc:sqlite:{folder / 'lake.db'}", str(folder / "lake"), name="lake")
    options = SparkOptions("local[2]", memory="1g", packages=frozenset(Package), catalog=lake, conf=conf)
    session = spark_session(options)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def _remote(spark: SparkSession, connect_address: str) -> Iterator[SparkSession]:
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession as RemoteSession

    session = RemoteSession.builder.remote(connect_address).create()
    session.client.set_retry_policies([DefaultPolicy(max_retries=3)])  # a dead server is an error within seconds
    yield cast("SparkSession", session)
    session.stop()


@pytest.fixture
def connect_spark(_remote: SparkSession, monkeypatch: pytest.MonkeyPatch) -> SparkSession:
    """Speak to Spark over Connect: for this test `pyspark.sql.functions` make Connect's columns."""
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    return _remote


@pytest.fixture(params=["classic", "connect"])
def any_spark(request: pytest.FixtureRequest, spark: SparkSession) -> SparkSession:
    """Run the test on a classic session, and again over Spark Connect."""
    return spark if request.param == "classic" else cast("SparkSession", request.getfixturevalue("connect_spark"))
