"""What tells two pieces of plain data apart, whatever the order of their keys."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import orjson

from treaty.contracts.values import Json

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATETIME
_EXPONENT = re.compile(rb"e(?<=[0-9]e)-?[0-9]+(?:[],}]|$)")


def digest_of(data: Json) -> str:
    """Return the SHA-256 of the data as JSON with sorted keys; history rests on it, so that it never changes."""
    return hashlib.sha256(canonical_json(data)).hexdigest()


def digest_of_state(state: Mapping[str, Any]) -> str:
    """Return the SHA-256 of how something stands; days, moments and the like count as they are written."""
    return digest_of(json.loads(json.dumps(state, default=str)))


def canonical_json(data: Json) -> bytes:
    """Return the JSON that Python's own writer makes of the data, with sorted keys and without blanks.

    A quicker writer makes the same of most data. It does not escape what is not ASCII, and has other ways to say very
    small and very large decimals; where any of that may stand, Python's own is asked.
    """
    try:
        written = orjson.dumps(data, option=_SORTED)
    except TypeError:
        written = b"\x7f"
    if not written.isascii() or b"\x7f" in written or b"0.0000" in written or _EXPONENT.search(written):
        return _CANONICAL.encode(data).encode()
    return written
