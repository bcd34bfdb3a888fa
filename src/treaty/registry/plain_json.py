"""Contract documents as JSON text."""

from __future__ import annotations

import json

from treaty.contracts.values import Json


def as_json(data: Json) -> bytes:
    """Write a document as UTF-8; halves of surrogate pairs pass, so that checks of names and texts can refuse them."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
