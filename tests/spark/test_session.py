"""Sessions start without output and fail with a reason. Those that start Spark do so in a process of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from treaty.errors import Unavailable
from treaty.spark.session import active_session, create_catalog_folder, spark_session
from treaty.spark.session_options import IcebergCatalog, SparkOptions

BEGIN = """
from treaty.errors import Unavailable
from treaty.spark.session_options import SparkOptions
from treaty.spark.session import spark_session
"""


def run_python(code: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BEGIN + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=300)


def test_spark_writes_nothing_to_the_output_of_a_command(tmp_path: Path) -> None:
    process = run_python(
        """
session = spark_session(SparkOptions("local[1]", memory="600m"))
print(session.sql("SELECT current_timezone()").collect()[0][0], session.range(3).count())
session.stop()
""",
        tmp_path,
    )

    assert (process.stdout, process.stderr, process.returncode) == ("UTC 3\n", "", 0)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_start_gives_the_reason(tmp_path: Path) -> None:
    process = run_python(
        """
try:
    spark_session(SparkOptions("local[1]", memory="1k"))
except Unavailable as error:
    print(error)
""",
        tmp_path,
    )

    assert "Spark did not start: " in process.stdout
    assert "heap" in process.stdout


def test_a_missing_connect_server_fails_fast(tmp_path: Path) -> None:
    process = run_python(
        """
try:
    spark_session(SparkOptions("sc://127.0.0.1:1/;token=hush"))
except Unavailable as error:
    print(error)
""",
        tmp_path,
    )

    assert "no Spark Connect server at 127.0.0.1:1: Connection refused" in process.stdout
    assert "hush" not in process.stdout


def test_a_session_on_a_connect_server(spark: SparkSession, connect_address: str, tmp_path: Path) -> None:
    process = run_python(
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

    assert (process.stdout, process.stderr) == ("UTC false 3\n3\n", "")


def test_the_active_session_is_reused(any_spark: SparkSession) -> None:
    assert active_session() is not None
    assert spark_session(SparkOptions("local[7]")).version == any_spark.version


def test_without_pyspark_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)

    with pytest.raises(Unavailable, match=r"pip install 'treaty\[spark\]'"):
        spark_session()


def _catalog(uri: str) -> IcebergCatalog:
    return IcebergCatalog(uri, "warehouse")


def test_the_folder_of_an_sqlite_catalog_is_created(tmp_path: Path) -> None:
    create_catalog_folder(_catalog(f"jdbc:sqlite:{tmp_path}/new/.treaty/catalog.db?busy_timeout=1"))

    assert [path.name for path in (tmp_path / "new").iterdir()] == [".treaty"]


@pytest.mark.parametrize("uri", ["jdbc:sqlite::memory:", "jdbc:postgresql://db/catalog"])
def test_other_catalogs_need_no_folder(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    create_catalog_folder(_catalog(uri))

    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_created_gives_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")

    with pytest.raises(
        Unavailable, match=r"cannot create the folder .*/taken/\.treaty for the catalog: .*; change spark.ice"
    ):
        create_catalog_folder(_catalog(f"jdbc:sqlite:{tmp_path}/taken/.treaty/catalog.db"))
