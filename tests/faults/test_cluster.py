"""The same project on a Spark cluster gives the same tables."""

from __future__ import annotations

from pathlib import Path

import pyspark

from tests.faults.processes import WAVES, open_premises


def test_cluster_computes_the_same_tables(tmp_path: Path) -> None:
    local = open_premises(tmp_path / "local", WAVES)
    cluster = open_premises(tmp_path / "cluster", WAVES)
    spark_home = _spark_home(tmp_path / "spark")

    assert local.run()[0] == 0
    code, output, errors = cluster.run("--master", "local-cluster[2,1,1024]", spark_home=spark_home)

    assert (code, errors) == (0, ""), output
    assert cluster.rows() == local.rows()


def _spark_home(folder: Path) -> Path:
    """Return a Spark home that workers can write their logs to."""
    folder.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        (folder / part.name).symlink_to(part)
    return folder
