"""Secrets that webhooks are signed with: long enough that nobody guesses one."""

from __future__ import annotations

from treaty.errors import InvalidDocument

LEAST = 16
LONGEST = 200


def check_secret(secret: str | None) -> None:
    """Refuse a secret that could be guessed, or that is too long to be one."""
    if secret is None:
        return
    if len(secret) < LEAST:
        raise InvalidDocument(f"the secret is shorter than {LEAST} characters; use a random one")
    if len(secret) > LONGEST:
        raise InvalidDocument(f"the secret is longer than {LONGEST} characters; use a shorter random one")
