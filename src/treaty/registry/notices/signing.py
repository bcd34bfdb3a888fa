"""Signatures of webhooks: who holds the secret can tell that a notice is ours, whole and recent."""

from __future__ import annotations

import hashlib
import hmac
import re
from datetime import datetime, timedelta

SIGNATURE_HEADER = "Treaty-Signature"
TOLERANCE = timedelta(minutes=5)

_PART = re.compile(r"(t=[0-9]{1,12}|v1=[0-9a-f]{64})")


def sign(secret: str, body: bytes, now: datetime) -> str:
    """Return the value of the signature header for a body sent now."""
    seconds = int(now.timestamp())
    return f"t={seconds},v1={_digest(secret, seconds, body)}"


def verify(secret: str, header: str, body: bytes, now: datetime, tolerance: timedelta = TOLERANCE) -> bool:
    """Tell whether the header signs exactly this body, at about this time; several v1 let a secret be replaced."""
    parts = header.split(",")
    if not all(_PART.fullmatch(part) for part in parts):
        return False
    times = [int(part[2:]) for part in parts if part.startswith("t=")]
    if len(times) != 1 or abs(int(now.timestamp()) - times[0]) > tolerance.total_seconds():
        return False
    expected = _digest(secret, times[0], body)
    matches = [hmac.compare_digest(part[3:], expected) for part in parts if part.startswith("v1=")]
    return any(matches)


def _digest(secret: str, seconds: int, body: bytes) -> str:
    return hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
