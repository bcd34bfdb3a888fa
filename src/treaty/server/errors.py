"""Every error as a status and one JSON shape; on the paths of the first API, its own shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts
from pydantic import AfterValidator, BaseModel
from starlette.exceptions import HTTPException

from treaty.errors import (
    Conflict,
    InvalidDocument,
    NotAllowed,
    NotFound,
    Refused,
    TreatyError,
    Unavailable,
    WithFindings,
)
from treaty.registry.access.actors import Unknown
from treaty.registry.access.tokens import redact
from treaty.registry.decision_card import BadCard
from treaty.registry.model.page import BadCursor
from treaty.registry.service.registration import VersionRefused

API = "/api/v1"

STATUS: dict[type[TreatyError], tuple[int, str]] = {
    InvalidDocument: (422, "invalid"),
    NotFound: (404, "not_found"),
    Conflict: (409, "conflict"),
    Refused: (409, "refused"),
    Unknown: (401, "not_signed_in"),
    NotAllowed: (403, "not_allowed"),
    Unavailable: (503, "unavailable"),
    BadCard: (400, "invalid"),
}
"""Which status an error has; the first that it is an instance of, the nearest class first."""

FIRST_API_STATUS = {409: 400}
"""Where the first API has a status of its own."""

_LOG = structlog.get_logger("treaty.server")
UNAVAILABLE_MESSAGE = (
    "the registry cannot reach what it needs just now; nothing was acknowledged; try again in a moment"
)
_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large", 415: "unsupported_media_type"}


_BODY = ("body",)
_MOST_FINDINGS = 500
"""Fewer than a reader of documents looks for, so that it is known when there are more."""

RedactedText = Annotated[str, AfterValidator(redact)]
"""A text without the secrets of tokens that somebody put into it."""


class FindingModel(BaseModel):
    """One thing that is wrong, and where."""

    id: str
    severity: str
    message: RedactedText
    path: RedactedText | None = None
    hint: RedactedText | None = None


class ErrorModel(BaseModel):
    """What went wrong, in words for whoever asked."""

    error: str
    detail: str
    findings: list[FindingModel] = []
    request_id: str


class DetailModel(BaseModel):
    """What went wrong, as the first API says it."""

    detail: Any


def add_error_handlers(app: FastAPI) -> None:
    """Let every error become an answer."""
    app.add_exception_handler(TreatyError, treaty_error_response)
    app.add_exception_handler(RequestValidationError, validation_error_response)
    app.add_exception_handler(HTTPException, http_error_response)


def error_response(
    request: Request, status: int, code: str, message: str, findings: Sequence[FindingModel] = ()
) -> JSONResponse:
    """Return an error in the one shape, or as the first API says it on its paths."""
    message = redact(message)
    headers = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "2"}}.get(status)
    if not request.url.path.startswith(API):
        return JSONResponse({"detail": message}, status, headers)
    body = ErrorModel(error=code, detail=message, findings=list(findings), request_id=request.state.request_id)
    return JSONResponse(body.model_dump(), status, headers)


def error_status(request: Request, error: Exception) -> tuple[int, str, str]:
    """Return the status and code of an error of ours, and its words; what is out of reach is told to the log only."""
    kind = next(one for one in type(error).__mro__ if one in STATUS or one is TreatyError)
    status, code = STATUS.get(kind, (500, "failed"))
    if isinstance(error, Unavailable):
        _LOG.warning("unavailable", request_id=request.state.request_id, reason=redact(str(error)))
        return status, code, UNAVAILABLE_MESSAGE
    return status, code, str(error)


def treaty_error_response(request: Request, error: Exception) -> JSONResponse:
    """Return what is said to an error of ours."""
    status, code, words = error_status(request, error)
    first_api = not request.url.path.startswith(API)
    if first_api and isinstance(error, NotFound):  # whose words are fixed, and say nothing of what to do instead
        words = error.what
    if isinstance(error, VersionRefused):
        if first_api:
            return JSONResponse({"detail": error.report.model_dump(mode="json")}, 422)
        status = 422
    elif first_api and isinstance(error, InvalidDocument) and error.findings:
        said = [_as_fastapi_says(one.message, one.hint) for one in error.findings[:_MOST_FINDINGS]]
        return JSONResponse({"detail": [*said, *map(_as_fastapi_says, _rest(error.findings))]}, 422)
    elif first_api:
        status = FIRST_API_STATUS.get(status, status)
        if status == 422:
            where = ("query", "cursor") if isinstance(error, BadCursor) else _BODY
            return JSONResponse({"detail": [_as_fastapi_says(words, where=where)]}, 422)
    return error_response(request, status, code, words, _findings(error))


def _findings(error: Exception) -> list[FindingModel]:
    found = error.findings if isinstance(error, WithFindings) else ()
    models = [
        FindingModel(id=one.id, severity=one.severity.value, message=one.message, path=one.path, hint=one.hint)
        for one in found[:_MOST_FINDINGS]
    ]
    models += [FindingModel(id="more", severity="error", message=words) for words in _rest(found)]
    if isinstance(error, VersionRefused):
        models += [
            FindingModel(id=one.kind, severity=one.severity, message=one.message, path=one.field)
            for one in error.report.issues
        ]
    return models


def _rest(found: Sequence[object]) -> list[str]:
    """Say how many findings are left out of an answer."""
    left = len(found) - _MOST_FINDINGS
    return [f"and at least {left:,} more"] if left > 0 else []


def _as_fastapi_says(message: str, hint: str | None = None, where: Sequence[str] = _BODY) -> dict[str, Any]:
    return {"type": "value_error", "loc": list(where), "msg": redact(f"{message}; {hint}" if hint else message)}


def validation_error_response(request: Request, error: Exception) -> JSONResponse:
    """Return what is said to a request that cannot be read."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    found = error.errors()
    problems = [
        {"type": one["type"], "loc": [redact(str(step)) for step in one["loc"]], "msg": redact(one["msg"])}
        for one in found[:_MOST_FINDINGS]
    ]
    problems += map(_as_fastapi_says, _rest(found))
    if not request.url.path.startswith(API):
        return JSONResponse({"detail": problems}, 422)
    findings = [
        FindingModel(id=one["type"], severity="error", message=one["msg"], path=".".join(one["loc"]))
        for one in problems
    ]
    words = "; ".join(f"{one.path}: {one.message}" for one in findings[:5])
    return error_response(request, 422, "invalid", words, findings)


def http_error_response(request: Request, error: Exception) -> JSONResponse:
    """Return what is said to an error of the framework."""
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 400 and request.url.path.startswith(
        API
    ):  # what the framework says to bytes that are no text
        return error_response(request, 422, "invalid", "the body cannot be read; send JSON in UTF-8")
    response = error_response(request, error.status_code, _CODES.get(error.status_code, "failed"), str(error.detail))
    response.headers.update(error.headers or {})
    if error.status_code == 405:
        response.headers["Allow"] = ", ".join(_methods_at(request))
    return response


def _methods_at(request: Request) -> list[str]:
    """Return what may be done at a path; a route by itself knows of its own method only."""
    path = request.scope["path"]
    found = (one.methods or () for one in iter_route_contexts(request.app.routes) if one.path_regex.match(path))
    return sorted({method for methods in found for method in methods})
