"""Checks patterns for RE2 syntax, which guarantees linear matching time."""

from __future__ import annotations

from functools import lru_cache

MAX_PATTERN_LENGTH = 1_000
_SMALL_MEMORY_BYTES = 1 << 16
_FULL_MEMORY_BYTES = 1 << 22
MAX_EXPENSIVE_PATTERNS = 50
_TOO_LARGE = "pattern too large"


class PatternCheck:
    """Checks the patterns of one document; limits how many may be expensive to compile."""

    def __init__(self) -> None:
        self.expensive = 0

    def problem(self, pattern: str) -> str | None:
        """Return why a pattern is invalid, or None if RE2 accepts it."""
        if self.expensive > MAX_EXPENSIVE_PATTERNS:
            return None  # the document is already refused
        if len(pattern) > MAX_PATTERN_LENGTH:
            return f"it has {len(pattern):,} characters, more than {MAX_PATTERN_LENGTH:,}"
        error = _compile_error(pattern, _SMALL_MEMORY_BYTES)
        if error is None or not error.startswith(_TOO_LARGE):
            return error
        self.expensive += 1
        if self.expensive > MAX_EXPENSIVE_PATTERNS:
            return f"the document has more than {MAX_EXPENSIVE_PATTERNS} patterns that are expensive to compile"
        return _compile_error(pattern, _FULL_MEMORY_BYTES)


@lru_cache(maxsize=4_096)
def _compile_error(pattern: str, memory: int) -> str | None:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = memory
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        detail = error.args[0] if error.args else error
        return detail.decode() if isinstance(detail, bytes) else str(detail)
    return None
