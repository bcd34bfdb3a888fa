"""The application of the schema registry: its routes and errors in the shape that Kafka clients expect."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from treaty.errors import TreatyError
from treaty.registry.access.tokens import redact
from treaty.schema_registry.contract_versions import Governance
from treaty.schema_registry.errors import SchemaRegistryError
from treaty.schema_registry.schema_cache import SchemaCache
from treaty.schema_registry.usage import UsageRecorder
from treaty.server.errors import error_status
from treaty.server.rate_limits import TooManyRequests
from treaty.server.routes.schema_registry import ROUTES
from treaty.server.routes.schema_registry.schema_answers import MEDIA_TYPE
from treaty.server.schema_registry_paths import PREFIX, SchemaRegistryPaths

_BACKEND_ERROR = 50001


@dataclass(frozen=True)
class SchemaRegistryParts:
    """What all requests to the schema registry share."""

    cache: SchemaCache
    usage: UsageRecorder
    governance: Governance = Governance.OBSERVE


def mount_schema_registry(app: FastAPI, parts: SchemaRegistryParts) -> None:
    """Mount the schema registry below `/schema-registry`; it uses the state of the application."""
    inner = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    inner.state = app.state
    app.state.schema_registry = parts
    for routes in ROUTES:
        inner.include_router(routes.router)
    inner.add_exception_handler(TreatyError, _treaty_error)
    inner.add_exception_handler(RequestValidationError, _validation_error)
    inner.add_exception_handler(HTTPException, _http_error)
    app.mount(PREFIX, SchemaRegistryPaths(inner))


def _error(code: int, message: str, status: int | None = None, headers: dict[str, str] | None = None) -> JSONResponse:
    body = {"error_code": code, "message": redact(message)}
    status = status or (code if code < 1_000 else code // 100)
    return JSONResponse(body, status, headers, media_type=MEDIA_TYPE)


def _treaty_error(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, SchemaRegistryError):
        return _error(error.code, str(error))
    status, _, message = error_status(request, error)
    headers = {401: {"WWW-Authenticate": 'Basic realm="schema registry", Bearer'}, 503: {"Retry-After": "2"}}.get(
        status
    )
    if isinstance(error, TooManyRequests):
        headers = {"Retry-After": str(error.retry_after)}
    return _error(_BACKEND_ERROR if status >= 500 else status, message, status, headers)


def _validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    first = error.errors()[0]
    return _error(422, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")


def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101
    message = f"HTTP {error.status_code} {error.detail}"
    return _error(error.status_code, message, headers=dict(error.headers or {}))
