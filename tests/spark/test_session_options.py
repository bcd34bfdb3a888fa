"""Session options become Spark settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from treaty.errors import InvalidDocument
from treaty.settings import load_settings
from treaty.spark.session_options import IcebergCatalog, SparkOptions, Start


def test_a_local_session_uses_utc_and_reads_no_files_as_tables() -> None:
    conf = SparkOptions().start_conf()

    assert conf["spark.sql.session.timeZone"] == "UTC"
    assert conf["spark.sql.runSQLOnFiles"] == "false"
    assert conf["spark.ui.enabled"] == conf["spark.ui.showConsoleProgress"] == "false"
    assert conf["spark.driver.bindAddress"] == conf["spark.driver.host"] == "127.0.0.1"
    assert conf["spark.log.level"] == "ERROR"
    assert "spark.jars" not in conf


@pytest.mark.parametrize(
    ("start", "flag"), [(Start.FAST, "-XX:TieredStopAtLevel=1"), (Start.THROUGHPUT, "-XX:-DontCompileHugeMethods")]
)
def test_start_sets_the_options_of_the_jvm(start: Start, flag: str) -> None:
    assert flag in SparkOptions(start=start).start_conf()["spark.driver.extraJavaOptions"]


def test_a_cluster_is_not_bound_to_the_loopback_address() -> None:
    assert "spark.driver.host" not in SparkOptions("spark://cluster:7077").start_conf()


def test_user_settings_override_defaults_and_extend_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREATY_SPARK_JARS", str(tmp_path / "jars"))  # where no classes are archived
    message = {"spark.ui.enabled": "true", "spark.driver.extraJavaOptions": "-Dmine=1"}
    conf = SparkOptions(conf=message).start_conf()

    assert conf["spark.ui.enabled"] == "true"
    assert conf["spark.driver.extraJavaOptions"] == f"{Start.FAST.value} -Dmine=1"


def test_settings_of_an_iceberg_catalog() -> None:
    catalog = IcebergCatalog("jdbc:postgresql://db/lake", "s3a://lake", "lake", "ann", "hush")

    assert catalog.conf() == {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "jdbc",
        "spark.sql.catalog.lake.uri": "jdbc:postgresql://db/lake",
        "spark.sql.catalog.lake.warehouse": "s3a://lake",
        "spark.sql.catalog.lake.jdbc.schema-version": "V1",
        "spark.sql.catalog.lake.cache-enabled": "false",
        "spark.sql.catalog.lake.jdbc.user": "ann",
        "spark.sql.catalog.lake.jdbc.password": "hush",
    }
    assert "hush" not in repr(catalog)


@pytest.mark.parametrize(
    ("uri", "patient"),
    [
        ("jdbc:sqlite:a.db", "jdbc:sqlite:a.db?busy_timeout=30000&journal_mode=WAL"),
        ("jdbc:sqlite:a.db?journal_mode=DELETE", "jdbc:sqlite:a.db?journal_mode=DELETE&busy_timeout=30000"),
    ],
)
def test_an_sqlite_catalog_waits_for_locks(uri: str, patient: str) -> None:
    assert IcebergCatalog(uri, "lake").conf()["spark.sql.catalog.treaty.uri"] == patient


def test_project_settings_become_session_options(tmp_path: Path) -> None:
    file = tmp_path / "treaty.yaml"
    file.write_text(
        "spark:\n  master: local[1]\n  memory: 4g\n  log: logs/spark.log\n"
        "  conf: {spark.sql.shuffle.partitions: 8, spark.sql.adaptive.enabled: false}\n"
        '  iceberg: {name: lake, uri: "jdbc:sqlite:lake/catalog.db", warehouse: lake/tables, user: ann}\n'
    )
    settings = load_settings(file, environment={"TREATY_SPARK_MEMORY": "1g", "TREATY_ICEBERG_PASSWORD": "hush"})

    assert settings.spark() == SparkOptions(
        "local[1]",
        memory="1g",
        log=tmp_path / "logs/spark.log",
        conf={"spark.sql.shuffle.partitions": "8", "spark.sql.adaptive.enabled": "false"},
        catalog=IcebergCatalog(
            f"jdbc:sqlite:{tmp_path}/lake/catalog.db", f"{tmp_path}/lake/tables", "lake", "ann", "hush"
        ),
    )


def test_spark_settings_can_come_from_an_environment_variable(tmp_path: Path) -> None:
    settings = load_settings(start=tmp_path, environment={"TREATY_SPARK_CONF": "spark.a=1,2; spark.b=x=y"})

    assert settings.spark().conf == {"spark.a": "1,2", "spark.b": "x=y"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("spark: {memory: lots}", "memory must be a number and k, m, g or t, such as 2g, not 'lots'"),
        ("spark: {conf: [a]}", "spark.conf must be a mapping of names to values"),
        ("spark: {iceberg: {uri: 'jdbc:sqlite:a.db'}}", "warehouse is missing; set spark.iceberg.warehouse too"),
        ("spark: {iceberg: {uri: a.db, warehouse: b}}", "the URI of a catalog is a JDBC URL"),
        ("spark: {iceberg: {uri: 'jdbc:sqlite:a', warehouse: b, name: a.b}}", "'a.b' is not a valid catalog name"),
        ("spark: {iceberg: {password: x}}", "set TREATY_ICEBERG_PASSWORD"),
    ],
)
def test_an_invalid_setting_is_named_with_its_file(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "treaty.yaml"
    file.write_text(text)

    with pytest.raises(InvalidDocument) as caught:
        load_settings(file, environment={}).spark()
    assert message in str(caught.value)
    assert "treaty.yaml" in str(caught.value)
