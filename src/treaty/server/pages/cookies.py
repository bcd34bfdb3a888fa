"""Cookies of the pages: sessions, form tokens and one-time messages.

The session cookie of a signed-in visitor contains the random id of a session, never an access token; an anonymous
visitor gets a random secret that only authenticates its own forms.
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Mapping
from secrets import token_bytes, token_urlsafe

from fastapi import Request
from fastapi.responses import Response

from treaty.catalog.rendering import Message

SESSION, VISIT, FLASH, LOGIN = "treaty_session", "treaty_visit", "treaty_flash", "treaty_login"
MAX_FLASH_BYTES = 2_400  # in base64 with a signature, below the 4,096 bytes of a cookie that all browsers store
FLASH_LIFETIME_S = 120

_HOST_PREFIX = "__Host-"  # browsers accept such a cookie only over https and only for this exact host
_SECRET = re.compile(r"[0-9A-Za-z_.~+/=-]{16,200}")
_FORM_PURPOSE, _FLASH_PURPOSE = b"treaty forms", b"treaty words"
_MASK_BYTES = 32
_MESSAGE_KINDS = frozenset({"good", "warn", "bad"})


def is_https(request: Request) -> bool:
    """Return whether the browser uses https; uvicorn accepts the word of a trusted proxy only."""
    return request.url.scheme == "https"


def read_secret(request: Request, name: str) -> str | None:
    """Return the value of a cookie if it is well-formed."""
    value = request.cookies.get(_cookie_name(request, name), "")
    return value if _SECRET.fullmatch(value) else None


def read_value(request: Request, name: str) -> str:
    """Return the value of a cookie as the browser sent it; empty if there is none."""
    return request.cookies.get(_cookie_name(request, name), "")


def has_cookie(request: Request, name: str) -> bool:
    """Return whether the browser sent a cookie, well-formed or not."""
    return _cookie_name(request, name) in request.cookies


def new_secret() -> str:
    """Return a random secret for an anonymous visitor."""
    return token_urlsafe(32)


def form_token(secret: str) -> str:
    """Return a form token for a visitor.

    It is masked with random bytes and so differs on every page: the size of a compressed response reveals nothing.
    """
    mask = token_bytes(_MASK_BYTES)
    return (mask + _xor(_form_signature(secret), mask)).hex()


def is_form_token(secret: str, token: str) -> bool:
    """Return in constant time whether a form token was made for this visitor."""
    try:
        masked = bytes.fromhex(token)
    except ValueError:
        return False
    if len(masked) != 2 * _MASK_BYTES:
        return False
    return hmac.compare_digest(_xor(masked[_MASK_BYTES:], masked[:_MASK_BYTES]), _form_signature(secret))


def set_cookie(request: Request, response: Response, name: str, value: str, seconds: int | None = None) -> None:
    """Set a cookie that scripts cannot read and that other sites' forms do not send.

    It is `lax`, not `strict`, so that a link in a mail opens the page signed in; links never change anything.
    """
    response.set_cookie(
        _cookie_name(request, name),
        value,
        max_age=seconds,
        path="/",
        secure=is_https(request),
        httponly=True,
        samesite="lax",
    )


def delete_cookie(request: Request, response: Response, name: str) -> None:
    """Delete a cookie."""
    response.delete_cookie(
        _cookie_name(request, name), path="/", secure=is_https(request), httponly=True, samesite="lax"
    )


def set_flash(request: Request, response: Response, secret: str, message: Message) -> None:
    """Show a message on the next page, once; it is signed, so that others cannot set it."""
    text = f"{message.kind}\n{message.text}".encode("utf-8", "replace")[:MAX_FLASH_BYTES]
    complete_characters = text.decode("utf-8", "ignore").encode()
    body = base64.urlsafe_b64encode(complete_characters).decode()
    signature = _sign(secret, _FLASH_PURPOSE, body.encode())
    set_cookie(request, response, FLASH, f"{body}.{signature}", FLASH_LIFETIME_S)


def read_flash(request: Request, secret: str) -> Message | None:
    """Return the message that the previous response set, if its signature is valid."""
    body, _, signature = request.cookies.get(_cookie_name(request, FLASH), "").partition(".")
    expected = _sign(secret, _FLASH_PURPOSE, body.encode("utf-8", "replace"))
    if not body or not hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace")):
        return None
    kind, _, text = base64.urlsafe_b64decode(body).decode().partition("\n")
    return Message(kind if kind in _MESSAGE_KINDS else "warn", text)


def is_same_origin(headers: Mapping[str, str]) -> bool:
    """Return whether a form was sent by a page of this server; browsers send Sec-Fetch-Site, Origin or both."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is None and origin is None:
        return False
    if site is not None and site != "same-origin":
        return False
    return origin is None or origin.lower().partition("://")[2] == headers.get("host", "").lower()


def _cookie_name(request: Request, name: str) -> str:
    return f"{_HOST_PREFIX}{name}" if is_https(request) else name


def _form_signature(secret: str) -> bytes:
    return bytes.fromhex(_sign(secret, _FORM_PURPOSE, b""))


def _xor(value: bytes, mask: bytes) -> bytes:
    return bytes(left ^ right for left, right in zip(value, mask, strict=True))


def _sign(secret: str, purpose: bytes, content: bytes) -> str:
    return hmac.digest(secret.encode(), purpose + b"\n" + content, "sha256").hex()
