"""The same project on a Spark cluster gives the same tables."""

from __future__ import annotations

from pathlib import Path

import pyspark

from tests.pipeline.run.processes import WAVES, Premises, open_premises


def test_cluster_computes_the_same_tables(undisturbed: Premises, tmp_path: Path) -> None:
    kiosk = open_premises(tmp_path / "kiosk", WAVES)

    code, output, errors = kiosk.run("--master", "local-cluster[2,1,1024]", spark_home=_spark_home(tmp_path / "spark"))

    assert (code, errors) == (0, ""), output
    assert kiosk.rows() == undisturbed.rows()


def _spark_home(folder: Path) -> Path:
    """Return a Spark home that workers can write their logs to."""
    folder.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        (folder / part.name).symlink_to(part)
    return folder
