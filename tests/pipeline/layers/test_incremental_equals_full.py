"""Incremental runs give the same tables as one full run, with late, repeated and unordered events."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.pipeline.layers.arrivals import Arrival, contract, raw, source
from tests.spark.property_settings import FEW_EXAMPLES
from treaty.contracts.versions import Line
from treaty.pipeline.layers.events import (
    check_events,
    event_columns,
    identity_columns,
    known_identities,
    mark_redeliveries,
)
from treaty.pipeline.layers.keys import affected_keys, rows_of_keys, with_deleted_keys
from treaty.pipeline.layers.products import build_product, product_columns
from treaty.pipeline.project.declarations import Product, Sql

_NUMBER = {"logicalType": "integer", "logicalTypeOptions": {"minimum": 1}}
_EVENTS = contract(
    "orders",
    {"id": {"required": True}, "seq": _NUMBER, "state": {}, "total": {"logicalType": "integer"}},
    ordering={"key": ["id"], "sequence": "seq"},
)
_SOURCE = source()
_IDENTITY = identity_columns(_SOURCE, _EVENTS)
_BOOK = contract(
    "book",
    {
        "id": {"primaryKey": True, "required": True},
        "state": {"required": True},
        "total": {"logicalType": "integer", "logicalTypeOptions": {"maximum": 5}},
    },
)
_SUMS = "SELECT id, max(state) AS state, sum(total) AS total FROM orders GROUP BY id HAVING count(*) < 5"
_PRODUCTS = {
    "latest": Product("latest", Line("shop.book", 1), ("orders",), deleted_when="state = 'deleted'"),
    "summed": Product("summed", Line("shop.book", 1), ("orders",), Sql(Path("book.sql"), _SUMS)),
}

_POISON = (b"", b'{"id"', b'[{"id":"a"}]', b"\xff")


def _history(seed: int) -> list[Arrival]:
    """Generate the arrivals of several runs: some repeated, some invalid, out of order, in files with any names."""
    dice = Random(seed)  # noqa: S311
    payloads: list[object] = [_event(dice) for _ in range(dice.randint(20, 40))]
    payloads += [dice.choice(payloads) for _ in range(10)] + list(_POISON)
    dice.shuffle(payloads)
    days = sorted(dice.randint(1, 4) for _ in payloads)
    names = dice.sample(["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"], 4)
    return [
        Arrival(item, 1 + (day > 2), names[day - 1], place, day=day)
        for place, (item, day) in enumerate(zip(payloads, days, strict=True))
    ]


def _event(dice: Random) -> dict[str, object]:
    return {
        "id": dice.choice(["a", "b", "c", "d", "e", "f", None]),
        "seq": dice.choice([None, 0, 1, 2, 3, 4]),
        "state": dice.choice(["new", "paid", "deleted", None]),
        "total": dice.randint(-1, 6),
    }


@dataclass(frozen=True)
class _Tables:
    """Tables in files, replaced by each run, as the runner does with Iceberg."""

    spark: SparkSession
    folder: Path

    def run(self, number: int, arrivals: list[Arrival], before: dict[str, DataFrame]) -> dict[str, DataFrame]:
        rows = raw(self.spark, self.folder / "raw", arrivals).repartition(3, F.rand(number))
        known = None
        if before:
            known = known_identities(before["events"].where("_outcome = 'accepted'"), rows, _SOURCE, _EVENTS)
        new = mark_redeliveries(check_events(rows, _SOURCE, _EVENTS), known, _IDENTITY)
        stamped = new.withColumn("_run", F.lit(number).cast("bigint"))
        assert stamped.columns == event_columns(_EVENTS).names
        added = self._written(f"events-{number}", stamped)
        events = added.unionByName(before["events"]) if before else added
        books = {name: self._book(number, name, added, events, before.get(name)) for name in _PRODUCTS}
        return {"events": events, **books}

    def _book(self, number: int, name: str, added: DataFrame, events: DataFrame, before: DataFrame | None) -> DataFrame:
        keys = affected_keys({"orders": added}, {"orders": ["id"]})
        standing = rows_of_keys(events.where("_outcome = 'accepted'"), keys, ["id"])
        found = build_product({"orders": standing}, _PRODUCTS[name], _BOOK, {"orders": _EVENTS})
        now = with_deleted_keys(found, keys, product_columns(_BOOK)).withColumn("_run", F.lit(number))
        kept = now if before is None else before.join(keys, "id", "left_anti").select(before.columns).unionByName(now)
        return self._written(f"{name}-{number}", kept)

    def _written(self, name: str, frame: DataFrame) -> DataFrame:
        frame.write.parquet(str(self.folder / name))
        return self.spark.read.parquet(str(self.folder / name))


def _content(frame: DataFrame) -> Counter[str]:
    """Return the rows without their run numbers."""
    frame = frame.drop("_run", "_raw_run")
    return Counter(str(sorted(row.asDict(recursive=True).items())) for row in frame.collect())


@settings(FEW_EXAMPLES, max_examples=2)
@given(seed=st.integers(0, 10**6))
def test_incremental_runs_equal_one_full_run(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    history, folder = _history(seed), Path(mkdtemp(prefix="batches-", dir=tmp_path))
    by_run: dict[str, DataFrame] = {}
    for number in sorted({arrival.run for arrival in history}):
        by_run = _Tables(spark, folder).run(number, [item for item in history if item.run == number], by_run)
    at_once = _Tables(spark, folder / "once").run(9, [replace(item, run=9) for item in history], {})
    for name, frame in at_once.items():
        assert _content(by_run[name]) == _content(frame), name
    places = Counter((row["_source_file"], row["_position"]) for row in at_once["events"].collect())
    assert places == Counter((item.file, item.position) for item in history)
