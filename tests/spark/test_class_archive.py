"""The archive of classes that a session starts with, if set-up has made one."""

from __future__ import annotations

from pathlib import Path

import pytest

from treaty.spark.class_archive import archive_file, archive_options
from treaty.spark.session_options import SparkOptions, Start


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREATY_SPARK_JARS", str(tmp_path / "jars"))


def _put_archive(jars: list[Path]) -> Path:
    file = archive_file(jars)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"classes")
    return file


def test_an_archive_belongs_to_a_class_path(tmp_path: Path) -> None:
    file = _put_archive([])

    assert file.parent == tmp_path / "classes"
    assert archive_options([]) == (f"-XX:SharedArchiveFile={file} -Xshare:auto -Xlog:disable -Xlog:all=error:stderr")
    assert archive_options([tmp_path / "iceberg.jar"]) == ""


def test_a_local_session_uses_its_archive_and_one_on_a_cluster_does_not() -> None:
    file = _put_archive([])

    local = SparkOptions().start_conf()["spark.driver.extraJavaOptions"]
    cluster = SparkOptions("spark://cluster:7077").start_conf()["spark.driver.extraJavaOptions"]

    assert local.startswith(f"{Start.FAST.value} -XX:SharedArchiveFile={file} ")
    assert cluster == Start.FAST.value
