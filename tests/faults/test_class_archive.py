"""Set-up archives the classes of Spark, and Java takes them from the archive."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from treaty.spark.class_archive import create_archive

SESSION = """
from pathlib import Path
from treaty.spark.session import spark_session
from treaty.spark.session_options import SparkOptions
conf = {"spark.driver.extraJavaOptions": "-Xlog:class+load:file=LOG"}
spark_session(SparkOptions("local[1]", conf=conf)).range(3).count()
"""


def test_java_loads_the_classes_of_spark_from_the_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREATY_SPARK_JARS", str(tmp_path / "jars"))
    log = tmp_path / "classes.log"

    archive = create_archive(frozenset())
    subprocess.run([sys.executable, "-c", SESSION.replace("LOG", str(log))], check=True, timeout=120)

    assert archive.parent == tmp_path / "classes"
    loaded = [line for line in log.read_text().splitlines() if "org.apache.spark.sql." in line]
    assert sum("shared objects file (top)" in line for line in loaded) > len(loaded) / 2
