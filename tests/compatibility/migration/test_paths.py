"""The way over, field by field: by which SQL each is made, how faithfully, and why not more so."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.documents import CASES, contract
from treaty.compatibility.migration import Fidelity, MigrationPath, Shim, migration_path, projection, view_sql
from treaty.contracts.loader import contract_from
from treaty.contracts.sql_quoting import line_comment
from treaty.errors import InvalidDocument, Refused

FIELDS = yaml.safe_load((CASES / "migrations" / "fields.yaml").read_text(encoding="utf-8"))
STORY = yaml.safe_load((CASES / "migrations" / "customers.yaml").read_text(encoding="utf-8"))
PLAN = {"guide": "https://wiki.example/move", "window": "60 d", "owner": "checkout"}


def way(before: list[Any], after: list[Any], moves: list[Any] | None = None) -> MigrationPath:
    """Return the way between two lists of fields."""
    plan = {**PLAN, "fields": moves} if moves else PLAN
    return migration_path(
        contract({"fields": before}), contract({"version": "2.0.0", "fields": after, "migration": plan})
    )


@pytest.mark.parametrize("case", FIELDS, ids=lambda case: case["case"])
@pytest.mark.parametrize("direction", ["forward", "back"])
def test_a_field_is_converted_as_its_case_says(case: dict[str, Any], direction: str) -> None:
    path = way(case["before"], case["after"], case.get("moves"))

    shim: Shim = getattr(path.objects[0], direction)

    assert {str(step.target): [step.fidelity, step.sql] for step in shim.walk()} == {
        name: [Fidelity(said[0]), said[1]] for name, said in case[direction].items()
    }
    for step in shim.walk():
        said = case[direction][str(step.target)]
        assert (said[2] if len(said) > 2 else "") in step.reason


@pytest.mark.parametrize("direction", ["forward", "back"])
def test_the_story_has_the_stated_fidelity(direction: str) -> None:
    path = migration_path(contract_from(STORY["before"]), contract_from(STORY["after"]))

    shim: Shim = getattr(path.objects[0], direction)

    assert {str(step.target): step.fidelity.value for step in shim.walk()} == STORY[direction]


def test_there_is_no_view_without_a_required_field() -> None:
    path = way([{"name": "a", "logicalType": "string", "required": True}], [{"name": "b", "logicalType": "string"}])

    with pytest.raises(Refused, match=r"no value for a; the new line has no such field.*declare back_default"):
        view_sql(path.objects[0].back, ("v",), ("t",))


def test_unchecked_sql_is_in_no_view() -> None:
    path = migration_path(contract_from(STORY["before"]), contract_from(STORY["after"]))

    with pytest.raises(InvalidDocument, match="declared for full_name was not checked"):
        projection(path.objects[0].back)


def test_a_view_names_its_tables_and_says_what_is_lost() -> None:
    path = way([{"name": "n", "logicalType": "integer"}], [{"name": "n", "logicalType": "string"}])

    sql = view_sql(path.objects[0].back, ("lake", "orders_v1", "orders"), ("lake", "orders_v2", "orders"))

    assert sql.splitlines() == [
        "CREATE OR REPLACE VIEW `lake`.`orders_v1`.`orders` AS",
        "SELECT",
        "  TRY_CAST(`n` AS INT) AS `n` -- lossy: string → integer: invalid texts become NULL",
        "FROM `lake`.`orders_v2`.`orders`",
    ]


def test_a_comment_ends_with_its_line_and_replaces_nothing() -> None:
    assert line_comment("a\nDROP TABLE x ${env:HOME}") == "-- a DROP TABLE x $ {env:HOME}"


WRONG: dict[str, tuple[list[Any], str]] = {
    "a field that the old line does not have": (
        [{"from": "nam", "back_default": "x"}],
        r"migration.fields\[0\]: 'nam' is not a field of orders 1.0.0; its fields: name",
    ),
    "two entries for one field": (
        [{"to": "name", "default": "x"}, {"to": "name", "default": "y"}],
        r"fields\[0\] and migration.fields\[1\] both map name",
    ),
    "a default of another type": ([{"to": "n", "default": "x"}], "'x' is not a valid integer"),
    "a number that is too large": ([{"to": "n", "default": 2**31}], "is not a valid integer"),
    "SQL inside a list": ([{"to": "l[].a", "sql": "1"}], "l\\[\\].a is inside a list or map"),
    "a move out of a list": ([{"from": "l[].a", "to": "name"}], "must come from the same list or map"),
}


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_an_impossible_migration_block_is_refused(wrong: str) -> None:
    moves, said = WRONG[wrong]
    item = {"logicalType": "object", "properties": [{"name": "a", "logicalType": "string"}]}
    fields = [
        {"name": "name", "logicalType": "string"},
        {"name": "n", "logicalType": "integer"},
        {"name": "l", "logicalType": "array", "items": item},
    ]

    with pytest.raises(InvalidDocument, match=said):
        way(fields, fields, moves)


def test_the_migration_block_of_an_earlier_line_is_ignored() -> None:
    before = contract_from(STORY["after"])
    after = contract_from({**STORY["after"], "version": "2.1.0"})

    assert migration_path(before, after).fidelity is Fidelity.EXACT


def test_a_name_that_spark_would_replace_is_refused() -> None:
    with pytest.raises(InvalidDocument, match="which Spark would substitute"):
        way([{"name": "${env:HOME}", "logicalType": "string"}], [{"name": "${env:HOME}", "logicalType": "string"}])
