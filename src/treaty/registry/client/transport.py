"""Requests to a registry and its errors: reads are retried, writes are sent once."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError

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
from treaty.registry.client.requests import RequestBody, json_body, registry_address
from treaty.registry.not_found import ContractNotFound
from treaty.registry.report import CompatibilityIssue, CompatibilityReport, VersionRefused
from treaty.tracing import trace_headers

if TYPE_CHECKING:
    import httpx2


T = TypeVar("T")
Parameters = Mapping[str, str | int | None]

PAUSES = (0.2, 0.8)
"""Seconds to wait before each retry."""

MAX_RETRY_AFTER_S = 60.0
"""The longest wait that a registry may ask for with the header Retry-After."""

RATE_LIMITED_ATTEMPTS = 5
"""How often a request is sent that the registry refuses as one too many."""

_NOT_NOW, _TOO_MANY = 503, 429
_KEPT_OPEN = 3.0
"""Keep-alive in seconds: shorter than that of servers, so that no request meets a closing connection."""


class NotNow(Unavailable):
    """The registry cannot be reached, and nothing was done."""

    retry_after = 0.0
    """Seconds to wait at least before the next attempt."""


class RateLimited(NotNow):
    """The registry refused the request because there were too many, and nothing was done."""


class Interrupted(NotNow):
    """No response came, so that it is unknown whether the request was carried out."""


class Transport:
    """The connection to one registry; the token is sent only there and never shown."""

    def __init__(
        self,
        url: str,
        token: str | None,
        timeout: float,
        transport: httpx2.BaseTransport | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.address = registry_address(url)
        self._timeout = timeout
        self._pause = pause
        self._asked: dict[str, str] = {}
        self._http = _package()
        headers = {"Accept": "application/json", "User-Agent": "treaty"}
        if token is not None:
            headers["Authorization"] = f"Bearer {_checked(token)}"
        self._client = self._http.Client(
            headers=headers,
            timeout=timeout,
            transport=transport,
            limits=self._http.Limits(keepalive_expiry=_KEPT_OPEN),
            follow_redirects=False,
            trust_env=True,  # proxies
        )

    def __repr__(self) -> str:
        """Return the address without the token."""
        return f"Wire({self.address!r})"

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, path: str, answer: type[T], parameters: Parameters | None = None) -> T:
        """Send a GET request and parse the response."""
        return self.read(self.fetch(path, parameters), answer)

    def fetch(self, path: str, parameters: Parameters | None = None) -> httpx2.Response:
        """Send a GET request and return the response."""
        return self._again("GET", path, {**(parameters or {}), **self._asked} or None, None)

    def asking_at(self, now: datetime) -> Transport:
        """Return the same connection for GET requests about another time; other requests are refused."""
        asking = copy(self)
        asking._asked = {"now": now.isoformat()}
        return asking

    def ask(self, path: str, answer: type[T], question: RequestBody) -> T:
        """Send a POST request that changes nothing, and parse the response."""
        return self.read(self._again("POST", path, None, question), answer)

    def change(
        self,
        method: str,
        path: str,
        answer: type[T],
        values: Mapping[str, Any] | None = None,
        parameters: Parameters | None = None,
    ) -> T:
        """Send a request that changes something once, and parse the response."""
        body = json_body(values) if values is not None else None
        return self.read(self.send(method, path, parameters, body), answer)

    def send(
        self, method: str, path: str, parameters: Parameters | None = None, body: RequestBody | None = None
    ) -> httpx2.Response:
        """Send one request and return the response; raise the same errors as a local registry.

        A request that is refused as one too many was not carried out; it is sent again after the requested time.
        """
        if self._asked and method != "GET":
            raise InvalidDocument(f"the registry is shown as at {self._asked['now']}; nothing can be changed then")
        for _ in range(RATE_LIMITED_ATTEMPTS - 1):
            try:
                return self._send_once(method, path, parameters, body)
            except RateLimited as error:
                if error.retry_after > MAX_RETRY_AFTER_S:
                    raise Unavailable(str(error)) from None
                self._pause(error.retry_after)
        return self._send_once(method, path, parameters, body)

    def _send_once(
        self, method: str, path: str, parameters: Parameters | None, body: RequestBody | None
    ) -> httpx2.Response:
        query = {name: value for name, value in (parameters or {}).items() if value is not None}
        headers = {**trace_headers(), **({"Content-Type": body.media} if body else {})}
        content = body.content if body else None
        try:
            response: httpx2.Response = self._client.request(
                method, self.address + path, params=query, content=content, headers=headers
            )
        except self._http.TransportError as error:
            self._raise(error, method)
        except (self._http.InvalidURL, UnicodeEncodeError):
            raise InvalidDocument("the request path or query is too long, or has an unpaired surrogate") from None
        if response.is_success:
            return response
        refused = refusal(self.address, response.status_code, response.content)
        if response.status_code in _RETRIED:
            later = _RETRIED[response.status_code](str(refused))
            later.retry_after = _seconds(response.headers.get("Retry-After"))
            raise later
        raise refused

    def read(self, response: httpx2.Response, answer: type[T]) -> T:
        """Parse a response; fields that a later version adds are ignored."""
        try:
            return _adapter(answer).validate_json(response.content, extra="ignore")
        except ValidationError:
            raise Unavailable(
                f"{self.address} did not answer as a registry of this version does; check the address and its version"
            ) from None

    def pauses(self) -> Callable[[NotNow], bool]:
        """Return a function that waits before the next attempt, and returns whether there is one."""
        left = list(PAUSES)

        def wait(error: NotNow) -> bool:
            if not left or isinstance(error, RateLimited):
                return False
            self._pause(min(max(left.pop(0), error.retry_after), MAX_RETRY_AFTER_S))
            return True

        return wait

    def _again(
        self, method: str, path: str, parameters: Parameters | None, body: RequestBody | None
    ) -> httpx2.Response:
        wait = self.pauses()
        while True:
            try:
                return self.send(method, path, parameters, body)
            except NotNow as error:
                if not wait(error):
                    raise

    def _raise(self, error: Exception, method: str) -> NoReturn:
        http = self._http
        before = (http.ConnectError, http.ConnectTimeout, http.PoolTimeout, http.UnsupportedProtocol, http.ProxyError)
        if isinstance(error, before):
            raise NotNow(
                f"no registry can be reached at {self.address}: {_connection_failure(error)};"
                " check the address and that the server is running, or start one with: treaty serve"
            ) from None
        slow = isinstance(error, http.TimeoutException)
        why = f"did not answer within {self._timeout:g} seconds" if slow else "broke off before it answered"
        then = "try again" if method == "GET" else "it may have been done all the same: look before you do it again"
        raise Interrupted(f"{self.address} {why}; {then}") from None


_RETRIED: dict[int, type[NotNow]] = {_NOT_NOW: Interrupted, _TOO_MANY: RateLimited}


def _seconds(retry_after: str | None) -> float:
    """Return the seconds of a Retry-After header; 0 without one, or if it is a date."""
    return float(retry_after) if retry_after is not None and retry_after.isdecimal() else 0.0


_ERROR_NUMBER = re.compile(r"^\[Errno -?\d+\] ")


def _connection_failure(error: Exception) -> str:
    """Return why no connection was made, in plain words: `connection refused`, not `[Errno 111] Connection refused`."""
    text = str(error).strip()
    reason = _ERROR_NUMBER.sub("", text)
    return (reason[:1].lower() + reason[1:] if reason != text else text) or "no connection within the timeout"


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def _adapter(answer: type[T]) -> TypeAdapter[T]:
    if answer not in _ADAPTERS:
        _ADAPTERS[answer] = TypeAdapter(answer)
    return _ADAPTERS[answer]


def _package() -> Any:
    try:
        import httpx2
    except ModuleNotFoundError:
        raise Unavailable(
            "the client of a registry needs a package that is not installed: pip install 'treaty[registry]'"
        ) from None
    return httpx2


def _checked(token: str) -> str:
    if not token.isascii() or not token.isprintable() or not token or " " in token:
        raise InvalidDocument("the token is none: it is blank, or has signs that no token has; copy it again")
    return token


BY_CODE: dict[str, type[TreatyError]] = {
    "invalid": InvalidDocument,
    "too_large": InvalidDocument,
    "unsupported_media_type": InvalidDocument,
    "not_found": NotFound,
    "conflict": Conflict,
    "gone": Conflict,
    "refused": Refused,
    "not_signed_in": NotAllowed,
    "not_allowed": NotAllowed,
    "unavailable": Unavailable,
    "too_many_requests": Unavailable,
}
"""The error of each code; a status alone does not tell a conflict from a refusal."""

BY_STATUS: dict[int, type[TreatyError]] = {
    400: Conflict,  # the first API's word for a version that is registered already
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    410: Conflict,
    413: InvalidDocument,
    415: InvalidDocument,
    422: InvalidDocument,
    429: Unavailable,
    503: Unavailable,
}
"""The error of each status on the paths of the first API, which has no codes."""

_REFUSED = " is refused under "


def refusal(address: str, status: int, content: bytes) -> TreatyError:
    """Return the error of a response."""
    if 300 <= status < 400:
        return Unavailable(f"{address} sends its visitors elsewhere, and a token goes nowhere else; use that address")
    error = _parse_error(content)
    if error is None or "detail" not in error:
        return Unavailable(f"{address} answered {status}, and not as a registry does; check the address")
    detail = error["detail"]
    if isinstance(detail, Mapping):
        return _refused_version("the version", detail)
    if status == 404 and detail == "Not Found":
        return Unavailable(f"{address} answers, but has no Treaty registry at this path; check the address")
    if isinstance(contract := error.get("contract"), str):
        return ContractNotFound(contract)
    kind = BY_CODE.get(str(error.get("error")), BY_STATUS.get(status))
    if kind is None:
        return Unavailable(f"{address} made a mistake ({status}): {detail}{_request(error)}")
    findings = tuple(_findings(error.get("findings") or (detail if isinstance(detail, list) else ())))
    words = "; ".join(finding.message for finding in findings) if isinstance(detail, list) else str(detail)
    if kind is Refused and status == 422:
        return _refused_again(words, findings)
    if kind is Unavailable:
        return Unavailable(f"{address} cannot answer now: {words}")
    return kind(words, findings) if issubclass(kind, WithFindings) else kind(words)


def _parse_error(content: bytes) -> dict[str, Any] | None:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _findings(entries: Sequence[Any]) -> Iterator[Finding]:
    """Parse findings, in the common format or in that of the first API."""
    for entry in entries:
        if isinstance(entry, Mapping):
            message, severity = str(entry.get("message", entry.get("msg", ""))), entry.get("severity")
            known = Severity(severity) if severity in tuple(Severity) else Severity.ERROR
            identity = str(entry.get("id", entry.get("type", "invalid-document")))
            yield Finding(identity, known, message, entry.get("path"), hint=entry.get("hint"))


def _refused_version(subject: str, report: Mapping[str, Any]) -> TreatyError:
    return VersionRefused(subject, CompatibilityReport.model_validate({**report, "admissible": False}, extra="ignore"))


def _refused_again(words: str, findings: tuple[Finding, ...]) -> TreatyError:
    """Rebuild the report of a refused version from the common error format."""
    subject, _, mode = words.partition("\n")[0].rpartition(_REFUSED)
    issues = [
        CompatibilityIssue(
            severity="error" if finding.severity is Severity.ERROR else "warning",
            field=finding.path,
            kind=finding.id,
            message=finding.message,
        )
        for finding in findings
    ]
    report = {"compatible": not any(issue.severity == "error" for issue in issues), "mode": mode, "issues": issues}
    return _refused_version(subject, report)


def _request(error: Mapping[str, Any]) -> str:
    return f" (request {error['request_id']})" if error.get("request_id") else ""
