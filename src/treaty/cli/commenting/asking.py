"""Requests to the API of a host of code: no redirect is followed, so that a token goes to nobody else."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any

from treaty.errors import InvalidDocument, NotAllowed, Unavailable

_TIMEOUT = 30.0
_LONGEST_ANSWER = 50_000_000
_REFUSED = (401, 403, 404)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Lets a redirect be an error."""

    def redirect_request(self, *_: Any) -> None:
        """Follow nothing."""


@dataclass(frozen=True)
class Api:
    """One API, and the headers it wants."""

    address: str
    headers: dict[str, str] = field(repr=False)

    def ask(self, method: str, path: str, values: dict[str, Any] | None = None) -> Any:
        """Send a request, and return what the answer holds."""
        if not self.address.lower().startswith(("https://", "http://")):
            raise InvalidDocument(f"{self.address[:60]!r} is no address of an API; it begins with https://")
        body = None if values is None else json.dumps(values).encode()
        request = urllib.request.Request(  # noqa: S310 - the scheme was looked at
            self.address.rstrip("/") + path, data=body, method=method, headers={**self.headers, **_OURS}
        )
        try:
            with urllib.request.build_opener(_NoRedirects).open(request, timeout=_TIMEOUT) as answer:
                return json.loads(answer.read(_LONGEST_ANSWER) or b"null")
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(method, error.code, self.address) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise Unavailable(f"{self.address} did not answer as expected: {reason}; try again") from None


_OURS = {"User-Agent": "treaty", "Content-Type": "application/json"}


def _refusal(method: str, code: int, address: str) -> NotAllowed | Unavailable:
    if code in _REFUSED:
        what = "read comments" if method == "GET" else "comment"
        return NotAllowed(
            f"the token may not {what} (status {code}); give it the right to write on pull requests. "
            "For a pull request from a fork it has none, which is as it should be"
        )
    return Unavailable(f"{address} answered with status {code}; try again")
