"""Freshness is guessed from the newest timestamp, and drafted only if that is recent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import types as spark_types

from tests.spark.profile.drafts import NOW, Text, drafted, texts
from treaty.contracts import document_of
from treaty.contracts.paths import FieldPath
from treaty.spark.profile import Facts, Profile, TypeOrigin
from treaty.spark.profile.term_guesses import guess_freshness

CASES = [
    (timedelta(), 1),
    (timedelta(hours=12), 1),
    (timedelta(hours=13), 2),
    (timedelta(days=3), 7),
    (timedelta(days=15), 31),
    (timedelta(days=16), None),
    (timedelta(days=-1), None),
]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _profile(*columns: tuple[str, int | None]) -> Profile:
    facts = [Facts(FieldPath().field(name), spark_types.TimestampType(), newest=newest) for name, newest in columns]
    return Profile(spark_types.StructType(), 100, 0, tuple(facts))


@pytest.mark.parametrize(("age", "days"), CASES)
def test_days_of_freshness_by_age(age: timedelta, days: int | None) -> None:
    newest = (NOW - age - EPOCH) // timedelta(microseconds=1)

    found = guess_freshness(_profile(("updated_at", newest)), ["updated_at"], (), NOW)

    assert found is not None
    assert found.days == days
    assert f"{NOW - age:%Y-%m-%d %H:%M} UTC" in found.guess.evidence


RANKED = [
    (["sold_at", "updated_at", "loaded_on"], "updated_at"),
    (["created", "sold_at"], "sold_at"),
    (["birthday", "sold"], None),
    (["year_ten_thousand_at"], None),
]


@pytest.mark.parametrize(("names", "chosen"), RANKED)
def test_the_timestamp_of_the_last_update_is_preferred(names: list[str], chosen: str | None) -> None:
    newest = {name: 0 if name != "year_ten_thousand_at" else 2**62 for name in names}

    found = guess_freshness(_profile(*newest.items()), names, (), NOW)

    assert (found and found.column) == chosen


def test_personal_and_empty_timestamps_are_ignored() -> None:
    profile = _profile(("updated_at", None), ("sold_at", 5))

    assert guess_freshness(profile, ["updated_at", "sold_at"], {FieldPath().field("sold_at")}, NOW) is None


def test_freshness_is_drafted_as_a_service_level(spark: SparkSession) -> None:
    columns: dict[str, Text] = {"updated_at": lambda row: f"2026-02-28T{row % 24:02d}:00:00Z"}

    document = document_of(drafted(texts(spark, columns), typing=TypeOrigin.NONE).contract)

    (level,) = document["slaProperties"]
    assert (level["property"], level["value"], level["unit"]) == ("freshness", 2, "d")
    assert level["element"] == "orders.updated_at"
    assert level["description"] == "guessed, low: the newest updated_at is 2026-02-28 23:00 UTC"
