"""Which queries can be computed key by key."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sql.project_cases import KEYS, cases, query
from treaty.sql.key_dependency import KeyedQuery, UnkeyedQuery, analyse_key_dependency
from treaty.sql.row_keys import row_key


@pytest.mark.parametrize("case", cases("key_dependency"))
def test_query_is_keyed_or_has_a_reason(case: dict[str, Any]) -> None:
    keys = case.get("keys", KEYS)

    dependency = analyse_key_dependency(query(case["sql"]), keys)

    if "local" in case:
        assert dependency == KeyedQuery({name: tuple(columns) for name, columns in keys.items()}, tuple(case["local"]))
    else:
        assert isinstance(dependency, UnkeyedQuery), dependency
        assert case["spread"] in dependency.reason


@pytest.mark.parametrize(
    ("sql", "key"),
    [
        ("SELECT order_id AS id, amount FROM orders", ("id",)),
        ("SELECT amount FROM orders", ()),
        ("SELECT weight, sum(amount) AS total FROM orders GROUP BY weight", ("weight",)),
        ("SELECT upper(line) AS l, count(*) AS n FROM orders GROUP BY 1", ("l",)),
        ("WITH c AS (SELECT line, max(weight) AS w FROM orders GROUP BY line) SELECT w, line AS x FROM c", ("x",)),
        ("SELECT coalesce(o.order_id, p.order_id) AS id FROM orders o FULL JOIN payments p USING (order_id)", ("id",)),
        (
            "WITH n AS (SELECT *, row_number() OVER (PARTITION BY weight ORDER BY amount) AS place FROM orders) "
            "SELECT order_id, weight FROM n WHERE place = 1",
            ("weight",),
        ),
        ("SELECT order_id, explode(array(1, 2)) AS x FROM orders", ()),
        ("SELECT order_id FROM orders UNION ALL SELECT order_id FROM orders", ("order_id",)),
    ],
)
def test_the_key_of_a_draft_follows_from_the_sql(sql: str, key: tuple[str, ...]) -> None:
    assert row_key(query(sql), {"orders": ("order_id",), "payments": ("payment_id",)}) == key
