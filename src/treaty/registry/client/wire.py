"""Requests to one registry: what is safe to ask twice is asked again, what changes something never blindly."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError

from treaty.errors import InvalidDocument, Unavailable
from treaty.registry.client.addresses import registry_address
from treaty.registry.client.documents import Parcel, said
from treaty.registry.client.refusals import refusal

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
Parameters = Mapping[str, str | int | None]

PAUSES = (0.2, 0.8)
"""Seconds before a question is asked again; there are as many tries again."""

_NOT_NOW = 503
_KEPT_OPEN = 3.0
"""Seconds that a connection waits for the next request: less than servers do, so that none is cut off in between."""


class NotNow(Unavailable):
    """The registry cannot be reached now, and nothing was done."""


class Interrupted(NotNow):
    """No answer came, or one that leaves open whether the request was carried out."""


class Wire:
    """One registry, as it is spoken to; a token is sent to nobody else, and never shown."""

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
        """Say which registry it leads to, and nothing of who asks."""
        return f"Wire({self.address!r})"

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def get(self, path: str, answer: type[T], parameters: Parameters | None = None) -> T:
        """Read something."""
        return self.read(self.fetch(path, parameters), answer)

    def fetch(self, path: str, parameters: Parameters | None = None) -> httpx2.Response:
        """Read something, and return the response as it is."""
        return self._again("GET", path, parameters, None)

    def ask(self, path: str, answer: type[T], question: Parcel) -> T:
        """Have something judged, which changes nothing."""
        return self.read(self._again("POST", path, None, question), answer)

    def change(
        self,
        method: str,
        path: str,
        answer: type[T],
        values: Mapping[str, Any] | None = None,
        parameters: Parameters | None = None,
    ) -> T:
        """Change something, once."""
        body = said(values) if values is not None else None
        return self.read(self.send(method, path, parameters, body), answer)

    def send(
        self, method: str, path: str, parameters: Parameters | None = None, body: Parcel | None = None
    ) -> httpx2.Response:
        """Send one request, and return its answer; an error is raised as a local registry would."""
        asked = {name: value for name, value in (parameters or {}).items() if value is not None}
        headers = {"Content-Type": body.media} if body else {}
        content = body.content if body else None
        try:
            response: httpx2.Response = self._client.request(
                method, self.address + path, params=asked, content=content, headers=headers
            )
        except self._http.TransportError as error:
            self._raise(error, method)
        except (self._http.InvalidURL, UnicodeEncodeError):
            raise InvalidDocument("what is asked for is too long, or has half a character in it") from None
        if response.is_success:
            return response
        refused = refusal(self.address, response.status_code, response.content)
        raise Interrupted(str(refused)) if response.status_code == _NOT_NOW else refused

    def read(self, response: httpx2.Response, answer: type[T]) -> T:
        """Read an answer; what a later registry adds to it is passed over."""
        try:
            return _adapter(answer).validate_json(response.content, extra="ignore")
        except ValidationError:
            raise Unavailable(
                f"{self.address} did not answer as a registry of this version does; check the address and its version"
            ) from None

    def pauses(self) -> Callable[[], bool]:
        """Return what waits a little before the next try, and says whether there is one."""
        left = list(PAUSES)

        def wait() -> bool:
            if not left:
                return False
            self._pause(left.pop(0))
            return True

        return wait

    def _again(self, method: str, path: str, parameters: Parameters | None, body: Parcel | None) -> httpx2.Response:
        wait = self.pauses()
        while True:
            try:
                return self.send(method, path, parameters, body)
            except NotNow:
                if not wait():
                    raise

    def _raise(self, error: Exception, method: str) -> NoReturn:
        http = self._http
        before = (http.ConnectError, http.ConnectTimeout, http.PoolTimeout, http.UnsupportedProtocol, http.ProxyError)
        if isinstance(error, before):
            why = str(error).strip() or "it took no connection in time"
            raise NotNow(
                f"no registry can be reached at {self.address}: {why}; is it running? start one with: treaty serve"
            ) from None
        slow = isinstance(error, http.TimeoutException)
        why = f"did not answer within {self._timeout:g} seconds" if slow else "broke off before it answered"
        then = "try again" if method == "GET" else "it may have been done all the same: look before you do it again"
        raise Interrupted(f"{self.address} {why}; {then}") from None


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
