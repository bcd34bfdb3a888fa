"""The quarantine is written atomically and never overwrites other files."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from treaty.errors import Conflict, InvalidDocument, TreatyError
from treaty.spark.report import Destination, Existing
from treaty.spark.report.quarantine import write_quarantine

BAD = "SELECT '1' AS id, array(named_struct('rule', 'required:id')) AS _violations"


def names(folder: Path) -> list[str]:
    """List what is in a folder, hidden things too."""
    return sorted(path.name for path in folder.iterdir())


def test_rows_are_written_without_leftover_files(any_spark: SparkSession, tmp_path: Path) -> None:
    written = write_quarantine(any_spark.sql(BAD), Destination(str(tmp_path / "bad")), 1)

    assert [row["id"] for row in written.collect()] == ["1"]
    assert names(tmp_path) == ["bad"]


def test_an_empty_folder_is_accepted(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    to = Destination(str(tmp_path / "bad"))

    to.refuse_unless_free()

    assert write_quarantine(spark.sql(BAD), to, 1).count() == 1


def test_an_existing_quarantine_is_replaced_only_on_request(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "bad")
    write_quarantine(spark.sql(BAD), Destination(path), 1)

    with pytest.raises(Conflict, match="already exists; choose another folder, or replace it with --overwrite"):
        Destination(path).refuse_unless_free()

    again = Destination(path, Existing.REPLACED)
    again.refuse_unless_free()
    assert write_quarantine(spark.sql(f"{BAD} UNION ALL {BAD}"), again, 2).count() == 2
    assert names(tmp_path) == ["bad"]


@pytest.mark.parametrize("held", ["orders", "notes"])
def test_a_folder_with_other_files_is_never_replaced(spark: SparkSession, tmp_path: Path, held: str) -> None:
    folder = tmp_path / "bad"
    if held == "orders":
        spark.sql("SELECT '1' AS id").write.parquet(str(folder))
    else:
        folder.mkdir()
        (folder / "notes.txt").write_text("mine")

    with pytest.raises(Conflict, match="contains more than a quarantine"):
        Destination(str(folder), Existing.REPLACED).refuse_unless_free()


def test_a_changed_number_of_rows_is_a_conflict(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="2 rows were quarantined, but 1 was written: the data changed during the test"):
        write_quarantine(spark.sql(BAD), Destination(str(tmp_path / "bad")), 2)

    assert names(tmp_path) == []


def test_a_failed_write_keeps_the_old_quarantine(spark: SparkSession, tmp_path: Path) -> None:
    to = Destination(str(tmp_path / "bad"), Existing.REPLACED)
    write_quarantine(spark.sql(BAD), to, 1)

    with pytest.raises(TreatyError, match="write the quarantine"):
        write_quarantine(spark.sql("SELECT raise_error('no') AS id, array('x') AS _violations"), to, 1)

    assert names(tmp_path) == ["bad"]
    assert spark.read.parquet(str(tmp_path / "bad")).count() == 1


@pytest.mark.parametrize(
    ("path", "sources"),
    [("data", ("data",)), ("data/bad", ("data",)), ("data", ("data/orders.csv",)), ("data/../data", ("data",))],
)
def test_a_quarantine_inside_the_data_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, sources: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "orders.csv").write_text("id\n")

    with pytest.raises(InvalidDocument, match="would be inside the data"):
        Destination(path, Existing.REPLACED).refuse_unless_free(sources)


@pytest.mark.parametrize(
    ("destination", "folder"),
    [
        (Destination("bad"), Path("bad")),
        (Destination("file:///tmp/bad"), Path("/tmp/bad")),  # noqa: S108
        (Destination("file:/tmp/bad"), Path("/tmp/bad")),  # noqa: S108
        (Destination("s3a://lake/bad"), None),
        (Destination("bad", is_local=False), None),
    ],
)
def test_the_local_folder_of_a_destination(destination: Destination, folder: Path | None) -> None:
    assert destination.folder == folder
