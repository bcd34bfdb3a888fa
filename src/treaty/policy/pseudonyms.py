"""Hashes and tokens of values: deterministic texts that start with the id of their key.

A hash is HMAC-SHA-256 in hexadecimal digits, a token is AES-SIV in URL-safe Base64. Both are computed from the value
as text, so the number 7 and the text "7" have the same hash.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from hashlib import sha256
from typing import Any

from treaty.errors import InvalidDocument, MissingExtra
from treaty.policy.keys import KeyRing

_SEPARATOR = ":"
_PADS = (0x36, 0x5C)
"""The bytes that HMAC combines with the key for its inner and its outer digest."""


def hash_digests(texts: Iterable[bytes], key: KeyRing, context: str = "") -> list[bytes]:
    """Return the HMAC-SHA-256 of each text in UTF-8; those of two contexts cannot be matched.

    HMAC is computed as RFC 2104 defines it: the states of both digests after the key are computed once and copied for
    each text, which takes less than half as long as `hmac.digest`.
    """
    secret = key.derive(f"hash {context}".rstrip())
    block = secret.ljust(sha256().block_size, b"\0")  # a key is not longer than a block
    inner, outer = (sha256(bytes(byte ^ pad for byte in block)).copy for pad in _PADS)
    digests = []
    for text in texts:
        digest, result = inner(), outer()
        digest.update(text)
        result.update(digest.digest())
        digests.append(result.digest())
    return digests


def hash_prefix(key: KeyRing) -> str:
    """Return what each hash starts with: the id of its key."""
    return key.current + _SEPARATOR


def hasher(key: KeyRing, context: str = "") -> Callable[[str], str]:
    """Return the function that hashes a text; with a context, hashes of two contexts cannot be matched."""
    return lambda text: hash_prefix(key) + hash_digests((text.encode(),), key, context)[0].hex()


def has_hash(text: str, masked: str, key: KeyRing) -> bool:
    """Return whether a hash is that of a text under the current key; the comparison takes constant time."""
    return hmac.compare_digest(hasher(key)(text).encode(), masked.encode())


def tokeniser(key: KeyRing) -> Callable[[str], str]:
    """Return the function that turns a text into its token."""
    cipher, prefix = _cipher(key, key.current), key.current + _SEPARATOR

    def tokenise(text: str) -> str:
        sealed: bytes = cipher.encrypt(text.encode() or _EMPTY, None)
        return prefix + base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()

    return tokenise


def detokenise(token: str, key: KeyRing) -> str:
    """Return the value of a token as text, or raise InvalidDocument, whose message does not contain the token."""
    key_id, colon, body = token.partition(_SEPARATOR)
    if not colon or key_id not in key.secrets:
        raise InvalidDocument(f"this is not a token of the key {key.name!r}, or its secret is no longer in the key")
    try:
        sealed = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
        value: bytes = _cipher(key, key_id).decrypt(sealed, None)
    except (binascii.Error, ValueError, _invalid_tag()):
        raise InvalidDocument(
            f"this is not a token of the key {key.name!r}: it was changed or made with another"
        ) from None
    return "" if value == _EMPTY else value.decode()


_EMPTY = b"\xff"
"""Stands for the empty text, which AES-SIV does not take; no UTF-8 text contains this byte."""


def _cipher(key: KeyRing, key_id: str) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV
    except ImportError:
        raise MissingExtra("tokenising values", "spark") from None
    return AESSIV(key.derive("token", key_id))


def _invalid_tag() -> type[Exception]:
    from cryptography.exceptions import InvalidTag

    return InvalidTag


def canonical_text(value: Any) -> str:
    """Return a value as the text that is hashed or tokenised."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        return _moment_text(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, (dict, list, tuple)):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=canonical_text)
    return repr(value)


def _moment_text(moment: datetime) -> str:
    if moment.tzinfo is None:
        return moment.isoformat(timespec="microseconds")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
