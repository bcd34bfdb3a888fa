"""Sessions start quietly, where they are asked to; what is missing is said. Each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from treaty.errors import Unavailable
from treaty.spark.session import active_session, spark_session
from treaty.spark.session_options import SparkOptions

BEGIN = """
from treaty.errors import Unavailable
from treaty.spark.session_options import SparkOptions
from treaty.spark.session import spark_session
"""


def ran(code: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BEGIN + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=300)


def test_a_command_has_its_output_to_itself(tmp_path: Path) -> None:
    ended = ran(
        """
session = spark_session(SparkOptions("local[1]", memory="600m"))
print(session.sql("SELECT current_timezone()").collect()[0][0], session.range(3).count())
session.stop()
""",
        tmp_path,
    )

    assert (ended.stdout, ended.stderr, ended.returncode) == ("UTC 3\n", "", 0)
    assert list(tmp_path.iterdir()) == []


def test_a_spark_that_cannot_start_says_why(tmp_path: Path) -> None:
    ended = ran(
        """
try:
    spark_session(SparkOptions("local[1]", memory="1k"))
except Unavailable as error:
    print(error)
""",
        tmp_path,
    )

    assert "Spark did not start: " in ended.stdout
    assert "heap" in ended.stdout


def test_no_server_is_told_at_once(tmp_path: Path) -> None:
    ended = ran(
        """
try:
    spark_session(SparkOptions("sc://127.0.0.1:1/;token=hush"))
except Unavailable as error:
    print(error)
""",
        tmp_path,
    )

    assert "no Spark Connect server at 127.0.0.1:1: Connection refused" in ended.stdout
    assert "hush" not in ended.stdout


def test_a_session_on_a_server(spark: SparkSession, connect_address: str, tmp_path: Path) -> None:
    ended = ran(
        """
import sys
session = spark_session(SparkOptions(sys.argv[1], conf={"spark.sql.shuffle.partitions": "3"}))
print(*[session.conf.get(f"spark.sql.{key}") for key in ("session.timeZone", "runSQLOnFiles", "shuffle.partitions")])
print(session.range(3).count())
session.stop()
""",
        tmp_path,
        connect_address,
    )

    assert (ended.stdout, ended.stderr) == ("UTC false 3\n3\n", "")


def test_the_session_that_is_running_is_used(any_spark: SparkSession) -> None:
    assert active_session() is not None
    assert spark_session(SparkOptions("local[7]")).version == any_spark.version


def test_without_pyspark_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)

    with pytest.raises(Unavailable, match=r"pip install 'treaty\[spark\]'"):
        spark_session()
