"""Examples and request schemas of what is read by hand rather than by a model."""

from __future__ import annotations

from typing import Any

from treaty.compatibility import Mode

SHORT_FORM: dict[str, Any] = {
    "dataset_id": "users.daily_active",
    "version": "1.0.0",
    "status": "active",
    "owners": [{"team": "growth-platform", "contact": "#growth-platform"}],
    "fields": [
        {"name": "user_id", "type": "string"},
        {"name": "plan", "type": "string", "enum": ["free", "pro", "enterprise"]},
        {"name": "ltv", "type": "number", "required": False},
    ],
    "primary_key": ["user_id"],
}

_MODE = {"type": "string", "enum": [mode.value for mode in Mode]}
_ENVELOPE = {
    "type": "object",
    "title": "A contract and the mode it is judged under",
    "required": ["contract"],
    "properties": {"contract": {"type": "object"}, "compatibility": _MODE},
    "additionalProperties": False,
    "example": {"contract": SHORT_FORM, "compatibility": "backward"},
}
_BARE = {"type": "object", "title": "A contract: ODCS 3.x or the short form", "example": SHORT_FORM}

CANDIDATE_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"anyOf": [_ENVELOPE, _BARE]}, "example": _ENVELOPE["example"]},
            "application/yaml": {"schema": {"anyOf": [_ENVELOPE, _BARE]}, "example": SHORT_FORM},
        },
    }
}

DECISION_CARD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["buyer"],
                    "properties": {
                        "buyer": {
                            "type": "object",
                            "required": ["name"],
                            "properties": {
                                "name": {"type": "string", "pattern": "\\S"},
                                "contact": {"type": ["string", "null"]},
                            },
                        },
                        "decision_maker": {
                            "type": ["object", "null"],
                            "properties": {
                                "role": {"type": ["string", "null"], "pattern": "\\S"},
                                "name": {"type": ["string", "null"]},
                            },
                        },
                    },
                },
                "example": {
                    "buyer": {"name": "Springfield USD", "contact": "#data-platform"},
                    "decision_maker": {"role": "Director of Data", "name": "the director"},
                },
            }
        },
    }
}
