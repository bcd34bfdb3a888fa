"""Shims on rows: an old query runs unchanged, and proofs count violations and differences."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.documents import CASES, contract
from treaty.compatibility.migration import Fidelity, MigrationDirection, MigrationPath, migration_path, view_sql
from treaty.compatibility.migration.proof import FieldProof, Proof
from treaty.contracts.loader import contract_from
from treaty.errors import InvalidDocument
from treaty.spark.migration import apply_shim, prove
from treaty.spark.migration.proof import GivenRows
from treaty.sql.rules import guard_sql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOW = datetime(2026, 3, 1, tzinfo=UTC)
STORY = yaml.safe_load((CASES / "migrations" / "customers.yaml").read_text(encoding="utf-8"))
NEW_ROWS = """
    SELECT CAST(1 AS BIGINT) customer_id, 'Ada' first_name, 'Smith' last_name, 'ada@example.org' email, 10 points,
      'active' status, named_struct('street', 'Main St', 'postcode', '12345') address,
      array(named_struct('article', 'a-1', 'amount', CAST(9.99 AS DECIMAL(12,2)))) orders
    UNION ALL
    SELECT CAST(3000000000 AS BIGINT), 'Bob', 'Jones', NULL, 0, 'closed', NULL, NULL
"""


def _story() -> MigrationPath:
    return migration_path(contract_from(STORY["before"]), contract_from(STORY["after"]), guard_sql)


@pytest.fixture(scope="module")
def proof(spark: SparkSession) -> Proof:
    return prove(spark, _story(), NOW, rows=40)


def _field(proof: Proof, way: MigrationDirection, name: str) -> FieldProof:
    (shim,) = [one for one in proof.shims if one.way is way]
    return next(one for one in shim.fields if one.field == name)


def test_the_old_consumers_query_runs_unchanged_on_the_view(spark: SparkSession) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.customers_v2")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.customers_v1")
    spark.sql(NEW_ROWS).writeTo("lake.customers_v2.customers").createOrReplace()

    back = _story().objects[0].back
    spark.sql(view_sql(back, ("lake", "customers_v1", "customers"), ("lake", "customers_v2", "customers")))

    rows = spark.sql(
        "SELECT customer_id, full_name, mail, points, fax, status, address.zip, orders[0].sku, orders[0].amount "
        "FROM lake.customers_v1.customers ORDER BY full_name"
    ).collect()
    assert [tuple(row) for row in rows] == [
        (1, "Ada Smith", "ada@example.org", 10, None, "A", "12345", "a-1", Decimal("9.99")),
        (None, "Bob Jones", None, 0, None, "C", None, None, None),
    ]


def test_the_declared_migration_is_proven(proof: Proof) -> None:
    assert proof.holds
    assert list(proof.failures) == []
    for way in MigrationDirection:
        (shim,) = [one for one in proof.shims if one.way is way]
        leaves = {
            name: message for name, message in STORY[way.value].items() if name not in ("address", "orders", "orders[]")
        }
        assert {one.field: one.fidelity.value for one in shim.fields} == leaves


def test_exact_fields_survive_the_round_trip(proof: Proof) -> None:
    for name in ("full_name", "mail", "status", "address.zip", "orders[].sku"):
        field = _field(proof, MigrationDirection.BACK, name)
        assert (field.must_return, field.differing, field.broken) == (True, 0, 0)


def test_lost_values_are_counted(proof: Proof) -> None:
    narrowed, dropped = (
        _field(proof, MigrationDirection.FORWARD, "points"),
        _field(proof, MigrationDirection.BACK, "fax"),
    )

    assert narrowed.fidelity is Fidelity.LOSSY
    assert (narrowed.broken or 0) > 0
    assert (dropped.fidelity, dropped.must_return) == (Fidelity.IMPOSSIBLE, False)
    assert (dropped.differing or 0) > 0


def test_a_proof_names_its_versions_and_rows(proof: Proof) -> None:
    data = proof.as_data()

    assert (data["before"]["version"], data["after"]["version"], data["at"]) == ("1.4.0", "2.0.0", NOW.isoformat())
    assert len(data["shims_digest"]) == len(data["before"]["digest"]) == 64
    assert data["shims"][0]["rows"]["used"] == 40


def test_a_false_claim_is_not_proven(spark: SparkSession) -> None:
    full = {
        "name": "full",
        "logicalType": "string",
        "required": True,
        "logicalTypeOptions": {"pattern": "^[a-z]+ [a-z]+$"},
    }
    first = {**full, "name": "first", "logicalTypeOptions": {"pattern": "^[a-z]+$"}}
    moves = [{"from": "full", "to": "first", "sql": "split_part(full, ' ', 1)", "back": "first", "exact": True}]
    plan = {"guide": "g", "window": "9 d", "owner": "o", "fields": moves}
    after = contract({"version": "2.0.0", "fields": [first], "migration": plan})

    found = prove(spark, migration_path(contract([full]), after, guard_sql), NOW, rows=20)

    assert not found.holds
    assert {(shim.way, one.field) for shim, one in found.failures} == {(MigrationDirection.BACK, "full")}
    field = _field(found, MigrationDirection.BACK, "full")
    assert (field.must_return, field.differing, field.broken) == (True, 20, 20)


def test_given_rows_that_violate_their_contract_are_left_out(spark: SparkSession) -> None:
    before = contract([{"name": "n", "logicalType": "integer", "required": True}])
    after = contract({"version": "2.0.0", "fields": [{"name": "n", "logicalType": "string", "required": True}]})
    rows = spark.createDataFrame([("1",), ("x",), (None,)], "n string")

    found = prove(
        spark, migration_path(before, after), NOW, given={MigrationDirection.BACK: GivenRows(rows, "rows.csv")}, rows=5
    )

    back = found.shims[0]
    assert back.rows is not None
    assert (back.rows.origin, back.rows.given, back.rows.used, back.conforming) == ("rows.csv", 3, 2, 1)


def test_a_blocked_shim_is_not_proven(spark: SparkSession) -> None:
    before = contract([{"name": "a", "logicalType": "string", "required": True}])
    after = contract({"version": "2.0.0", "fields": [{"name": "b", "logicalType": "string"}]})

    found = prove(spark, migration_path(before, after), NOW, rows=5)

    assert (found.holds, found.shims[0].blocked, found.shims[0].rows) == (False, ("a",), None)


KINDS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (
        {"logicalType": "map", "map": {"key": {"logicalType": "integer"}, "value": {"logicalType": "integer"}}},
        {"logicalType": "map", "map": {"key": {"logicalType": "string"}, "value": {"logicalType": "string"}}},
        "exact",
    ),
    ({"logicalType": "date"}, {"logicalType": "timestamp"}, "exact"),
    (
        {"logicalType": "array", "items": {"logicalType": "array", "items": {"logicalType": "integer"}}},
        {"logicalType": "array", "items": {"logicalType": "array", "items": {"logicalType": "string"}}},
        "exact",
    ),
    ({"logicalType": "boolean"}, {"logicalType": "integer"}, "exact"),
]


def test_every_kind_of_expression_runs(spark: SparkSession) -> None:
    before = [{"name": f"f{place}", **old} for place, (old, _, _) in enumerate(KINDS)]
    after = [{"name": f"f{place}", **new} for place, (_, new, _) in enumerate(KINDS)]
    path = migration_path(contract(before), contract({"version": "2.0.0", "fields": after}))

    found = prove(spark, path, NOW, rows=30)

    forward = found.shims[1]
    assert {one.fidelity.value for one in forward.fields} == {"exact"}
    assert [(one.field, one.broken) for one in forward.fields if one.broken] == []


@pytest.mark.parametrize(
    "sql", ["reflect('java.lang.System', 'getenv', 'HOME')", "(SELECT max(a) FROM orders)", "b", "a; DROP TABLE x"]
)
def test_sql_outside_the_allow_list_is_refused(sql: str) -> None:
    plan = {"guide": "g", "window": "9 d", "owner": "o", "fields": [{"field": "a", "sql": sql}]}
    fields = [{"name": "a", "logicalType": "string"}]

    with pytest.raises(InvalidDocument, match="the SQL that migration declares over orders"):
        migration_path(contract(fields), contract({"version": "2.0.0", "fields": fields, "migration": plan}), guard_sql)


def test_a_shim_that_spark_rejects_gives_a_clear_error(spark: SparkSession) -> None:
    path = migration_path(
        contract([{"name": "a", "logicalType": "date"}]),
        contract({"version": "2.0.0", "fields": [{"name": "a", "logicalType": "timestamp"}]}),
    )
    other: DataFrame = spark.createDataFrame([(date(2026, 1, 1),)], "b date")

    with pytest.raises(InvalidDocument, match="Spark cannot compute the new schema from rows of the old line"):
        apply_shim(other, path.objects[0].forward)
