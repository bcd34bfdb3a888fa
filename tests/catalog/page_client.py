"""An HTTP client that behaves like a browser: keeps cookies and submits forms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

import httpx2

from tests.server.running import client_of

_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{128})"')


class Browser:
    """One visitor of a server's pages."""

    def __init__(self, address: str) -> None:
        self.client = client_of(address)
        self.client.headers["Accept"] = "text/html,application/xhtml+xml"
        self.address = address

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return self.client.get(path, **options)

    def form_token(self, path: str = "/catalog/check") -> str:
        """Return what the forms of a page carry."""
        found = _TOKEN.search(self.get(path).text)
        assert found, f"no form at {path}"
        return found[1]

    def post(
        self,
        path: str,
        fields: Mapping[str, Any] | None = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> httpx2.Response:
        """Send a form as a page of the server would."""
        carried = self.form_token() if token is None else token
        sent = {"Origin": self.address, **(headers or {})}
        return self.client.post(path, data={"form_token": carried, **(fields or {})}, headers=sent, **options)

    def sign_in(self, token: str, **fields: str) -> httpx2.Response:
        form = self.form_token("/catalog/sign-in")
        return self.post("/catalog/sign-in", {"token": token, **fields}, token=form)


def words(answer: httpx2.Response) -> str:
    """Return the text of a page, without its markup."""
    main = (answer.text.partition("<main")[2] or answer.text).replace("<wbr>", "")
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", main)).split())
