"""Jars are downloaded once, and a session gets only those it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from treaty.errors import NotFound
from treaty.spark.jars import Package, default_jar_folder, driver_packages, fetch_jars, find_jars

RESTED_ON = "org.tukaani_xz-1.10.jar"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder with downloaded jars."""
    folder = tmp_path / "jars" / fetch_jars().name
    folder.mkdir(parents=True)
    for name in [*(package.jar for package in Package), RESTED_ON]:
        (folder / name).touch()
    return tmp_path / "jars"


def test_existing_jars_are_not_downloaded_again(kept: Path) -> None:
    message: list[str] = []

    assert fetch_jars(kept, report=message.append).parent == kept
    assert message == []


def test_a_session_gets_only_the_jars_it_needs_and_their_dependencies(kept: Path) -> None:
    assert find_jars([], kept) == []
    assert [jar.name for jar in find_jars([Package.AVRO], kept)] == sorted([Package.AVRO.jar, RESTED_ON])


def test_the_default_folder_of_jars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TREATY_SPARK_JARS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert default_jar_folder() == Path("/caches/treaty/jars")

    monkeypatch.setenv("TREATY_SPARK_JARS", "/opt/jars")
    assert default_jar_folder() == Path("/opt/jars")


def test_a_failed_download_gives_a_clear_error_and_leaves_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=1")
    command = [sys.executable, "-m", "treaty.spark.jars", "--folder", str(tmp_path / "jars")]

    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert "cannot download org.apache.iceberg" in ended.stderr
    assert "Connection refused" in ended.stderr
    assert "check the network and try again" in ended.stderr
    assert list((tmp_path / "jars").iterdir()) == []


def test_missing_ivy_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="Ivy settings file /nowhere"):
        fetch_jars(tmp_path / "jars", Path("/nowhere"), report=lambda text: None)


@pytest.mark.parametrize(
    ("url", "drivers"),
    [
        ("jdbc:sqlite:shop.db", {Package.SQLITE}),
        ("jdbc:postgresql://db/shop", {Package.POSTGRESQL}),
        ("jdbc:mysql://db/shop", set()),
    ],
)
def test_a_database_needs_its_driver(url: str, drivers: set[Package]) -> None:
    assert driver_packages(url) == drivers
