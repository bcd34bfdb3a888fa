"""Which queries are computed key by key."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pipeline.sql.cases import KEYS, cases, query
from treaty.pipeline.sql import Local, Spread, locality


@pytest.mark.parametrize("case", cases("locality"))
def test_a_query_is_computed_key_by_key_or_says_why_not(case: dict[str, Any]) -> None:
    keys = case.get("keys", KEYS)

    found = locality(query(case["sql"]), keys)

    if "local" in case:
        assert found == Local({name: tuple(columns) for name, columns in keys.items()}, tuple(case["local"]))
    else:
        assert isinstance(found, Spread), found
        assert case["spread"] in found.reason
