"""Examples and schemas of what is read or written by hand rather than by a model."""

from __future__ import annotations

from typing import Any

from treaty.compatibility import Mode
from treaty.registry.model import Registration

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
_DOCUMENT = {"type": "object", "title": "A contract: ODCS 3.x or the short form"}
_BARE = {**_DOCUMENT, "example": SHORT_FORM}

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

_OR_ODCS = "or in ODCS where Accept asks for application/odcs+json or application/odcs+yaml."


def _in_both_notations(description: str, schema: dict[str, Any], example: Any) -> dict[int | str, dict[str, Any]]:
    content = {"schema": schema, "example": example}
    return {200: {"description": description, "content": {"application/json": content, "application/yaml": content}}}


def _document(**changes: str) -> dict[int | str, dict[str, Any]]:
    said = f"The contract, in the form it was registered in, {_OR_ODCS}"
    return _in_both_notations(said, _DOCUMENT, {**SHORT_FORM, **changes})


DOCUMENT = _document()
DEPRECATED = _document(status="deprecated", deprecation_uri="https://wiki.example.org/move-to-v2")
ARCHIVED = _document(status="archived", deprecation_uri="https://wiki.example.org/move-to-v2")
DOCUMENTS = _in_both_notations(
    f"The versions, each in the form it was registered in, {_OR_ODCS}",
    {"type": "array", "items": _DOCUMENT},
    [SHORT_FORM],
)
AS_HANDED_IN = _in_both_notations("As handed in.", _DOCUMENT, SHORT_FORM)

_REMOVED = {
    "severity": "error",
    "field": "ltv",
    "kind": "field_removed",
    "message": "field 'ltv' was removed; old data will fail validation",
}
_BREAKING = {"compatible": False, "mode": "backward", "issues": [_REMOVED]}


def _in_json(example: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"example": example}}}


REGISTERED: dict[int | str, dict[str, Any]] = {
    201: _in_json(
        {
            "status": "registered",
            "dataset_id": "users.daily_active",
            "version": "1.0.0",
            "compatibility": {"compatible": True, "mode": "backward", "issues": []},
        }
    ),
    202: {
        "description": "A breaking change that waits for somebody's approval.",
        "model": Registration,
        **_in_json(
            {
                "status": "proposed",
                "dataset_id": "users.daily_active",
                "version": "2.0.0",
                "compatibility": _BREAKING,
                "proposal": 3,
                "waits_for": ["churn-alerts"],
            }
        ),
    },
    422: _in_json({"detail": _BREAKING}),
}
"""What becomes of a version that is handed in: it is registered, waits, or is refused with every issue."""

_PAGE = {"text/html": {"schema": {"type": "string"}, "example": '<!doctype html>\n<html lang="en">…</html>'}}


def front_answers(info: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    """Declare what is answered at the front: words for programs, pages for browsers."""
    return {
        200: {
            "description": "What this is; the catalog for a browser.",
            "content": {**_in_json(info)["content"], **_PAGE},
        },
        303: {"description": "A browser whose visitor has to sign in first is led there."},
        **{status: {"content": _PAGE} for status in (403, 413, 422, 503)},
    }
