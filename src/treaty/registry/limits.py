"""Bounds of what is kept."""

from __future__ import annotations

LARGEST_PART = 999_999_999
"""The largest MAJOR, MINOR or PATCH."""
