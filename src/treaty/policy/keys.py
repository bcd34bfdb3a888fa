"""Keys of hashes and tokens: a ring of secrets by id, of which the first one is in use.

A secret never appears in the representation of a ring, in an error, or in a document. Each use of a key derives a key
of its own from the secret, so that a hash says nothing about a token.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from treaty.errors import InvalidDocument

MIN_SECRET_LENGTH = 16
FIRST_ID = "1"
"""The id of a secret that is given alone, without an id."""

_ENTRY = re.compile(r"(?P<id>[A-Za-z0-9_-]{1,16}):(?P<secret>.*)", re.DOTALL)


@dataclass(frozen=True)
class KeyRing:
    """The secrets of one key by id; the current one masks, the others only read tokens that they made."""

    name: str
    current: str
    secrets: Mapping[str, bytes] = field(repr=False, compare=False)

    def derive(self, use: str, key_id: str | None = None) -> bytes:
        """Return the 64-byte key of one use, such as ``hash``, from the current secret or that of an id."""
        secret = self.secrets[self.current if key_id is None else key_id]
        return hmac.digest(secret, f"treaty {use}".encode(), "sha512")


FindKey: TypeAlias = Callable[[str], KeyRing]
"""Returns the key with a name, or raises InvalidDocument that says how to set it."""


def key_variable(name: str) -> str:
    """Return the environment variable of a key; with `_FILE` appended, it names a file that holds the key."""
    return f"TREATY_{name.upper()}_KEY"


def parse_key_ring(name: str, text: str, source: str) -> KeyRing:
    """Parse a key: one secret, or ``id:secret`` entries separated by commas or line breaks, the current one first."""
    entries = [entry.strip() for entry in re.split(r"[,\n]", text) if entry.strip()]
    secrets: dict[str, bytes] = {}
    for entry in entries:
        match = _ENTRY.fullmatch(entry)
        key_id, secret = (match["id"], match["secret"].strip()) if match else (FIRST_ID, entry)
        if match is None and len(entries) > 1:
            raise InvalidDocument(f"{source}: with several secrets, write each as ID:SECRET, the current one first")
        if key_id in secrets:
            raise InvalidDocument(f"{source}: the key id {key_id!r} is given twice; give each secret an id of its own")
        if len(secret) < MIN_SECRET_LENGTH:
            raise InvalidDocument(
                f"{source}: the secret {key_id!r} has fewer than {MIN_SECRET_LENGTH} characters; use a random one, "
                "such as from: openssl rand -hex 32"
            )
        secrets[key_id] = secret.encode()
    if not secrets:
        raise InvalidDocument(f"{source} is empty; it holds the secret of the key {name!r}")
    return KeyRing(name, next(iter(secrets)), secrets)
