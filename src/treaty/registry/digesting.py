"""Digests of JSON data, independent of the order of keys."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from treaty.contracts.values import Json

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def digest_of(data: Json) -> str:
    """Return the SHA-256 of the canonical JSON of the data. Stored digests depend on it, so it must never change."""
    return hashlib.sha256(canonical_json(data)).hexdigest()


def digest_of_state(state: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a state; dates and other values that JSON does not know count as their text."""
    return digest_of(json.loads(json.dumps(state, default=str)))


def canonical_json(data: Json) -> bytes:
    """Return the data as ASCII JSON with sorted keys and without blanks."""
    return _CANONICAL.encode(data).encode()
