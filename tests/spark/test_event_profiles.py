"""Profiles on Spark are those that are computed in memory from the same rows."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from treaty.contracts import contract_from
from treaty.events.drift import Profile, layout_of, profile_rows
from treaty.events.drift.encoded_events import ARRIVAL
from treaty.spark.event_profiles import (
    CODES_COLUMN,
    PROFILE,
    profile_frame,
    profile_totals,
    read_profile,
    with_codes,
)
from treaty.spark.schema import select_object, struct_type

AT = datetime(2026, 3, 2, 4, tzinfo=UTC)
CONTRACT = contract_from(
    {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": "gym.changed",
        "version": "1.0.0",
        "status": "active",
        "ordering": {"key": ["id"], "sequence": "n"},
        "schema": [
            {
                "name": "changed",
                "properties": [
                    {"name": "id", "logicalType": "string", "required": True},
                    {"name": "n", "logicalType": "integer", "required": True},
                    {"name": "at", "logicalType": "timestamp"},
                    {"name": "start", "logicalType": "timestamp"},
                    {"name": "day", "logicalType": "date"},
                    {
                        "name": "state",
                        "logicalType": "string",
                        "enum": [{"value": "OPEN"}, {"value": "CLOSED"}, {"value": "O'NEIL"}],
                    },
                    {"name": "is_late", "logicalType": "boolean"},
                    {"name": "member", "logicalType": "string", "classification": "restricted"},
                    {"name": "price", "logicalType": "number", "physicalType": "decimal(12,2)"},
                    {"name": "weight", "logicalType": "number"},
                    {"name": "sent", "logicalType": "string"},
                    {
                        "name": "place",
                        "logicalType": "object",
                        "properties": [
                            {"name": "city", "logicalType": "string"},
                            {"name": "floor", "logicalType": "integer"},
                        ],
                    },
                    {"name": "tags", "logicalType": "array", "items": {"logicalType": "string"}},
                ],
            }
        ],
    }
)
LAYOUT = layout_of(CONTRACT, "at")
TEXTS = (
    "",
    "2026-03-01T10:00:00Z",
    "2026-03-01T10:00:00+01:00",
    "2026-03-01T10:00:00-05:00",
    "2026-03-01 10:00:00",
    "2026-03-01",
    "0815",
    "C-0815",
    "straße",
    "ÄRGER",
    "Two words",
    "—!",
    "😀",
    "x" * 1_200,
    "aB3" * 20,
)
NUMBERS = (0.0, -0.0, 1.0, 10.0, 100.0, 1e-9, 1e20, -3.5, 0.1, 999.999, float("inf"), float("-inf"), float("nan"))


def rows(count: int) -> list[dict[str, Any]]:
    """Return events with edge cases and without values in one of ten."""
    chance = random.Random(5)  # noqa: S311 - synthetic data

    def maybe(value: Any) -> Any:
        return None if chance.random() < 0.1 else value

    listed = []
    for number in range(count):
        happened = AT - timedelta(seconds=chance.randrange(3 * 86_400), microseconds=chance.randrange(10**6))
        distance = chance.choice((0, 60, -60, 1_800, -7_200, 86_400, -86_400 * 40, chance.randrange(-(10**8), 10**8)))
        listed.append(
            {
                "id": f"key {chance.randrange(count // 2)}",
                "n": number,
                "at": maybe(happened),
                "start": maybe(happened + timedelta(seconds=distance)),
                "day": maybe(date(2026, 3, 1) + timedelta(days=chance.randint(-40, 40))),
                "state": maybe(chance.choice(("OPEN", "CLOSED", "O'NEIL", "LOST"))),
                "is_late": maybe(chance.random() < 0.5),
                "member": maybe("Ada"),
                "price": maybe(Decimal(chance.randrange(-(10**7), 10**9)).scaleb(-2)),
                "weight": maybe(chance.choice((*NUMBERS, chance.gauss(0, 1e4)))),
                "sent": maybe(chance.choice(TEXTS)),
                "place": maybe({"city": maybe(chance.choice(TEXTS)), "floor": maybe(chance.randint(-3, 40))}),
                "tags": maybe(["x"] * chance.choice((0, 1, 2, 39, 40, 41, 90))),
                ARRIVAL: happened + timedelta(seconds=chance.expovariate(1 / 90)),
            }
        )
    return listed


ROWS = rows(2_000)


@pytest.fixture(scope="module")
def in_memory() -> Profile:
    return profile_rows(ROWS, LAYOUT, version="1.0.0", run=7, at=AT)


def frame(spark: SparkSession) -> Any:
    columns = spark_types.StructType(
        [
            *(spark_types.StructField(one.name, one.dataType) for one in struct_type(select_object(CONTRACT))),
            spark_types.StructField(ARRIVAL, spark_types.TimestampType()),
        ]
    )
    return spark.createDataFrame(ROWS, columns).repartition(5)


def test_the_profile_on_spark_is_that_of_the_same_rows_in_memory(spark: SparkSession, in_memory: Profile) -> None:
    taken = profile_frame(frame(spark), LAYOUT, version="1.0.0", run=7, at=AT, arrived_at=ARRIVAL)

    assert taken is not None
    assert taken.keys == pytest.approx(in_memory.keys, rel=0.02)
    assert taken.histograms == in_memory.histograms
    assert taken.model_copy(update={"keys": in_memory.keys}) == in_memory


def test_a_profile_is_counted_while_rows_are_read_and_leaves_out_other_rows(
    spark: SparkSession, in_memory: Profile
) -> None:
    both = frame(spark).withColumn("outcome", F.lit("accepted"))
    both = both.union(both.limit(100).withColumn("outcome", F.lit("duplicate")))
    observation = Observation()
    encoded = with_codes(both, LAYOUT, is_counted=F.col("outcome") == "accepted", arrived_at=ARRIVAL)

    encoded.observe(observation, *profile_totals(LAYOUT)).drop(CODES_COLUMN).write.format("noop").mode(
        "overwrite"
    ).save()
    taken = read_profile(observation.get[PROFILE], LAYOUT, version="1.0.0", run=7, at=AT)

    assert taken is not None
    assert taken.histograms == in_memory.histograms


def test_a_frame_without_rows_has_no_profile(spark: SparkSession) -> None:
    assert profile_frame(frame(spark).limit(0), LAYOUT, version="1.0.0", run=7, at=AT) is None


def test_a_sample_has_all_events_of_some_keys(spark: SparkSession, in_memory: Profile) -> None:
    encoded = with_codes(frame(spark), LAYOUT, share=0.25).where(F.col(CODES_COLUMN).isNotNull())
    sampled = {row["id"] for row in encoded.select("id").distinct().collect()}

    assert encoded.count() == sum(row["id"] in sampled for row in ROWS)
    assert len(sampled) == pytest.approx((in_memory.keys or 0) / 4, rel=0.25)
