"""What tells two pieces of plain data apart, whatever the order of their keys."""

from __future__ import annotations

import hashlib
import json

from treaty.contracts.values import Json

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def digest_of(data: Json) -> str:
    """Return the SHA-256 of the data as JSON with sorted keys; history rests on it, so that it never changes."""
    return hashlib.sha256(_CANONICAL.encode(data).encode()).hexdigest()
