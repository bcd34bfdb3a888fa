"""Error responses: one JSON shape under /api/v1, and `{"detail": …}` on the paths of the first API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts
from pydantic import AfterValidator, BaseModel, Field
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
from treaty.registry.access.actors import NotAuthenticated
from treaty.registry.access.tokens import redact
from treaty.registry.model.page import BadCursor
from treaty.registry.not_found import ContractNotFound
from treaty.registry.report import VersionRefused
from treaty.registry.service.data_readers import LineRetired
from treaty.server.rate_limits import TooManyRequests
from treaty.server.request_documents import BadCard

API = "/api/v1"
DATA = "/data"
"""The path of the rows of publications; its errors have the shape of those of the API."""

STATUS: dict[type[TreatyError], tuple[int, str]] = {
    InvalidDocument: (422, "invalid"),
    NotFound: (404, "not_found"),
    Conflict: (409, "conflict"),
    Refused: (409, "refused"),
    NotAuthenticated: (401, "not_signed_in"),
    NotAllowed: (403, "not_allowed"),
    Unavailable: (503, "unavailable"),
    LineRetired: (410, "gone"),
    BadCard: (400, "invalid"),
    TooManyRequests: (429, "too_many_requests"),
}
"""The status and code of each error class; the closest class in the hierarchy applies."""

FIRST_API_STATUS = {409: 400}
"""Statuses that differ on the paths of the first API."""

_LOG = structlog.get_logger("treaty.server")
UNAVAILABLE_MESSAGE = "the registry is temporarily unavailable; nothing was acknowledged; try again in a moment"
_CODES = {404: "not_found", 405: "method_not_allowed", 408: "timeout", 413: "too_large", 415: "unsupported_media_type"}
_BODY = ("body",)
MAX_FINDINGS = 500
"""Fewer than a document reader reports, so that it is known whether there are more."""

RedactedText = Annotated[str, AfterValidator(redact)]
"""A text with the secrets of tokens removed."""


class FindingModel(BaseModel):
    """One problem and its place."""

    id: str
    severity: str
    message: RedactedText
    path: RedactedText | None = None
    hint: RedactedText | None = None


class ErrorModel(BaseModel):
    """An error under /api/v1."""

    error: str
    detail: str
    findings: list[FindingModel] = []
    contract: RedactedText | None = Field(
        default=None, description="The id that is not registered, if that is the error."
    )
    request_id: str


class DetailModel(BaseModel):
    """An error on the paths of the first API."""

    detail: Any


def add_error_handlers(app: FastAPI) -> None:
    """Turn every error of a route into a response."""
    app.add_exception_handler(TreatyError, treaty_error_response)
    app.add_exception_handler(RequestValidationError, validation_error_response)
    app.add_exception_handler(HTTPException, http_error_response)


def has_error_model(path: str) -> bool:
    """Return whether errors at a path, or below a prefix, have the shape of the API; others have only a detail."""
    return path.startswith((API, f"{DATA}/", "/openapi/")) or path == DATA


def error_response(
    request: Request,
    status: int,
    code: str,
    message: str,
    findings: Sequence[FindingModel] = (),
    unregistered: str | None = None,
) -> JSONResponse:
    """Return an error in the shape of its path."""
    message = redact(message)
    headers = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "2"}}.get(status)
    if not has_error_model(request.url.path):
        return JSONResponse({"detail": message}, status, headers)
    body = ErrorModel(
        error=code,
        detail=message,
        findings=list(findings),
        contract=unregistered,
        request_id=request.state.request_id,
    )
    return JSONResponse(body.model_dump(exclude={"contract"} if unregistered is None else None), status, headers)


def error_status(request: Request, error: Exception) -> tuple[int, str, str]:
    """Return the status, code and message of an error; the reason for an outage goes to the log only."""
    kind = next(base for base in type(error).__mro__ if base in STATUS or base is TreatyError)
    status, code = STATUS.get(kind, (500, "failed"))
    if kind is Unavailable:
        _LOG.warning("unavailable", request_id=request.state.request_id, reason=redact(str(error)))
        return status, code, UNAVAILABLE_MESSAGE
    return status, code, str(error)


def _first_api_not_found(error: NotFound) -> str:
    return f"no dataset {error.contract!r} is registered" if isinstance(error, ContractNotFound) else error.what


def treaty_error_response(request: Request, error: Exception) -> JSONResponse:
    """Return the response to an error of the library."""
    status, code, message = error_status(request, error)
    first_api = not has_error_model(request.url.path)
    if first_api and isinstance(error, NotFound):  # its messages are fixed and have no hints
        message = _first_api_not_found(error)
    if isinstance(error, VersionRefused):
        if first_api:
            return JSONResponse({"detail": error.report.model_dump(mode="json")}, 422)
        status = 422
    elif first_api and isinstance(error, InvalidDocument) and error.findings:
        details = [_validation_detail(finding.message, finding.hint) for finding in error.findings[:MAX_FINDINGS]]
        return JSONResponse({"detail": [*details, *map(_validation_detail, _format_rest(error.findings))]}, 422)
    elif first_api:
        status = FIRST_API_STATUS.get(status, status)
        if status == 422:
            location = ("query", "cursor") if isinstance(error, BadCursor) else _BODY
            return JSONResponse({"detail": [_validation_detail(message, location=location)]}, 422)
    unregistered = error.contract if isinstance(error, ContractNotFound) else None
    response = error_response(request, status, code, message, _findings(error), unregistered)
    if isinstance(error, TooManyRequests):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def _findings(error: Exception) -> list[FindingModel]:
    findings = error.findings if isinstance(error, WithFindings) else ()
    models = [
        FindingModel(
            id=finding.id,
            severity=finding.severity.value,
            message=finding.message,
            path=finding.path,
            hint=finding.hint,
        )
        for finding in findings[:MAX_FINDINGS]
    ]
    models += [FindingModel(id="more", severity="error", message=message) for message in _format_rest(findings)]
    if isinstance(error, VersionRefused):
        models += [
            FindingModel(id=issue.kind, severity=issue.severity, message=issue.message, path=issue.field)
            for issue in error.report.issues
        ]
    return models


def _format_rest(findings: Sequence[object]) -> list[str]:
    """Return a message with the number of findings left out of a response, if any."""
    left_out = len(findings) - MAX_FINDINGS
    return [f"and at least {left_out:,} more"] if left_out > 0 else []


def _validation_detail(message: str, hint: str | None = None, location: Sequence[str] = _BODY) -> dict[str, Any]:
    """Return a problem in the shape of FastAPI's own validation errors."""
    return {"type": "value_error", "loc": list(location), "msg": redact(f"{message}; {hint}" if hint else message)}


def validation_error_response(request: Request, error: Exception) -> JSONResponse:
    """Return the response to a request that does not match its schema."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    errors = error.errors()
    problems = [
        {"type": item["type"], "loc": [redact(str(step)) for step in item["loc"]], "msg": redact(item["msg"])}
        for item in errors[:MAX_FINDINGS]
    ]
    problems += map(_validation_detail, _format_rest(errors))
    if not has_error_model(request.url.path):
        return JSONResponse({"detail": problems}, 422)
    findings = [
        FindingModel(id=problem["type"], severity="error", message=problem["msg"], path=".".join(problem["loc"]))
        for problem in problems
    ]
    message = "; ".join(f"{finding.path}: {finding.message}" for finding in findings[:5])
    return error_response(request, 422, "invalid", message, findings)


def http_error_response(request: Request, error: Exception) -> JSONResponse:
    """Return the response to an error of the framework."""
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 400 and has_error_model(request.url.path):  # a body that is not UTF-8
        return error_response(request, 422, "invalid", "the body cannot be read; send JSON in UTF-8")
    response = error_response(request, error.status_code, _CODES.get(error.status_code, "failed"), str(error.detail))
    response.headers.update(error.headers or {})
    if error.status_code == 405:
        response.headers["Allow"] = ", ".join(_methods_at(request))
    return response


def _methods_at(request: Request) -> list[str]:
    """Return all methods of a path; each route knows only its own."""
    path = request.scope["path"]
    routes = [route for route in iter_route_contexts(request.app.routes) if route.path_regex.match(path)]
    return sorted({method for route in routes for method in route.methods or ()})
