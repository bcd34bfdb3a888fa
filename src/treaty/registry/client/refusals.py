"""Answers that are none: each status and code becomes the error that a local registry raises."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from treaty.contracts.findings import Finding, Severity
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
from treaty.registry.report import CompatibilityIssue, CompatibilityReport

BY_CODE: dict[str, type[TreatyError]] = {
    "invalid": InvalidDocument,
    "too_large": InvalidDocument,
    "unsupported_media_type": InvalidDocument,
    "not_found": NotFound,
    "conflict": Conflict,
    "refused": Refused,
    "not_signed_in": NotAllowed,
    "not_allowed": NotAllowed,
    "unavailable": Unavailable,
}
"""Which error a code stands for; statuses alone do not tell a conflict from a refusal."""

BY_STATUS: dict[int, type[TreatyError]] = {
    400: Conflict,  # the first API's word for a version that is registered already
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    413: InvalidDocument,
    415: InvalidDocument,
    422: InvalidDocument,
    503: Unavailable,
}
"""Which error a status stands for on the paths of the first API, which has no codes."""

_REFUSED = " is refused under "


def refusal(address: str, status: int, content: bytes) -> TreatyError:
    """Return the error that an answer stands for."""
    if 300 <= status < 400:
        return Unavailable(f"{address} sends its visitors elsewhere, and a token goes nowhere else; use that address")
    said = _said(content)
    if said is None or "detail" not in said:
        return Unavailable(f"{address} answered {status}, and not as a registry does; check the address")
    detail = said["detail"]
    if isinstance(detail, Mapping):
        return _refused_version("the version", detail)
    kind = BY_CODE.get(str(said.get("error")), BY_STATUS.get(status))
    if kind is None:
        return Unavailable(f"{address} made a mistake ({status}): {detail}{_request(said)}")
    findings = tuple(_findings(said.get("findings") or (detail if isinstance(detail, list) else ())))
    words = "; ".join(one.message for one in findings) if isinstance(detail, list) else str(detail)
    if kind is Refused and status == 422:
        return _refused_again(words, findings)
    if kind is Unavailable:
        return Unavailable(f"{address} cannot answer now: {words}")
    return kind(words, findings) if issubclass(kind, WithFindings) else kind(words)


def _said(content: bytes) -> dict[str, Any] | None:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _findings(entries: Sequence[Any]) -> Iterator[Finding]:
    """Read findings, in the one shape or as the first API lists them."""
    for one in entries:
        if isinstance(one, Mapping):
            message, severity = str(one.get("message", one.get("msg", ""))), one.get("severity")
            known = Severity(severity) if severity in tuple(Severity) else Severity.ERROR
            identity = str(one.get("id", one.get("type", "invalid-document")))
            yield Finding(identity, known, message, one.get("path"), hint=one.get("hint"))


def _refused_version(subject: str, report: Mapping[str, Any]) -> TreatyError:
    from treaty.registry.registering import VersionRefused  # it loads the database's packages

    return VersionRefused(subject, CompatibilityReport.model_validate({**report, "admissible": False}, extra="ignore"))


def _refused_again(words: str, findings: tuple[Finding, ...]) -> TreatyError:
    """Put the report of a refused version together again from the one shape."""
    subject, _, mode = words.partition("\n")[0].rpartition(_REFUSED)
    issues = [
        CompatibilityIssue(
            severity="error" if one.severity is Severity.ERROR else "warning",
            field=one.path,
            kind=one.id,
            message=one.message,
        )
        for one in findings
    ]
    report = {"compatible": not any(one.severity == "error" for one in issues), "mode": mode, "issues": issues}
    return _refused_version(subject, report)


def _request(said: Mapping[str, Any]) -> str:
    return f" (request {said['request_id']})" if said.get("request_id") else ""
