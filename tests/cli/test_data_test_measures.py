"""A test of data records in the registry what it measured, if the contract is registered."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from tests.registry.offers import ORDERS, orders
from treaty.cli.data_test_measures import measure_test, record_test
from treaty.contracts import contract_from
from treaty.contracts.findings import Severity
from treaty.errors import Unavailable
from treaty.registry.service import Registry
from treaty.spark.measures import Measures, RuleMeasure
from treaty.spark.report import TestReport as DataReport
from treaty.spark.report.data_test import SchemaDifference
from treaty.spark.rules import Kind, Rule
from treaty.spark.semantic_measures import MeasuredValue

AT = datetime.now(UTC)
RESULTS = (
    RuleMeasure(Rule("required:amount", Kind.REQUIRED, "amount", "must have a value"), False, violating_rows=3),
    RuleMeasure(Rule("unique:id", Kind.UNIQUE, "id", "must be unique"), False, violating_rows=2),
    RuleMeasure(Rule("freshness:at", Kind.FRESHNESS, "at", "", counts_rows=False), True, value=90.5),
)
REPORT = DataReport(
    "orders.parquet",
    Measures(ORDERS, "1.0.0", "orders", 100, 95, RESULTS, (), AT, (MeasuredValue("unpaid_pct", 2.5),)),
    (
        SchemaDifference("coupon", "field_added", Severity.WARNING, None, "string", ""),
        SchemaDifference("amount", "field_type_widened", Severity.INFO, "int", "long", ""),
    ),
)


def test_a_test_measures_rows_rules_drift_and_declared_measures() -> None:
    contract = contract_from({"apiVersion": "v3.2.0", "kind": "DataContract", "id": "o", "version": "2.0.0"})
    taken = measure_test(REPORT, contract)

    assert {measure.contract for measure in taken} == {"o@2"}
    assert {measure.at for measure in taken} == {AT}
    assert {measure.name: measure.value for measure in taken} == {
        "rows_in": 100.0,
        "volume": 95.0,
        "quarantined_rows": 5.0,
        "quarantined_share": 5.0,
        "validity": 95.0,
        "freshness": 90.5,
        "duplicates": 2.0,
        "schema_drift": 1.0,
        "unpaid_pct": 2.5,
    }
    details = {measure.name: dict(measure.details) for measure in taken}
    assert details["quarantined_share"] == {
        "rules": {"required:amount": 3.0, "unique:id": 2.0},
        "test": "orders.parquet",
    }
    assert details["schema_drift"]["fields"] == ["coupon"]


def test_the_registry_stores_what_a_test_measured(tmp_path: Path) -> None:
    place = str(tmp_path / "registry.db")
    with Registry.open(place) as registry:
        registry.register(orders())
    contract = contract_from(orders())

    assert record_test(REPORT, contract, lambda: Registry.open(place)) is None
    with Registry.open(place) as registry:
        stored = {one.name: one.value for one in registry.measures.current(contract=ORDERS).items}
    assert (stored["volume"], stored["quarantined_share"]) == (95.0, 5.0)


def test_a_contract_that_is_not_registered_records_nothing(tmp_path: Path) -> None:
    place = str(tmp_path / "registry.db")
    other = contract_from({"apiVersion": "v3.2.0", "kind": "DataContract", "id": "other", "version": "1.0.0"})

    assert record_test(REPORT, other, lambda: Registry.open(place)) is None
    with Registry.open(place) as registry:
        assert registry.measures.current().items == []


def test_an_unreachable_registry_is_a_warning() -> None:
    def down() -> Registry:
        raise Unavailable("no registry can be reached at http://registry.example.org")

    contract = contract_from({"apiVersion": "v3.2.0", "kind": "DataContract", "id": "o", "version": "1.0.0"})
    problem = record_test(REPORT, contract, down)

    assert problem is not None
    assert problem.startswith("the test ended, but its measures were not recorded: no registry can be reached")
