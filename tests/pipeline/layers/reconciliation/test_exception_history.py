"""History of exceptions: first seen, last seen, resolved."""

from __future__ import annotations

from datetime import UTC, datetime

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from treaty.pipeline.layers.reconciliation import update_exceptions


def _day(number: int) -> datetime:
    return datetime(2026, 3, number, tzinfo=UTC).replace(tzinfo=None)


def test_first_seen_is_kept_and_missing_exceptions_are_resolved_once(any_spark: SparkSession) -> None:
    spark = any_spark
    before = spark.sql(
        """SELECT k, assertion, 'conflict' reason_class, 'old' statement, '{}' claims, 'd0' claims_digest, 'a' owner,
        state, by accepted_by, by accepted_reason, cast(f as timestamp) first_seen, cast(l as timestamp) last_seen,
        run _run
        FROM VALUES
          ('stays', 'x', 'open', null, '2026-03-01', '2026-03-02', 2L),
          ('goes', 'x', 'open', null, '2026-03-01', '2026-03-02', 2L),
          ('went', 'x', 'resolved', null, '2026-03-01', '2026-03-01', 2L),
          ('returns', 'x', 'resolved', null, '2026-03-01', '2026-03-01', 2L),
          ('lapses', 'x', 'accepted', 'ada', '2026-03-01', '2026-03-02', 2L),
          ('vanishes', 'x', 'accepted', 'ada', '2026-03-01', '2026-03-02', 2L),
          ('elsewhere', 'x', 'open', null, '2026-03-01', '2026-03-02', 2L)
          AS t(k, assertion, state, by, f, l, run)"""
    )
    found = spark.sql(
        """SELECT k, assertion, 'late' reason_class, 'new' statement, '{}' claims, 'd1' claims_digest, 'b' owner,
        'open' state, cast(null as string) accepted_by, cast(null as string) accepted_reason
        FROM VALUES ('stays', 'x'), ('stays', 'y'), ('returns', 'x'), ('lapses', 'x'), ('comes', 'x')
          AS t(k, assertion)"""
    )
    keys = spark.sql(
        "SELECT * FROM VALUES ('stays'), ('goes'), ('went'), ('returns'), ('lapses'), ('vanishes'), ('comes') AS t(k)"
    )

    rows = update_exceptions(found, before, keys, F.lit("2026-03-09").cast("timestamp"), 9)

    assert rows.columns == before.columns
    assert {
        (row["k"], row["assertion"]): (
            row["state"],
            row["first_seen"],
            row["last_seen"],
            row["_run"],
            row["statement"],
            row["accepted_by"],
        )
        for row in rows.collect()
    } == {
        ("stays", "x"): ("open", _day(1), _day(9), 9, "new", None),
        ("stays", "y"): ("open", _day(9), _day(9), 9, "new", None),
        ("goes", "x"): ("resolved", _day(1), _day(2), 9, "old", None),
        ("went", "x"): ("resolved", _day(1), _day(1), 2, "old", None),
        ("returns", "x"): ("open", _day(1), _day(9), 9, "new", None),
        ("lapses", "x"): ("open", _day(1), _day(9), 9, "new", None),
        ("vanishes", "x"): ("resolved", _day(1), _day(2), 9, "old", "ada"),
        ("comes", "x"): ("open", _day(9), _day(9), 9, "new", None),
    }
