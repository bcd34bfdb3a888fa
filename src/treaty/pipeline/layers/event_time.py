"""The times of the events in rows, counted while they are written: lag is measured from them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.contracts.model import Contract
from treaty.events.event_times import event_time_field, promised_percentile
from treaty.spark.columns import quoted_col
from treaty.spark.schema import column_name

EVENT_TIMES = "event_times"
"""The name of the total with the quantiles of event times."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ACCURACY = 1_000


def event_time_totals(contract: Contract, is_counted: Column | None) -> Sequence[Column]:
    """Return what to count while rows are written: event times at the promised percentile, the median and the newest.

    Rows for which `is_counted` does not hold are left out. Nothing is counted if the event time is unknown.
    """
    field = event_time_field(contract)
    if field is None:
        return ()
    micros = F.unix_micros(quoted_col(column_name(field)).cast("timestamp"))
    counted = micros if is_counted is None else F.when(is_counted, micros)
    late = 1 - promised_percentile(contract) / 100
    times = F.percentile_approx(counted, [late, 0.5, 1.0], _ACCURACY)
    return (F.array_join(times.cast("array<string>"), " ").alias(EVENT_TIMES),)  # classic sessions return no arrays


def read_event_times(total: Any) -> tuple[datetime, datetime, datetime] | None:
    """Return the counted times: late, median and newest; None if no row has one."""
    if not isinstance(total, str) or len(total.split()) != 3:
        return None
    late, median, newest = (_EPOCH + timedelta(microseconds=int(micros)) for micros in total.split())
    return late, median, newest
