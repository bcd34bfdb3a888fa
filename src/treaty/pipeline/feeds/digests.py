"""Digests of files."""

from __future__ import annotations

from hashlib import file_digest
from pathlib import Path


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
