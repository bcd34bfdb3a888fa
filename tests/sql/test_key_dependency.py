"""Which queries are computed key by key."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sql.project_cases import KEYS, cases, query
from treaty.sql.key_dependency import KeyedQuery, UnkeyedQuery, analyse_key_dependency


@pytest.mark.parametrize("case", cases("key_dependency"))
def test_a_query_is_computed_key_by_key_or_says_why_not(case: dict[str, Any]) -> None:
    keys = case.get("keys", KEYS)

    found = analyse_key_dependency(query(case["sql"]), keys)

    if "local" in case:
        assert found == KeyedQuery({name: tuple(columns) for name, columns in keys.items()}, tuple(case["local"]))
    else:
        assert isinstance(found, UnkeyedQuery), found
        assert case["spread"] in found.reason
