"""A rule's SQL is recognized as a condition, a count, an aggregate or a query, and written anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.sql.rule_cases import THINGS, cases, read
from treaty.contracts import load
from treaty.contracts.paths import parse_path
from treaty.sql.checked_sql import AggregateMetric, RowCondition, RowCount, RuleQuery, RuleTarget
from treaty.sql.rules import parse_rule

EXAMPLES = Path(__file__).parents[2] / "examples"
_VIEWS = {"things": "v_things", "owners": "v_owners"}


@pytest.mark.parametrize("case", cases("shapes"), ids=lambda case: case["sql"])
def test_a_rule_is_what_it_asks_for(case: dict[str, Any]) -> None:
    found = read(case["sql"], case.get("field"))

    assert type(found).__name__ == case["is"]
    assert _sql(found) == case["as"]
    assert [str(path) for path in found.paths] == [str(parse_path(path)) for path in case["reads"]]
    assert not isinstance(found, AggregateMetric) or found.has_distinct is case.get("distinct", False)


@pytest.mark.parametrize("case", [case for case in cases("shapes") if "columns" in case], ids=lambda case: case["sql"])
def test_columns_have_their_names_in_the_data(case: dict[str, Any]) -> None:
    assert list(read(case["sql"], case.get("field")).fields) == case["columns"]


def test_only_conditions_and_counts_are_of_single_rows() -> None:
    levels = {
        type(found).__name__: found.is_row_level
        for found in (read(case["sql"], case.get("field")) for case in cases("shapes"))
    }

    assert levels == {"RowCondition": True, "RowCount": True, "AggregateMetric": False, "RuleQuery": False}


def test_a_row_breaks_a_condition_only_where_it_is_false() -> None:
    found = read("n > 0")

    assert isinstance(found, RowCondition)
    assert found.broken == "coalesce(NOT ((`n` > 0)), false)"


def test_a_query_names_the_objects_it_reads() -> None:
    found = read("SELECT COUNT(*) FROM things t JOIN owners o ON t.owner_id = o.id")

    assert isinstance(found, RuleQuery)
    assert found.tables == ("things", "owners")
    assert found.render({"things": "a`b", "owners": "o", "more": "m"}).startswith(
        "SELECT count(*) FROM `a``b` AS `t` JOIN `o`"
    )


def test_the_scope_of_a_rule_knows_the_other_objects() -> None:
    scope = RuleTarget.of(THINGS, THINGS.schema[1])

    assert scope.table_names == ("owners", "things")


@pytest.mark.parametrize("file", sorted(EXAMPLES.rglob("contracts/**/*.yaml")), ids=lambda file: file.stem)
def test_every_rule_of_the_examples_can_be_read(file: Path) -> None:
    contract = load(file.read_bytes(), file.name).contract
    rules = [(item, rule["query"]) for item in contract.schema for rule in item.quality or () if "query" in rule]

    assert all(not isinstance(parse_rule(query, RuleTarget.of(contract, item)), RuleQuery) for item, query in rules)


def _sql(found: RowCondition | RowCount | AggregateMetric | RuleQuery) -> str:
    if isinstance(found, RuleQuery):
        return found.render(_VIEWS)
    return found.expression if isinstance(found, AggregateMetric) else found.condition
