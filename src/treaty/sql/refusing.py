"""Say no to a rule's SQL: what, where, and what next."""

from __future__ import annotations

from treaty.contracts.values import brief
from treaty.errors import InvalidDocument

_SHOWN = 40


def refused(text: str, at: int | None, what: str, then: str) -> InvalidDocument:
    """Return the refusal of a rule's SQL, pointing at the character where the trouble starts."""
    if at is None or not 0 <= at < len(text):
        return InvalidDocument(f"the SQL of the rule {what} ({brief(text, _SHOWN)!r}); {then}")
    return InvalidDocument(f"the SQL of the rule {what} at character {at + 1} ({brief(text[at:], _SHOWN)!r}); {then}")
