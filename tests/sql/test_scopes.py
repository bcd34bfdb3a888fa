"""Names are looked up in the same order in rules and in project queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from sqlglot import exp

from treaty.contracts.model import Field, SchemaObject
from treaty.sql.relations import Column, Output, Source, Table
from treaty.sql.scopes import AmbiguousName, ColumnMatch, QueryScope, RuleScope, RuleSource, contract_source

Tables = Mapping[str, Sequence[str]]
MakeScope = Callable[..., Any]


def _rule_scope(tables: Tables, outputs: Sequence[str] = (), outer: RuleScope | None = None) -> RuleScope:
    sources = [
        RuleSource(((alias,),), tuple(Field(name=name) for name in names), alias) for alias, names in tables.items()
    ]
    return RuleScope(tuple(sources), outer, tuple(outputs))


def _query_scope(tables: Tables, outputs: Sequence[str] = (), outer: QueryScope | None = None) -> QueryScope:
    scope = QueryScope(outer)
    for alias, names in tables.items():
        table = Table(alias, tuple(Column(name) for name in names))
        scope.add(Source(alias, table, table.columns))
    scope.outputs = [Output(Column(name), exp.Null()) for name in outputs]
    return scope


@pytest.fixture(params=[_rule_scope, _query_scope], ids=["rule", "project query"])
def make_scope(request: pytest.FixtureRequest) -> MakeScope:
    return request.param  # type: ignore[no-any-return]


def _describe(scope: Any, name: str) -> str | None:
    """Return the table, column and steps that a name refers to, such as `orders.address/city`."""
    resolved = scope.resolve(name.split("."))
    if resolved is None:
        return None
    meaning = resolved[1]
    if not isinstance(meaning, ColumnMatch):
        return f"output {meaning if isinstance(meaning, str) else meaning.column.name}"
    if isinstance(scope, RuleScope):
        source, field = meaning.column
        column = field.name
    else:
        source, number = meaning.column[0]
        column = source.columns[number].name
    return "/".join([f"{source.alias}.{column}", *meaning.steps])


def test_qualified_name_is_a_column_of_that_table(make_scope: MakeScope) -> None:
    scope = make_scope({"orders": ["id", "address"], "address": ["city"]})

    assert _describe(scope, "orders.id") == "orders.id"
    assert _describe(scope, "address.city") == "address.city"


def test_qualifier_that_is_no_table_is_a_column_with_steps(make_scope: MakeScope) -> None:
    scope = make_scope({"orders": ["id", "address"]})

    assert _describe(scope, "address.city") == "orders.address/city"
    assert _describe(scope, "orders.address.city") == "orders.address/city"


def test_case_does_not_matter(make_scope: MakeScope) -> None:
    assert _describe(make_scope({"orders": ["id"]}), "Orders.ID") == "orders.id"


def test_column_goes_before_output_of_the_same_name(make_scope: MakeScope) -> None:
    scope = make_scope({"orders": ["id"]}, ["id", "total"])

    assert _describe(scope, "id") == "orders.id"
    assert _describe(scope, "total") == "output total"


def test_outer_scope_is_searched_last(make_scope: MakeScope) -> None:
    outer = make_scope({"orders": ["id", "total", "status"]})
    scope = make_scope({"lines": ["id"]}, ["total"], outer)

    assert _describe(scope, "id") == "lines.id"
    assert _describe(scope, "total") == "output total"
    assert _describe(scope, "status") == "orders.status"
    assert _describe(scope, "missing") is None


def test_name_in_two_tables_is_ambiguous_unless_qualified(make_scope: MakeScope) -> None:
    scope = make_scope({"orders": ["id"], "lines": ["id"]}, outer=make_scope({"returns": ["id"]}))

    assert _describe(scope, "lines.id") == "lines.id"
    with pytest.raises(AmbiguousName):
        scope.resolve(["id"])


def test_contract_object_answers_to_its_stored_name_and_to_its_parts() -> None:
    source = contract_source(SchemaObject(name="orders", physical_name="shop.sales", properties=(Field(name="id"),)))
    scope = RuleScope((source,))

    for table in ("orders", "shop.sales", "sales"):
        assert scope.find_column([*table.split("."), "id"]) == ColumnMatch((source, source.fields[0]))


def test_stored_name_of_one_table_and_name_of_another_is_ambiguous() -> None:
    orders = SchemaObject(name="orders", physical_name="shop.sales", properties=(Field(name="id"),))
    sales = SchemaObject(name="sales", properties=(Field(name="id"), Field(name="day")))
    scope = RuleScope((contract_source(orders), contract_source(sales)))

    assert scope.find_column(["sales", "day"]) is not None
    with pytest.raises(AmbiguousName):
        scope.find_column(["sales", "id"])
