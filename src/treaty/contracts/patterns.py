"""Patterns are RE2 syntax, so that no engine can be stalled by one."""

from __future__ import annotations

from functools import lru_cache

_LONGEST = 1_000
_LITTLE_MEMORY = 1 << 16
_FULL_MEMORY = 1 << 22
_MOST_COSTLY = 50
_TOO_LARGE = "pattern too large"


class PatternCheck:
    """Checks the patterns of one document; how many may be costly to compile is bounded."""

    def __init__(self) -> None:
        self.costly = 0

    def problem(self, pattern: str) -> str | None:
        """Say what is wrong with a pattern, or None where RE2 takes it."""
        if self.costly > _MOST_COSTLY:
            return None  # the document is refused already; the rest is not worth its cost
        if len(pattern) > _LONGEST:
            return f"it has {len(pattern):,} characters, more than {_LONGEST:,}"
        found = _compiled(pattern, _LITTLE_MEMORY)
        if found is None or not found.startswith(_TOO_LARGE):
            return found
        self.costly += 1
        if self.costly > _MOST_COSTLY:
            return f"it is one of more than {_MOST_COSTLY} that are costly to compile"
        return _compiled(pattern, _FULL_MEMORY)


@lru_cache(maxsize=4_096)
def _compiled(pattern: str, memory: int) -> str | None:
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
