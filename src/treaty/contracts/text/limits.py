"""Size limits of documents, and the error for an invalid document."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from treaty.contracts.findings import Finding, Place, Severity
from treaty.errors import InvalidDocument

INVALID_DOCUMENT = "invalid-document"
MAX_MESSAGE_LENGTH = 500


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that keep hostile documents cheap to refuse."""

    bytes: int = 2_000_000
    depth: int = 64
    aliases: int = 100
    nodes: int = 500_000


class KeyNumbers(StrEnum):
    """Whether a key in YAML may be a number without quotes, such as a status code; it is read as a text then."""

    REFUSED = "refused"
    AS_TEXT = "as_text"


def truncate_message(message: str) -> str:
    """Return a message of limited length."""
    return message if len(message) <= MAX_MESSAGE_LENGTH else f"{message[:MAX_MESSAGE_LENGTH]}…"


def invalid_document(message: str, place: Place, hint: str | None = None) -> InvalidDocument:
    """Return the error for one problem at one place."""
    message, hint = truncate_message(message), hint and truncate_message(hint)
    finding = Finding(INVALID_DOCUMENT, Severity.ERROR, message, place=place, hint=hint)
    return InvalidDocument(f"{place}: {message}" + (f"; {hint}" if hint else ""), (finding,))
