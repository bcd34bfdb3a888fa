"""SQL for catalogs: metadata of a contract as comments, tags and properties, safe for any text."""

from __future__ import annotations

import re
from typing import Any

import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from tests.documents import contract
from treaty.errors import InvalidDocument
from treaty.formats.catalog_sql import quote_text, write_polaris_sql, write_unity_sql

ORDERS: dict[str, Any] = {
    "id": "shop.orders",
    "version": "1.2.0",
    "domain": "sales",
    "description": {"purpose": "One row per order."},
    "slaProperties": [{"property": "freshness", "value": 4, "unit": "h"}],
    "servers": [{"server": "lake", "type": "databricks", "host": "x", "catalog": "main", "schema": "gold"}],
    "schema": [
        {
            "name": "orders",
            "physicalName": "orders_v1",
            "tags": ["core-data"],
            "properties": [
                {"name": "order_id", "logicalType": "string", "primaryKey": True,
                 "description": "Identifies an order."},
                {"name": "email", "logicalType": "string", "classification": "restricted",
                 "description": "It's theirs."},
                {"name": "address", "logicalType": "object", "properties": [
                    {"name": "city", "logicalType": "string", "classification": "restricted",
                     "description": "Where."}]},
            ],
        }
    ],
}  # fmt: skip


def test_unity_gets_comments_and_tags() -> None:
    written = write_unity_sql(contract(ORDERS))

    assert written.text.splitlines() == [
        "COMMENT ON TABLE `main`.`gold`.`orders_v1` IS 'One row per order.';",
        "ALTER TABLE `main`.`gold`.`orders_v1` SET TAGS ('treaty_contract' = 'shop.orders', "
        "'treaty_version' = '1.2.0', 'treaty_status' = 'active', 'treaty_owner' = 'checkout (#checkout)', "
        "'treaty_domain' = 'sales', "
        "'treaty_freshness' = '4 h', 'core_data' = '');",
        "COMMENT ON COLUMN `main`.`gold`.`orders_v1`.`order_id` IS 'Identifies an order.';",
        "ALTER TABLE `main`.`gold`.`orders_v1` ALTER COLUMN `order_id` SET TAGS ('treaty_primary_key' = 'true');",
        "COMMENT ON COLUMN `main`.`gold`.`orders_v1`.`email` IS 'It\\'s theirs.';",
        "ALTER TABLE `main`.`gold`.`orders_v1` ALTER COLUMN `email` SET TAGS ('classification' = 'restricted');",
    ]
    assert [str(loss) for loss in written.losses] == [
        "orders.address.city: classification restricted (a catalog classifies columns, not their parts)",
        "orders.address.city: the description (a catalog describes columns, not their parts)",
    ]


def test_polaris_gets_the_properties_of_a_publication_and_comments() -> None:
    written = write_polaris_sql(contract(ORDERS))

    properties, *columns = written.text.splitlines()
    assert properties.startswith(
        "ALTER TABLE `main`.`gold`.`orders_v1` SET TBLPROPERTIES ('treaty.contract' = 'shop.orders', "
        "'treaty.version' = '1.2.0', 'treaty.status' = 'active', "
    )
    assert "'treaty.owner' = 'checkout (#checkout)'" in properties
    assert """'treaty.classifications' = '{"email": "restricted"}'""" in properties
    assert columns == [
        "ALTER TABLE `main`.`gold`.`orders_v1` ALTER COLUMN `order_id` COMMENT 'Identifies an order.';",
        "ALTER TABLE `main`.`gold`.`orders_v1` ALTER COLUMN `email` COMMENT 'It\\'s theirs.';",
    ]


def _tokens(text: str) -> list[str]:
    return [token.text for token in sqlglot.tokenize(text, read="databricks")]


@settings(max_examples=60)
@given(st.text(max_size=40))
def test_any_text_is_one_literal(text: str) -> None:
    literal = quote_text(text)

    (token,) = sqlglot.tokenize(literal, read="databricks")
    assert token.token_type is sqlglot.TokenType.STRING
    assert "${" not in literal
    assert literal.isprintable()
    assert _unescape(literal[1:-1]) == text


def _unescape(body: str) -> str:
    """Return the text of a literal as Spark reads it."""
    names = {"n": "\n", "r": "\r", "t": "\t"}

    def value(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        return chr(int(code, 16)) if code else names.get(match[3], match[3])

    return re.sub(r"\\(?:u([0-9a-f]{4})|U([0-9a-f]{8})|(.))", value, body)


@settings(max_examples=25)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_statements_stay_what_they_are_with_any_description(text: str) -> None:
    case = {**ORDERS, "description": {"purpose": f"a {text}"}, "schema": [{
        "name": "orders",
        "properties": [{"name": "id", "logicalType": "string", "description": f"b {text}"}]}]}  # fmt: skip

    parsed = sqlglot.parse(write_unity_sql(contract(case)).text, read="databricks")

    assert [type(one) for one in parsed] == [exp.Comment, exp.Alter, exp.Comment]


def test_the_statements_for_columns_are_one_command_each() -> None:
    """The parser keeps these two statements as commands, so their tokens are compared."""
    unity, polaris = (write(contract(ORDERS)).text for write in (write_unity_sql, write_polaris_sql))

    assert _tokens(unity.splitlines()[3]) == [
        *("ALTER", "TABLE", "main", ".", "gold", ".", "orders_v1", "ALTER", "COLUMN", "order_id"),
        *("SET", "TAGS", "(", "treaty_primary_key", "=", "true", ")", ";"),
    ]
    assert _tokens(polaris.splitlines()[2])[-3:] == ["COMMENT", "It's theirs.", ";"]


def test_a_name_of_several_parts_needs_no_server() -> None:
    case = {"schema": [{"name": "orders", "physicalName": "a.b`c.d", "properties": []}]}

    assert "ALTER TABLE `a`.`b``c`.`d` SET TAGS" in write_unity_sql(contract(case)).text


@pytest.mark.parametrize(("table", "column"), [("main..orders", "id"), ("orders", "a\nb"), ("orders", "${env:HOME}")])
def test_a_name_that_is_not_safe_in_sql_is_refused(table: str, column: str) -> None:
    fields = [{"name": "id", "physicalName": column, "logicalType": "string", "description": "x"}]

    with pytest.raises(InvalidDocument, match="cannot be written in SQL"):
        write_unity_sql(contract({"schema": [{"name": "orders", "physicalName": table, "properties": fields}]}))


def test_long_values_are_cut_and_named() -> None:
    objects = [{"name": "o", "tags": [f"t{number}" for number in range(60)], "properties": []}]
    case = {**ORDERS, "domain": "d" * 1_200, "schema": objects}

    written = write_unity_sql(contract(case))

    assert "d" * 1_001 not in written.text
    assert str(written.losses[0]) == "o: the end of the tag treaty_domain (a tag has at most 1,000 characters)"
    assert [loss.what for loss in written.losses[1:]] == [f"the tag t{n}" for n in range(44, 60)]


def test_a_contract_without_objects_has_no_table() -> None:
    with pytest.raises(InvalidDocument, match="orders has no schema objects"):
        write_polaris_sql(contract({"tier": "enterprise"}))
