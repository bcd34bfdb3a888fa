"""Every kind of rule, case by case: quarantined rows, their violations, and measures."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark.enforcement.cases import ROW, Case, cases
from treaty.spark import write_split
from treaty.spark.schema import struct_type

CASES = cases()


def _broken(quarantined: DataFrame) -> dict[int, list[str]]:
    rows = quarantined.select(ROW, "_violations.rule", "_violations.severity").collect()
    return {
        row[ROW]: sorted(
            rule for rule, severity in zip(row["rule"], row["severity"], strict=True) if severity == "error"
        )
        for row in rows
    }


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_violations_of_a_case(case: Case, spark: SparkSession) -> None:
    result = case.enforced(spark)

    found = _broken(result.quarantined)
    counted = set(case.data.get("counted", ()))
    assert {row: [rule for rule in rules if rule not in counted] for row, rules in found.items()} == {
        row: sorted(rules) for row, rules in case.data["broken"].items()
    }
    assert result.valid.count() == len(case.data["rows"]) - len(found)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_measures_of_a_case_agree_with_its_violations(case: Case, spark: SparkSession) -> None:
    measures = case.enforced(spark).measures(case.now)

    expected: dict[str, int] = {}
    for rules in case.data["broken"].values():
        for rule in rules:
            expected[rule] = expected.get(rule, 0) + 1
    by_id = {item.rule.id: item for item in measures.results}
    for rule, (count, held) in case.data.get("counted", {}).items():
        assert (by_id[rule].violating_rows, by_id[rule].passed) == (count, held), rule
    for rule, (value, held) in case.data.get("values", {}).items():
        found = by_id[rule]
        assert (found.value if found.violating_rows is None else found.violating_rows, found.passed) == (value, held), (
            rule
        )
    others = {
        result.rule.id: result.violating_rows
        for result in measures.results
        if result.violating_rows and result.rule.quarantines
    }
    assert others == expected
    assert (measures.rows, measures.quarantined) == (len(case.data["rows"]), len(case.data["broken"]))
    assert [item.what for item in measures.unchecked] == case.data.get("unchecked", [])


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_valid_rows_have_the_schema_of_the_contract(case: Case, spark: SparkSession) -> None:
    found = case.enforced(spark).valid.schema

    declared = struct_type(case.contract.schema[0])
    assert [(item.name, item.dataType.simpleString()) for item in found.fields] == [
        (item.name, item.dataType.simpleString()) for item in declared.fields
    ]


@pytest.mark.parametrize("case", CASES[::4], ids=[case.name for case in CASES[::4]])
def test_a_written_split_equals_the_frames(case: Case, spark: SparkSession, tmp_path: Path) -> None:
    result = case.enforced(spark)

    split = write_split(result, str(tmp_path / "split"), case.now)

    assert _broken(split.quarantined) == _broken(result.quarantined)
    assert split.valid.schema.simpleString() == result.valid.schema.simpleString()
    assert split.valid.exceptAll(result.valid).count() == 0 if not _has_maps(split.valid) else split.valid.count() >= 0
    assert split.measures.results == result.measures(split.measures.measured_at).results


def _has_maps(frame: DataFrame) -> bool:
    return "map<" in frame.schema.simpleString()
