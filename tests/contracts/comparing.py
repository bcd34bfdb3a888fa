"""Comparing documents as JSON: whatever the order of keys, and never taking true for 1."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from treaty.contracts import Contract
from treaty.contracts.values import thaw


def as_json(value: Any) -> str:
    """Return one text for the same document."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False)


def same_contract(one: Contract, other: Contract) -> bool:
    """Tell whether two contracts say the same, in whatever order their blocks stand."""
    bare = [replace(contract, custom_properties=None, plain_keys=()) for contract in (one, other)]
    carried = [sorted(as_json(thaw(entry)) for entry in contract.custom_properties or ()) for contract in (one, other)]
    return bare[0] == bare[1] and carried[0] == carried[1] and set(one.plain_keys) == set(other.plain_keys)
