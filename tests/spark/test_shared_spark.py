"""The shared Spark: who finds it, who may use it, when it stops. One test starts it."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from pyspark import __version__ as pyspark_version

from treaty.errors import Conflict, Unavailable
from treaty.spark import shared_spark
from treaty.spark.session_options import IcebergCatalog, Sharing, SparkOptions
from treaty.spark.shared_spark import SharedSpark, describe_misfit, find_shared_spark, is_in_use, use_shared_spark

SHARED = SharedSpark("sc://localhost:1", "hush", os.getpid(), 1.0, "2g", pyspark_version, 60.0)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the state folder of a user without a shared Spark."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "treaty"


@pytest.fixture
def running(state: Path) -> Iterator[SharedSpark]:
    """Pretend to be the server: hold its lock and write its address."""
    with shared_spark._server_lock():
        shared_spark._write_address(SHARED)
        yield SHARED


def test_without_a_server_there_is_none(state: Path) -> None:
    assert find_shared_spark() is None


def test_its_address_is_a_secret_of_the_user(running: SharedSpark, state: Path) -> None:
    assert find_shared_spark() == SHARED
    assert [f"{(state / name).stat().st_mode & 0o777:o}" for name in ("", "spark.json", "spark.lock")] == [
        "700",
        "600",
        "600",
    ]


def test_the_address_of_a_dead_server_is_ignored(state: Path) -> None:
    with shared_spark._server_lock():
        shared_spark._write_address(SHARED)

    assert find_shared_spark() is None


@pytest.mark.parametrize(
    ("text", "mode", "message"),
    [
        (json.dumps(asdict(SHARED)), 0o644, "can be read or written by other users; delete it"),
        ("{}", 0o600, "is not the address of a shared Spark; delete it"),
        ("[", 0o600, "is not the address of a shared Spark; delete it"),
    ],
    ids=["readable by others", "incomplete", "no JSON"],
)
def test_a_wrong_address_file_is_refused(state: Path, text: str, mode: int, message: str) -> None:
    state.mkdir()
    (state / "spark.json").write_text(text)
    (state / "spark.json").chmod(mode)

    with pytest.raises(Unavailable, match=message):
        find_shared_spark()


def test_there_is_one_per_user(running: SharedSpark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_spark, "POLL_INTERVAL_S", 0.01)

    with pytest.raises(Conflict, match="a shared Spark is running or starting"), shared_spark._server_lock():
        pass


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (SparkOptions(conf={"spark.sql.shuffle.partitions": "2"}), None),
        (SparkOptions(memory="2048m"), None),
        (SparkOptions(memory="3g"), "it has 2g of memory, spark.memory is 3g"),
        (SparkOptions(conf={"spark.hadoop.fs.s3a.endpoint": "x"}), "spark.hadoop.fs.s3a.endpoint can only be set when"),
        (SparkOptions(conf={"spark.sql.extensions": "x"}), "spark.sql.extensions can only be set when Spark starts"),
    ],
)
def test_a_project_that_does_not_fit_starts_its_own(options: SparkOptions, reason: str | None) -> None:
    misfit = describe_misfit(options, SHARED)

    assert misfit == reason if reason is None else misfit is not None and reason in misfit
    assert (
        describe_misfit(options, replace(SHARED, version="3.5.0"))
        == f"it runs PySpark 3.5.0, this is {pyspark_version}"
    )


def test_a_session_brings_its_catalog_and_no_other_command_has_its_id(running: SharedSpark, tmp_path: Path) -> None:
    lake = SparkOptions(catalog=IcebergCatalog(f"jdbc:sqlite:{tmp_path}/catalog.db", "/a/tables", "lake"))
    with use_shared_spark(lake, running) as first, use_shared_spark(lake, running) as second:
        assert first is not None
        assert second is not None
        assert first.master.startswith("sc://localhost:1/;token=hush;session_id=")
        assert first.master != second.master
        assert is_in_use()
        assert first.sharing is Sharing.CONNECTED
        assert first.session_conf()["spark.sql.catalog.lake.warehouse"] == "/a/tables"
        assert "spark.sql.extensions" not in first.session_conf()
    with use_shared_spark(lake, running) as again, use_shared_spark(SparkOptions(), running) as other:
        assert again == first
        assert other is not None
        assert other.master != first.master
    assert not is_in_use()


def test_a_catalog_that_was_deleted_gets_another_session(running: SharedSpark, tmp_path: Path) -> None:
    database = tmp_path / "lake" / "catalog.db"
    lake = SparkOptions(catalog=IcebergCatalog(f"jdbc:sqlite:{database}?busy_timeout=1", "/a/tables", "lake"))
    with use_shared_spark(lake, running) as first:
        assert database.exists()
    with use_shared_spark(lake, running) as again, database.open():  # Spark still has the deleted file open
        database.unlink()
        with use_shared_spark(lake, running) as after:
            pass
    assert first is not None
    assert again is not None
    assert after is not None
    assert again.master == first.master
    assert after.master != first.master


def test_it_stops_when_no_command_uses_it(running: SharedSpark, state: Path) -> None:
    descriptor = os.open(state / "spark.json", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    reasons: list[str] = []
    server = threading.Thread(target=lambda: reasons.append(shared_spark._wait(0.2, threading.Event())))
    server.start()
    time.sleep(0.5)
    assert server.is_alive()

    os.close(descriptor)
    server.join(5)

    assert reasons == ["no command used it for 0.2 s"]
    with use_shared_spark(SparkOptions(), running) as options:
        assert options is None


def treaty(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from treaty.cli.app import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=300)


CONTRACT = """
apiVersion: v3.0.2
kind: DataContract
id: orders
version: 1.0.0
status: active
schema: [{name: orders, properties: [{name: order_id, logicalType: string, required: true}]}]
"""


def test_commands_of_any_folder_use_it(state: Path, tmp_path: Path) -> None:
    (tmp_path / "shop" / "data").mkdir(parents=True)
    (tmp_path / "shop" / "orders.yaml").write_text(CONTRACT)
    (tmp_path / "shop" / "treaty.yaml").write_text("spark: {memory: 512m}")
    (tmp_path / "shop" / "data" / "orders.csv").write_text("order_id\nO1\nO2\n")
    up = treaty(tmp_path, "spark", "up", "--memory", "600m", "--idle", "10m")
    try:
        assert (up.returncode, up.stderr) == (0, "starting Spark\n")
        result = treaty(tmp_path / "shop", "test", "orders.yaml", "data/*.csv")
        assert (result.returncode, result.stderr) == (0, "")
        assert "2 rows: 2 valid, 0 quarantined" in result.stdout
        token = json.loads((state / "spark.json").read_text())["token"]
        status = treaty(tmp_path, "spark", "status", "--format", "json")
        assert json.loads(status.stdout)["running"] is True
        assert token not in status.stdout
        assert _connect_without_token(state) == "refused\n"
    finally:
        down = treaty(tmp_path, "spark", "down")
    assert (down.returncode, down.stdout) == (0, "stopped\n")
    assert treaty(tmp_path, "spark", "down").stdout == "no shared Spark is running\n"


def _connect_without_token(state: Path) -> str:
    address = json.loads((state / "spark.json").read_text())["address"]
    code = (
        "import sys\nfrom pyspark.sql import SparkSession\nfrom pyspark.errors import PySparkException\n"
        "try:\n    SparkSession.builder.remote(sys.argv[1]).getOrCreate().range(1).count()\n"
        "except Exception as error:\n    print('refused' if 'UNAUTHENTICATED' in str(error) else error)\n"
    )
    command = [sys.executable, "-c", code, address]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120).stdout
