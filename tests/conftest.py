"""What all tests share: the order they run in, their markers, and one Spark session per process."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest_plugins = ["tests.kafka", "tests.postgresql"]

PYSPARK_SOCKETS = "ignore:unclosed <socket:ResourceWarning"
"""PySpark leaves open the sockets that it collects rows from."""

GROUPS = {
    "tests/catalog/browser/": "browser",
    "tests/pipeline/retail/": "retail",
}
"""Tests that share one expensive result and therefore run in one process."""

STARTS_SPARK = (
    "tests/e2e/test_demo.py",
    "tests/e2e/test_run_traces.py",
    "tests/e2e/test_tutorial.py",
    "tests/pipeline/run/",
    "tests/spark/test_shared_spark.py::test_commands_of_any_folder_use_it",
)
"""Tests that start Spark in a process of their own, without the fixture."""

STARTS_KAFKA = ("tests/cli/test_kafka.py",)
"""Tests that start a broker of their own."""

SLOW = (
    "tests/server/test_concurrent_writes.py",
    "tests/server/test_durability.py",
    "tests/server/test_http.py::test_java_client_that_offers_http2_can_post",
    "tests/server/test_openapi.py",
    "tests/server/test_outage.py",
    "tests/server/test_schema_registry_durability.py",
    "tests/server/test_tls.py",
    "tests/server/test_traces.py",
)
"""Tests with several server processes or thousands of requests."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they need and run the fast ones first, then the groups, which take longest."""
    for item in items:
        for marker in needs(item):
            item.add_marker(marker)
        if group := group_of(item):
            item.add_marker(pytest.mark.xdist_group(group))
        if "spark" in needs(item):
            item.add_marker(pytest.mark.filterwarnings(PYSPARK_SOCKETS))
    items.sort(key=lambda item: (bool(needs(item) & {"spark", "browser"}), group_of(item) is None))


def needs(item: pytest.Item) -> set[str]:
    """Return what a test needs beyond Python, and `slow`; `make test-fast` leaves these tests out."""
    fixtures = set(getattr(item, "fixturenames", ()))
    parameters = getattr(item, "callspec", None)
    found = set()
    if "spark" in fixtures or item.nodeid.startswith(STARTS_SPARK):
        found.add("spark")
    if item.nodeid.startswith("tests/catalog/browser/"):
        found.add("browser")
    if any("postgresql" in name for name in fixtures) or (parameters and "postgresql" in parameters.params.values()):
        found.add("postgresql")
    if "kafka" in fixtures or item.nodeid.startswith(STARTS_KAFKA):
        found.add("kafka")
    if item.nodeid.startswith(SLOW):
        found.add("slow")
    return found


def group_of(item: pytest.Item) -> str | None:
    """Return the group that a test runs in."""
    return next((group for path, group in GROUPS.items() if item.nodeid.startswith(path)), None)


@pytest.fixture(scope="session", autouse=True)
def _user_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let no test find the shared Spark of the developer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def connect_address() -> str:
    """Return a free address for the Connect server."""
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
        "spark.sql.ui.retainedExecutions": "20",  # the plans of a thousand tests do not fit into memory
        "spark.sql.warehouse.dir": str(folder / "tables"),
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": connect_address.rpartition(":")[2],
    }
    lake = IcebergCatalog(f"jdbc:sqlite:{folder / 'lake.db'}", str(folder / "lake"), name="lake")
    options = SparkOptions("local[2]", memory="2g", packages=frozenset(Package), catalog=lake, conf=conf)
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
