"""Digests: the same for the same data, today and in every log that was ever written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.strategies import json_values
from treaty.registry.documents import canonical_json, digest_of

_DECIMALS = st.floats(allow_nan=False, allow_infinity=False)


def _as_ever(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode()


@given(json_values() | _DECIMALS | st.lists(_DECIMALS) | st.dictionaries(st.text(), _DECIMALS))
@example(1e16)
@example([1e-05, 0.00015, 1e22])
@example({"b": 5e-324, "a": -0.0})
@example({"del": "\x7f", "é": "\u2028", "half": "\ud800"})
@example([2**64, -(2**70)])
@example({"hash": "9e4", "list": "1e5,"})
def test_a_digest_is_of_the_output_of_the_json_module(data: Any) -> None:
    assert canonical_json(data) == _as_ever(data)


@pytest.mark.parametrize(
    ("data", "digest"),
    [
        ({"b": 1, "a": [True, None]}, "51705a2c9eb3e7e410a58f696a770c3ac3885a0cf43eb7fc88f5e47c11d4d30d"),
        ({"lag": 1e-05, "name": "Größe"}, "09ec51e03b4f10e06e65f51dd5ab85b5416ccbe4130eeed8a2e7bbd118a21284"),
    ],
)
def test_recorded_digests_are_stable(data: Any, digest: str) -> None:
    assert digest_of(data) == digest
