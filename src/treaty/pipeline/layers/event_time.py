"""The time of the events in the rows of a contract, from which lag is measured."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.spark.columns import quoted_col
from treaty.spark.schema import column_name, select_object, spark_type

EVENT_TIMES = "event_times"
"""The name of the total with the quantiles of event times."""
SEMANTIC_TYPE = "event time"
_LEVELS = (("latency", "ly"), ("freshness",))
_TYPES = (spark.TimestampType, spark.TimestampNTZType)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ACCURACY = 1_000
_DEFAULT_PERCENTILE, _ALL = 95.0, 100.0


def event_time_field(contract: Contract) -> Field | None:
    """Return the field with the time of the event; None if the contract does not say which one it is.

    It is the element of the service level for latency or freshness, else the field of semantic type `event time`, else
    the only required timestamp of an event contract.
    """
    schema = select_object(contract)
    for names in _LEVELS:
        if (element := _element(contract, names)) is not None:
            return _named(schema, element)
    times = [field for field in schema.fields if isinstance(spark_type(field), _TYPES)]
    typed = [field for field in times if _is_event_time(field)]
    required = [field for field in times if field.is_required and contract.treaty.event is not None]
    return typed[0] if typed else required[0] if len(required) == 1 else None


def freshness_field(contract: Contract) -> Field | None:
    """Return the timestamp that the freshness of a contract is measured by; None if it is the publication."""
    element = _element(contract, ("freshness",))
    return None if element is None else _named(select_object(contract), element)


def _element(contract: Contract, names: Sequence[str]) -> str | None:
    levels = (level for level in contract.sla or () if str(level.get("property", "")).lower() in names)
    return next((str(level["element"]) for level in levels if level.get("element")), None)


def _named(schema: SchemaObject, element: str) -> Field | None:
    name = element.strip().rpartition(".")[2]
    fields = (field for field in schema.fields if name in (field.name, field.physical_name))
    return next((field for field in fields if isinstance(spark_type(field), _TYPES)), None)


def _is_event_time(field: Field) -> bool:
    return str(field.treaty.get("semantic_type", "")).replace("_", " ").strip().lower() == SEMANTIC_TYPE


def promised_percentile(contract: Contract) -> float:
    """Return the percentile at which lag is compared with the promise; a promise without one is about all rows."""
    latency = contract.treaty.latency
    if latency is not None and latency.percentile:
        return latency.percentile
    is_promised = latency is not None and latency.within
    levels = {str(level.get("property", "")).lower() for level in contract.sla or ()}
    return _ALL if is_promised or levels & set(_LEVELS[0]) else _DEFAULT_PERCENTILE


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
