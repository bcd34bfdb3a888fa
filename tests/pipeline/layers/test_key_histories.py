"""A key whose events break the life cycle of their stream is set apart until its history is complete."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tests.pipeline.layers.arrivals import contract
from tests.pipeline.layers.test_products import _events
from treaty.contracts import Contract
from treaty.contracts.versions import Line
from treaty.pipeline.layers.products import build_product
from treaty.pipeline.project.declarations import Product, Sql

_FIELDS: dict[str, dict[str, Any]] = {
    "id": {"required": True},
    "seq": {"logicalType": "integer"},
    "places": {"logicalType": "integer"},
}
_KEPT = {"name": "kept", "sql": "current.places >= previous.places", "meaning": "Places are never taken away."}
_FEW = {"name": "few", "sql": "current.places < 90", "severity": "warning"}


def _typed(name: str, lifecycle: dict[str, Any]) -> Contract:
    return contract(
        name,
        _FIELDS,
        event={"type": name},
        ordering={"key": ["id"], "sequence": "seq"},
        lifecycle={"stream": "classes", **lifecycle},
    )


SOURCES = {
    "published": _typed("published", {"moves": [{"to": "published"}], "invariants": [_FEW]}),
    "updated": _typed(
        "updated",
        {
            "moves": [{"from": "published", "to": "updated"}, {"from": "updated", "to": "updated"}],
            "invariants": [_KEPT],
        },
    ),
}
PRODUCT = contract("classes", {"id": {"required": True, "primaryKey": True}, "places": {"logicalType": "integer"}})
SQL = "SELECT id, max(places) AS places FROM (SELECT * FROM published UNION ALL SELECT * FROM updated) GROUP BY id"


def _product(frames: dict[str, DataFrame]) -> dict[str, Any]:
    product = Product("classes", Line("shop.classes", 1), tuple(frames), Sql(None, SQL))  # type: ignore[arg-type]
    contracts = {name: SOURCES[name] for name in frames}
    return {row["id"]: row for row in build_product(frames, product, PRODUCT, contracts).collect()}


def test_a_key_with_a_broken_history_is_quarantined_with_its_reasons(spark: SparkSession) -> None:
    published = _events(
        spark,
        "id, seq, places",
        "('fine', 1, 5, 1L, 'p', 1L), ('fall', 1, 5, 1L, 'p', 2L), ('many', 1, 95, 1L, 'p', 3L)",
    )
    updated = _events(
        spark,
        "id, seq, places",
        "('fine', 2, 6, 1L, 'u', 1L), ('fall', 2, 4, 1L, 'u', 2L), ('first', 2, 4, 1L, 'u', 3L)",
    )

    rows = _product({"published": published, "updated": updated})

    assert {key: (row["_outcome"], row["places"]) for key, row in rows.items()} == {
        "fine": ("valid", 6),
        "many": ("valid", 95),
        "fall": ("quarantined", None),
        "first": ("quarantined", None),
    }
    assert {key: [one["rule"] for one in row["_violations"] or ()] for key, row in rows.items()} == {
        "fine": [],
        "many": ["lifecycle.invariant.few"],
        "fall": ["lifecycle.invariant.kept"],
        "first": ["lifecycle.move"],
    }
    (broken,) = rows["first"]["_violations"]
    assert (broken["kind"], broken["field"], broken["value"], broken["severity"]) == (
        "lifecycle",
        "updated",
        "2",
        "error",
    )
    assert broken["message"] == "updated is the first event of its key; it needs the state published or updated"
    assert broken["contract"] == SOURCES["updated"].id
    assert rows["first"]["_given"] == '{"id":"first","places":4}'


def test_an_event_that_arrives_late_releases_its_key(spark: SparkSession) -> None:
    published = _events(spark, "id, seq, places", "('late', 1, 3, 2L, 'p', 1L)")
    updated = _events(spark, "id, seq, places", "('late', 2, 4, 1L, 'u', 1L)")

    rows = _product({"published": published, "updated": updated})

    assert (rows["late"]["_outcome"], rows["late"]["places"]) == ("valid", 4)
    assert rows["late"]["_violations"] is None
