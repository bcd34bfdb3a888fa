"""Two runs on one lake: nothing is read twice and nothing late is skipped; see the law of slices in test_arrivals."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.run.kiosk import Kiosk, open_kiosk, ordered
from treaty.errors import Conflict
from treaty.pipeline.layers.raw import RAW
from treaty.pipeline.run import Outcome, RunOptions
from treaty.pipeline.tables import NewStamp, Tables


def _stamp(run: int) -> NewStamp:
    return NewStamp(run, {}, "", "", {})


def test_rows_that_a_killed_run_goes_on_appending_never_become_visible(spark: SparkSession, tmp_path: Path) -> None:
    kiosk = open_kiosk(spark, tmp_path, "zombie")
    options = RunOptions(("ordered",), max_parallel_steps=1)
    kiosk.deliver("ordered", [ordered(1, "A", 1, 10)])
    kiosk.run(options)
    published = kiosk.tables.stamp("raw.ordered")
    assert published is not None
    rows = kiosk.tables.read("raw.ordered", published)
    # the client of a shared Spark is killed: one append has ended, another one is still going on
    ended, going_on = (kiosk.tables.stage("raw.ordered", published.run + n, published) for n in (1, 2))
    with pytest.raises(Conflict, match=r"has no complete branch in raw\.ordered"):
        ended.publish()  # the second branch dropped the first
    kiosk.deliver("ordered", [ordered(2, "B", 1, 10)])
    summary = kiosk.run(options)
    assert summary.succeeded
    with suppress(Conflict):  # the branch is gone; if Spark creates it again, it is still no part of the table
        going_on.append(rows.withColumn("_run", rows["_run"] + 2), _stamp(published.run + 2))
    with pytest.raises(Conflict):
        going_on.publish()
    assert len(kiosk.rows("raw.ordered")) == 2
    assert len(kiosk.rows("events.ordered")) == 2

    _write_from_outside(kiosk, options)
    _run_again_without_spark(kiosk, options)


def _write_from_outside(kiosk: Kiosk, options: RunOptions) -> None:
    """Another process empties a table: readers see the published rows, and a run fails, though nothing is new."""
    tables = kiosk.tables
    tables.spark.sql(f"DELETE FROM {tables.namespace.full_name('events.ordered')} WHERE true").collect()  # noqa: S608
    assert len(kiosk.rows("events.ordered")) == 2
    assert "another process wrote to events.ordered" in tables.foreign_writes["events.ordered"]
    (failed,) = kiosk.run(options).unsuccessful
    assert failed.table == "events.ordered"
    assert "undo that with: CALL lake.system.rollback_to_snapshot('zombie.events.ordered'" in failed.reasons[0]
    tables.spark.sql(failed.reasons[0].rpartition("undo that with: ")[2]).collect()
    assert kiosk.run(options).succeeded
    assert tables.foreign_writes == {}


class _NoSpark:
    """A session that must not be used."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"Spark was started for {name}")


def _run_again_without_spark(kiosk: Kiosk, options: RunOptions) -> None:
    """A run that finds nothing new reads only metadata."""
    namespace, catalog = kiosk.tables.namespace.name, kiosk.tables.catalog
    tables = Tables(cast("SparkSession", _NoSpark()), namespace, catalog)
    summary = Kiosk(kiosk.folder, tables).run(options)
    assert {step.outcome for step in summary.steps} == {Outcome.NOTHING_NEW}


def test_rows_of_a_lower_run_are_refused_and_so_is_a_state_that_was_not_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    tables = open_kiosk(spark, tmp_path, "fenced").tables
    tables.ensure("raw.ordered", RAW, {})
    empty = spark.createDataFrame([], RAW)
    first, second = tables.stage("raw.ordered", 4, None), tables.stage("raw.ordered", 5, None)
    second.append(empty, _stamp(5))
    published = second.publish()
    with pytest.raises(Conflict):
        first.publish()
    with pytest.raises(Conflict, match=r"run 5 has published raw\.ordered since run 4 started"):
        tables.stage("raw.ordered", 4, published)
    with pytest.raises(Conflict, match=r"run 5 has published raw\.ordered since run 6 started"):
        tables.stage("raw.ordered", 6, None)

    def lost() -> None:
        raise Conflict("the lease was lost")

    late = tables.guarded_by(lost).stage("raw.ordered", 6, published)
    late.append(empty, _stamp(6))
    with pytest.raises(Conflict, match="the lease was lost"):
        late.publish()
    assert tables.stamps("raw.ordered") == (published,)
