"""How much of a document is read before it is refused."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.contracts.findings import Finding, Place, Severity
from treaty.errors import InvalidDocument

INVALID_DOCUMENT = "invalid-document"
_LONGEST_MESSAGE = 500


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that keep a hostile document from costing more than a moment."""

    bytes: int = 2_000_000
    depth: int = 64
    aliases: int = 100
    nodes: int = 500_000


def truncate_message(message: str) -> str:
    """Return a message that stays readable whatever it speaks of."""
    return message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}…"


def invalid_document(message: str, place: Place, hint: str | None = None) -> InvalidDocument:
    """Return the error for one thing wrong at one place."""
    message, hint = truncate_message(message), hint and truncate_message(hint)
    finding = Finding(INVALID_DOCUMENT, Severity.ERROR, message, place=place, hint=hint)
    return InvalidDocument(f"{place}: {message}" + (f"; {hint}" if hint else ""), (finding,))
