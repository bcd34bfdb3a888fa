"""The SQL of a rule is classified as a condition, count, aggregate or query, and rendered again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.sql.rule_cases import THINGS, cases, parse
from treaty.contracts import load
from treaty.contracts.paths import parse_path
from treaty.sql.checked_sql import AggregateMetric, RowCondition, RowCount, RuleQuery, RuleTarget
from treaty.sql.rules import parse_rule

EXAMPLES = Path(__file__).parents[2] / "examples"
_VIEWS = {"things": "v_things", "owners": "v_owners"}


@pytest.mark.parametrize("case", cases("shapes"), ids=lambda case: case["sql"])
def test_rule_has_kind_sql_and_paths(case: dict[str, Any]) -> None:
    rule = parse(case["sql"], case.get("field"))

    assert type(rule).__name__ == case["is"]
    assert _sql(rule) == case["as"]
    assert [str(path) for path in rule.paths] == [str(parse_path(path)) for path in case["reads"]]
    assert not isinstance(rule, AggregateMetric) or rule.has_distinct is case.get("distinct", False)


@pytest.mark.parametrize("case", [case for case in cases("shapes") if "columns" in case], ids=lambda case: case["sql"])
def test_fields_are_read_by_their_stored_names(case: dict[str, Any]) -> None:
    assert list(parse(case["sql"], case.get("field")).fields) == case["columns"]


def test_conditions_and_counts_are_row_level() -> None:
    levels = {
        type(rule).__name__: rule.is_row_level
        for rule in (parse(case["sql"], case.get("field")) for case in cases("shapes"))
    }

    assert levels == {"RowCondition": True, "RowCount": True, "AggregateMetric": False, "RuleQuery": False}


def test_condition_is_violated_only_where_it_is_false() -> None:
    rule = parse("n > 0")

    assert isinstance(rule, RowCondition)
    assert rule.broken == "coalesce(NOT ((`n` > 0)), false)"


def test_query_lists_the_objects_it_reads() -> None:
    rule = parse("SELECT COUNT(*) FROM things t JOIN owners o ON t.owner_id = o.id")

    assert isinstance(rule, RuleQuery)
    assert rule.tables == ("things", "owners")
    assert rule.render({"things": "a`b", "owners": "o", "more": "m"}).startswith(
        "SELECT count(*) FROM `a``b` AS `t` JOIN `o`"
    )


def test_rule_may_read_other_objects_of_the_contract() -> None:
    target = RuleTarget.of(THINGS, THINGS.schema[1])

    assert target.table_names == ("owners", "things")


@pytest.mark.parametrize("file", sorted(EXAMPLES.rglob("contracts/**/*.yaml")), ids=lambda file: file.stem)
def test_rules_of_the_examples_are_parsed(file: Path) -> None:
    contract = load(file.read_bytes(), file.name).contract
    queries = [
        (schema, rule["query"]) for schema in contract.schema for rule in schema.quality or () if "query" in rule
    ]

    assert all(
        not isinstance(parse_rule(query, RuleTarget.of(contract, schema)), RuleQuery) for schema, query in queries
    )


def _sql(rule: RowCondition | RowCount | AggregateMetric | RuleQuery) -> str:
    if isinstance(rule, RuleQuery):
        return rule.render(_VIEWS)
    return rule.expression if isinstance(rule, AggregateMetric) else rule.condition
