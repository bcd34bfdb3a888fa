"""Comparing versions as texts, some of which are none."""

from __future__ import annotations

from treaty.contracts.versions import version_or_none


def higher(one: str | None, other: str | None) -> str | None:
    """Return the higher of two versions; what is no version is lower than any."""
    found = [text for text in (one, other) if text and version_or_none(text)]
    return max(found, key=lambda text: version_or_none(text) or 0, default=None)
