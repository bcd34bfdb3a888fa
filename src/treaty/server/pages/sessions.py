"""What a browser is known by: cookies that scripts cannot read, and what is derived from their secrets.

The server keeps nothing: whoever has the cookie can be checked by any worker. A signed-in visitor's cookie is the
token itself; somebody without a token gets a random secret, good for nothing but to recognise their own forms.
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Mapping
from datetime import timedelta
from secrets import token_bytes, token_urlsafe

from fastapi import Request
from fastapi.responses import Response

from treaty.catalog.rendering import Message

SESSION, VISIT, FLASH = "treaty_session", "treaty_visit", "treaty_said"
LONGEST_SESSION = timedelta(hours=12)  # a working day; who has a token signs in again with it
LONGEST_TOKEN = 3_600  # what every browser keeps in a cookie, with room for its name and attributes

_HOST = "__Host-"  # browsers let nobody but this very host set such a cookie, and only over https
_SECRET = re.compile(r"[0-9A-Za-z_.~+/=-]{16,3600}")
_FOR_FORMS, _FOR_WORDS = b"treaty forms", b"treaty words"
_MASK = 32
_LONGEST_WORDS = 2_400  # bytes: written in base64, and with their proof, what every browser keeps
_WORDS_LIVE = 120
_KINDS = frozenset({"good", "warn", "bad"})


def is_https(request: Request) -> bool:
    """Tell whether the browser came by https; the server believes only a proxy that it trusts about that."""
    return request.url.scheme == "https"


def read_secret(request: Request, name: str) -> str | None:
    """Return what a cookie holds, if it could be one of ours."""
    value = request.cookies.get(_named(request, name), "")
    return value if _SECRET.fullmatch(value) else None


def has_cookie(request: Request, name: str) -> bool:
    """Tell whether a browser sent a cookie at all."""
    return _named(request, name) in request.cookies


def new_secret() -> str:
    """Make the secret of somebody who did not sign in."""
    return token_urlsafe(32)


def form_token(secret: str) -> str:
    """Return what the forms of a visitor carry; nobody without the secret can say it.

    It looks different on every page, so that the size of a compressed answer tells nothing about it.
    """
    mask = token_bytes(_MASK)
    return (mask + _masked(_of_forms(secret), mask)).hex()


def is_form_token(secret: str, given: str) -> bool:
    """Tell whether a form was made for this visitor, in the same time whether or not."""
    try:
        said = bytes.fromhex(given)
    except ValueError:
        return False
    return len(said) == 2 * _MASK and hmac.compare_digest(_masked(said[_MASK:], said[:_MASK]), _of_forms(secret))


def set_cookie(request: Request, response: Response, name: str, value: str, seconds: int | None = None) -> None:
    """Let the browser keep a secret: unreadable for scripts, never sent with what another site posts.

    Lax, not strict: a link in a mail or chat leads to the page as whoever signed in, and nothing is done by a link.
    """
    response.set_cookie(
        _named(request, name), value, max_age=seconds, path="/", secure=is_https(request), httponly=True, samesite="lax"
    )


def delete_cookie(request: Request, response: Response, name: str) -> None:
    """Let the browser forget a secret."""
    response.delete_cookie(_named(request, name), path="/", secure=is_https(request), httponly=True, samesite="lax")


def set_flash(request: Request, response: Response, secret: str, message: Message) -> None:
    """Let the next page say something once; only this server can have put it there."""
    said = f"{message.kind}\n{message.words}".encode("utf-8", "replace")[:_LONGEST_WORDS]
    whole = said.decode("utf-8", "ignore").encode()  # a long one is cut, but never within a character
    body = base64.urlsafe_b64encode(whole).decode()
    set_cookie(request, response, FLASH, f"{body}.{_keyed(secret, _FOR_WORDS, body.encode())}", _WORDS_LIVE)


def read_flash(request: Request, secret: str) -> Message | None:
    """Return what the page before left to be said."""
    body, _, proof = request.cookies.get(_named(request, FLASH), "").partition(".")
    if not body or not hmac.compare_digest(
        _keyed(secret, _FOR_WORDS, body.encode("utf-8", "replace")).encode(), proof.encode("utf-8", "replace")
    ):
        return None
    kind, _, words = base64.urlsafe_b64decode(body).decode().partition("\n")
    return Message(kind if kind in _KINDS else "warn", words)


def _named(request: Request, name: str) -> str:
    return f"{_HOST}{name}" if is_https(request) else name


def _of_forms(secret: str) -> bytes:
    return bytes.fromhex(_keyed(secret, _FOR_FORMS, b""))


def _masked(value: bytes, mask: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(value, mask, strict=True))


def _keyed(secret: str, purpose: bytes, what: bytes) -> str:
    return hmac.digest(secret.encode(), purpose + b"\n" + what, "sha256").hex()


def is_same_origin(headers: Mapping[str, str]) -> bool:
    """Tell whether a form was sent by a page of this server; a browser says where from, in one way or the other."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is None and origin is None:
        return False
    if site is not None and site != "same-origin":
        return False
    return origin is None or origin.lower().partition("://")[2] == headers.get("host", "").lower()
