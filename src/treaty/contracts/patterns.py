"""Patterns are RE2 syntax, so that no engine can be stalled by one."""

from __future__ import annotations

from functools import lru_cache

_LONGEST = 1_000
_MEMORY = 1 << 19


@lru_cache(maxsize=4_096)
def pattern_problem(pattern: str) -> str | None:
    """Say what is wrong with a pattern, or None where RE2 takes it."""
    if len(pattern) > _LONGEST:
        return f"it has {len(pattern):,} characters, more than {_LONGEST:,}"
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        detail = error.args[0] if error.args else error
        return detail.decode() if isinstance(detail, bytes) else str(detail)
    return None
