"""OpenAPI declarations of bodies without a pydantic model: contracts, error responses, the service information."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from fastapi import FastAPI
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from treaty.compatibility import Mode
from treaty.registry.model import Registration
from treaty.server.errors import UNAVAILABLE_MESSAGE, DetailModel, ErrorModel, has_error_model

Responses = dict[int | str, dict[str, Any]]
_SCHEMA_REFERENCE = "#/components/schemas/{model}"

EXAMPLE_CONTRACT: dict[str, Any] = {
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
_CONTRACT_SCHEMA = {"type": "object", "title": "A contract: ODCS 3.x or the short form"}
_ENVELOPE_SCHEMA = {
    "type": "object",
    "title": "A contract and the mode to judge it under",
    "required": ["contract"],
    "properties": {
        "contract": {"type": "object"},
        "compatibility": {"type": "string", "enum": [mode.value for mode in Mode]},
    },
    "additionalProperties": False,
}
_CANDIDATE_SCHEMA = {"anyOf": [_ENVELOPE_SCHEMA, _CONTRACT_SCHEMA]}

CONTRACT_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": _CANDIDATE_SCHEMA,
                "example": {"contract": EXAMPLE_CONTRACT, "compatibility": "backward"},
            },
            "application/yaml": {"schema": _CANDIDATE_SCHEMA, "example": EXAMPLE_CONTRACT},
        },
    }
}
"""For routes that read a contract with `read_candidate`."""

DECISION_CARD_BODY: dict[str, Any] = {
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


def _in_json_and_yaml(description: str, schema: dict[str, Any], example: Any) -> Responses:
    content = {"schema": schema, "example": example}
    return {200: {"description": description, "content": {"application/json": content, "application/yaml": content}}}


def contract_response(**changes: str) -> Responses:
    """Declare a response with one contract; the changes apply to the example."""
    description = "The contract, in the form it was registered in, or in ODCS if the Accept header asks for it."
    return _in_json_and_yaml(description, _CONTRACT_SCHEMA, {**EXAMPLE_CONTRACT, **changes})


CONTRACT_LIST_RESPONSE = _in_json_and_yaml(
    "The versions, each in the form it was registered in, or in ODCS if the Accept header asks for it.",
    {"type": "array", "items": _CONTRACT_SCHEMA},
    [EXAMPLE_CONTRACT],
)
ORIGINAL_DOCUMENT_RESPONSE = _in_json_and_yaml("The document as submitted.", _CONTRACT_SCHEMA, EXAMPLE_CONTRACT)


def _json_example(example: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"example": example}}}


_BREAKING_REPORT = {
    "compatible": False,
    "mode": "backward",
    "issues": [
        {
            "severity": "error",
            "field": "ltv",
            "kind": "field_removed",
            "message": "field 'ltv' was removed; old data will fail validation",
        }
    ],
}
REGISTRATION_RESPONSES: Responses = {
    201: {
        "description": "The version is registered.",
        **_json_example(
            {
                "status": "registered",
                "dataset_id": "users.daily_active",
                "version": "1.0.0",
                "compatibility": {"compatible": True, "mode": "backward", "issues": []},
            }
        ),
    },
    202: {
        "description": "The version is a breaking change and waits for approval.",
        "model": Registration,
        **_json_example(
            {
                "status": "proposed",
                "dataset_id": "users.daily_active",
                "version": "2.0.0",
                "compatibility": _BREAKING_REPORT,
                "proposal": 3,
                "waits_for": ["churn-alerts"],
            }
        ),
    },
    422: {
        "description": "The document is invalid, or the version is refused; the detail lists all issues.",
        **_json_example({"detail": _BREAKING_REPORT}),
    },
}


REPEATABLE_REGISTRATION_RESPONSES: Responses = {
    200: {
        "description": "The same document was registered before; nothing changed.",
        "model": Registration,
        "content": REGISTRATION_RESPONSES[201]["content"],
    },
    201: REGISTRATION_RESPONSES[201],
    202: REGISTRATION_RESPONSES[202],
}
"""Without the 422 of the first API, whose detail has another shape."""


def front_page_responses(info: dict[str, Any]) -> Responses:
    """Declare the responses at the root: JSON for programs, HTML for browsers."""
    page = {"text/html": {"schema": {"type": "string"}, "example": '<!doctype html>\n<html lang="en">…</html>'}}
    return {
        200: {
            "description": "Information about the service; for browsers, the catalog.",
            "content": {"application/json": {"example": info}, **page},
        },
        303: {"description": "Redirects a browser to the sign-in page."},
        **{status: {"content": page} for status in (403, 413, 422, 429, 503)},
    }


class _Error(NamedTuple):
    description: str
    code: str
    message: str


_ERRORS = {
    400: _Error("Conflicts with the current state.", "conflict", "version '1.0.0' is already registered"),
    401: _Error("Missing or invalid credentials.", "not_signed_in", "sign in with 'Authorization: Bearer <token>'"),
    403: _Error("The credentials do not allow this.", "not_allowed", "ci may not register: it lacks the scope write"),
    404: _Error("Not found.", "not_found", "'users.daily_active' has no version '9.0.0'"),
    408: _Error("The body did not arrive in time.", "timeout", "the body did not arrive within 30 seconds"),
    409: _Error("Conflicts with the current state.", "refused", "ltv-dashboard still reads users.daily_active@1"),
    410: _Error("No longer served.", "gone", "users.daily_active@1 is retired; read users.daily_active@2 instead"),
    413: _Error("The body is too large.", "too_large", "the body is larger than 1,000,000 bytes"),
    415: _Error(
        "The body is neither JSON nor YAML.", "unsupported_media_type", "send application/json or application/yaml"
    ),
    422: _Error("The request is invalid.", "invalid", "the address contains a NUL character"),
    429: _Error(
        "Too many requests; the header Retry-After has the seconds to wait.",
        "too_many_requests",
        "too many expensive requests; try again in 2 s",
    ),
    503: _Error("Temporarily unavailable; nothing was acknowledged.", "unavailable", UNAVAILABLE_MESSAGE),
}


def error_responses(statuses: Iterable[int], prefix: str) -> Responses:
    """Declare error responses in the shape of the routes under a prefix, each with an example."""
    return {status: _error_response(_ERRORS[status], prefix) for status in sorted(statuses)}


def merge_responses(defaults: Responses, declared: Responses) -> Responses:
    """Add what a route declares to the defaults; its own words and examples take precedence."""
    merged = dict(defaults)
    for status, response in declared.items():
        default = defaults.get(status, {})
        content = dict(default.get("content", {}))
        for media, described in response.get("content", {}).items():
            content[media] = {**content.get(media, {}), **described}
        merged[status] = {**default, **response, **({"content": content} if content else {})}
    return merged


def _error_response(error: _Error, prefix: str) -> dict[str, Any]:
    """Declare a response by a reference to its schema: a model on each response of each route would be built again."""
    example: dict[str, Any] = {"detail": error.message}
    model: type[BaseModel] = DetailModel
    if has_error_model(prefix):
        model = ErrorModel
        example = {"error": error.code, **example, "findings": [], "request_id": "5f0c2a9d71e400000017"}
    schema = {"$ref": _SCHEMA_REFERENCE.format(model=model.__name__)}
    return {
        "description": error.description,
        "content": {"application/json": {"schema": schema, "example": example}},
    }


class DescribedApi(FastAPI):
    """An application whose OpenAPI document has the schemas that error responses refer to."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        if self.openapi_schema is None:
            document = super().openapi()
            _, errors = models_json_schema(
                [(ErrorModel, "serialization"), (DetailModel, "serialization")], ref_template=_SCHEMA_REFERENCE
            )
            document["components"]["schemas"].update(errors["$defs"])
        assert self.openapi_schema is not None  # noqa: S101
        return self.openapi_schema
