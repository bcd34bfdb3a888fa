"""Which queries can be computed key by key."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sql.project_cases import KEYS, cases, query
from treaty.sql.key_dependency import KeyedQuery, UnkeyedQuery, analyse_key_dependency


@pytest.mark.parametrize("case", cases("key_dependency"))
def test_query_is_keyed_or_has_a_reason(case: dict[str, Any]) -> None:
    keys = case.get("keys", KEYS)

    dependency = analyse_key_dependency(query(case["sql"]), keys)

    if "local" in case:
        assert dependency == KeyedQuery({name: tuple(columns) for name, columns in keys.items()}, tuple(case["local"]))
    else:
        assert isinstance(dependency, UnkeyedQuery), dependency
        assert case["spread"] in dependency.reason
