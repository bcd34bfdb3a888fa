"""How far Spark is with what it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def share_done(session: SparkSession) -> Callable[[], float | None]:
    """Return a function that tells the share of tasks that are done, of those that are known; None where none run."""
    from pyspark.errors import PySparkException

    try:
        tracker = session.sparkContext.statusTracker()
    except PySparkException:  # over Connect there is no context, but the server tells
        return _over_connect(session)

    def share() -> float | None:
        stages = [info for stage in tracker.getActiveStageIds() if (info := tracker.getStageInfo(stage))]
        return _share(sum(one.numCompletedTasks for one in stages), sum(one.numTasks for one in stages))

    return share


def _over_connect(session: Any) -> Callable[[], float | None]:
    latest: list[float | None] = [None]

    def heard(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        stages = [] if done or stages is None else list(stages)
        latest[0] = _share(sum(one.num_completed_tasks for one in stages), sum(one.num_tasks for one in stages))

    session.registerProgressHandler(heard)
    return lambda: latest[0]


def _share(done: int, known: int) -> float | None:
    return done / known if known else None
