"""Examples of what is said when something is not possible, in the shape that the errors of a path have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from treaty.server.errors import API, UNAVAILABLE_MESSAGE
from treaty.server.middleware import NUL_IN_ADDRESS, UNSUPPORTED_MEDIA_TYPE, too_large

_REQUEST = "5f0c2a9d71e400000017"
_CONTRACT, _LINE = "users.daily_active", "users.daily_active@1"


class Trouble(NamedTuple):
    """What an error says: its code and its words."""

    code: str
    words: str


_TROUBLE: Mapping[int, Trouble] = {
    400: Trouble("conflict", f"version '1.0.0' of '{_CONTRACT}' is already registered; history does not change"),
    401: Trouble("not_signed_in", "sign in with 'Authorization: Bearer <token>'"),
    403: Trouble("not_allowed", "ci of growth-platform may not do this: none of its roles and scopes allows it"),
    404: Trouble("not_found", f"no dataset '{_CONTRACT}' is registered"),
    409: Trouble("refused", f"{_CONTRACT} 1.0.0 cannot be retired: ltv-dashboard still reads {_LINE}"),
    413: Trouble("too_large", too_large(1_000_000).message),
    415: Trouble(UNSUPPORTED_MEDIA_TYPE.code, UNSUPPORTED_MEDIA_TYPE.message),
    422: Trouble(NUL_IN_ADDRESS.code, NUL_IN_ADDRESS.message),
    503: Trouble("unavailable", UNAVAILABLE_MESSAGE),
}

_NO_LINE = Trouble("not_found", f"no line {_LINE} is registered")
_NO_NODE = Trouble("not_found", f"neither a line nor a consumer is called '{_LINE}'; find one with: treaty search")
_NO_CHANNEL = Trouble("not_found", "no channel 5; see: treaty admin channel list")
_NO_MIGRATION = Trouble("not_found", "no migration 7; see: treaty migrate status")
_NOT_PROVEN = f"the proof is not about {_CONTRACT} 1.1.0 as it stands here; prove the versions of this registry"
_STILL_READ = f"{_CONTRACT} 1.0.0 cannot be archived: churn-alerts, ltv-dashboard still need {_LINE}"
_FINAL = f"{_CONTRACT} 1.0.0 is archived and cannot become deprecated; what may follow: nothing: it is final"
_REOPENED = f"{_CONTRACT} 1.0.0 is archived and cannot become active; what may follow: nothing: it is final"
_TOO_SOON = "the sunset 2026-11-10 is less than 30 days after 2026-11-03; use 2026-12-03 or later"
_VERSION = f"{API}/contracts/{{contract}}/versions/{{version}}"
_FULL = f"{_LINE} is in sunset; it takes no new consumers: ltv-dashboard must use another line"

_UNDER: tuple[tuple[str, Mapping[int, Trouble]], ...] = (
    ("/contracts/owners", {400: Trouble("invalid", "the Decision Card has no 'buyer' object; it names who owns it")}),
    ("/contracts/{dataset_id}/versions/{version}/archive", {400: Trouble("refused", _STILL_READ)}),
    ("/contracts/{dataset_id}", {400: Trouble("refused", _FINAL)}),
    (f"{_VERSION}/activate", {409: Trouble("refused", _REOPENED)}),
    (f"{_VERSION}/deprecate", {409: Trouble("refused", _TOO_SOON)}),
    (f"{_VERSION}/archive", {409: Trouble("refused", _STILL_READ)}),
    (f"{API}/lines/{{line}}/deprecate", {404: _NO_LINE, 409: Trouble("refused", _TOO_SOON)}),
    (
        f"{API}/lines",
        {404: _NO_LINE, 409: Trouble("refused", f"{_LINE} cannot be retired: ltv-dashboard still reads {_LINE}")},
    ),
    (f"{API}/subscriptions", {404: _NO_LINE, 409: Trouble("refused", _FULL)}),
    (f"{API}/can-i-retire", {404: _NO_LINE}),
    (f"{API}/graph", {404: _NO_NODE}),
    (f"{API}/map", {404: _NO_NODE}),
    (f"{API}/waivers", {404: Trouble("not_found", "no waiver 7; see: treaty waiver list")}),
    (
        f"{API}/proposals",
        {
            404: Trouble("not_found", "no proposal 3; see: treaty proposal list"),
            409: Trouble("conflict", "proposal 3 was declined by data-stewards"),
        },
    ),
    (f"{API}/migrations/{{identity}}/proof", {404: _NO_MIGRATION, 409: Trouble("refused", _NOT_PROVEN)}),
    (f"{API}/migrations", {404: _NO_MIGRATION, 409: Trouble("conflict", "ltv-dashboard has moved already")}),
    (
        f"{API}/migration-path",
        {
            404: Trouble("not_found", f"'{_CONTRACT}' has no version '2.0.0'"),
            409: Trouble("refused", "there is no view of the old shape: ltv cannot be served; it is required"),
        },
    ),
    (f"{API}/channels", {404: _NO_CHANNEL}),
    (f"{API}/notices", {404: _NO_CHANNEL}),
    (
        f"{API}/tokens",
        {
            404: Trouble("not_found", "there is no token 'e3da3c37ff84'; list them with: treaty admin token list"),
            409: Trouble("conflict", "the name 'ci of growth-platform' is taken; choose another"),
        },
    ),
)
"""What is said elsewhere, the longer of two beginnings first."""


class Malformed(NamedTuple):
    """What cannot be read: the kind of problem, where, and its words."""

    kind: str
    where: tuple[str, ...]
    words: str


_NO_CONTRACT = "no contract: it has neither 'apiVersion' and 'schema' (ODCS) nor 'dataset_id' and 'fields' (short form)"
_DOCUMENT = Malformed("value_error", ("body",), _NO_CONTRACT)
_BODY = Malformed("extra_forbidden", ("body", "colour"), "Extra inputs are not permitted")
_CARD = Malformed("dict_type", ("body",), "Input should be a valid dictionary")
_LIMIT = Malformed("greater_than_equal", ("query", "limit"), "Input should be greater than or equal to 1")


def error_example(path: str, operation: Mapping[str, Any], status: int) -> dict[str, Any]:
    """Return what an operation answers with a status that is an error."""
    malformed = _malformed(operation) if status == 422 else None
    if malformed:
        return _of_what_cannot_be_read(path, malformed)
    under = next((told for beginning, told in _UNDER if path.startswith(beginning) and status in told), _TROUBLE)
    return _said(path, under[status])


def _malformed(operation: Mapping[str, Any]) -> Malformed | None:
    body = operation.get("requestBody", {}).get("content", {})
    if "application/yaml" in body:
        return _DOCUMENT
    if body:
        return _BODY if "$ref" in body["application/json"]["schema"] else _CARD
    asked = {one["name"] for one in operation.get("parameters", ())}
    return _LIMIT if "limit" in asked else None


def _of_what_cannot_be_read(path: str, problem: Malformed) -> dict[str, Any]:
    if not path.startswith(API):
        return {"detail": [{"type": problem.kind, "loc": list(problem.where), "msg": problem.words}]}
    where = ".".join(problem.where)
    found = {"id": problem.kind, "severity": "error", "message": problem.words, "path": where, "hint": None}
    return _said(path, Trouble("invalid", f"{where}: {problem.words}"), found)


def _said(path: str, trouble: Trouble, *findings: dict[str, Any]) -> dict[str, Any]:
    if not path.startswith(API):
        return {"detail": trouble.words}
    return {"error": trouble.code, "detail": trouble.words, "findings": list(findings), "request_id": _REQUEST}
