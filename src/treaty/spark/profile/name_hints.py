"""What the name of a field says about its values, before any is looked at."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.contracts.names import split_words

_IDENTIFIERS = frozenset({"id", "key", "uuid", "guid", "identifier", "number", "no", "nr", "pk"})
_LINES = frozenset(
    {"line", "position", "pos", "sequence", "seq", "index", "item", "version", "revision", "rank", "row"}
)
_DAYS = frozenset({"date", "day", "month", "week", "period", "at", "on", "from"})
_LABELS = frozenset(
    {
        *("zip", "postal", "postcode", "plz", "code", "phone", "mobile", "telephone", "tel", "fax", "msisdn", "iban"),
        *("bic", "swift", "card", "pan", "account", "ean", "gtin", "upc", "isbn", "sku", "barcode", "vat", "tax"),
        *("ssn", "passport", "imei", "serial", "pin", "ref", "reference", "hash", "token", "phase", "tag"),
    }
)
"""Digits under such a name are no quantity: nobody adds them up, and a zero in front counts."""
_CHOICES = frozenset(
    {
        *("status", "state", "type", "kind", "category", "class", "channel", "method", "mode", "currency", "country"),
        *("level", "tier", "priority", "reason", "source", "stage", "segment", "role", "plan", "gender", "language"),
        *("locale", "region", "unit", "size", "color", "colour", "severity", "operation", "action", "event"),
    }
)
_REFRESHED = ("updated", "modified", "changed", "loaded", "ingested", "synced", "refreshed")
_HAPPENED = frozenset({"at", "timestamp", "ts", "time", "datetime"})


@dataclass(frozen=True)
class Limits:
    """The range that a name implies; it is guessed only where all values are inside."""

    words: frozenset[str]
    low: int
    high: int | None
    why: str


_LIMITS = (
    Limits(frozenset({"percent", "percentage", "pct"}), 0, 100, "a percentage"),
    Limits(frozenset({"ratio", "probability", "share", "fraction"}), 0, 1, "a share"),
    Limits(frozenset({"lat", "latitude"}), -90, 90, "a latitude"),
    Limits(frozenset({"lon", "lng", "longitude"}), -180, 180, "a longitude"),
    Limits(frozenset({"month"}), 1, 12, "a month"),
    Limits(frozenset({"hour"}), 0, 23, "an hour"),
    Limits(frozenset({"minute"}), 0, 59, "a minute"),
    Limits(frozenset({"stars", "rating"}), 1, 5, "a rating"),
    Limits(frozenset({"quantity", "qty", "page", "rank", "position"}), 1, None, "counted from one"),
)


def is_identifier(name: str) -> bool:
    """Tell whether values tell things apart: `order_id`, `uuid`, `invoice_number`."""
    words = split_words(name)
    return bool(words) and words[-1] in _IDENTIFIERS


def is_label(name: str) -> bool:
    """Tell whether digits under this name are no quantity: a postal code, an account."""
    return bool(set(split_words(name)) & _LABELS)


def is_choice(name: str) -> bool:
    """Tell whether values are probably chosen from a list."""
    return bool(set(split_words(name)[-2:]) & _CHOICES)


def can_be_key_part(name: str) -> bool:
    """Tell whether values could be part of what tells rows apart."""
    return is_identifier(name) or is_line_number(name)


def is_line_number(name: str) -> bool:
    """Tell whether values tell apart what belongs together: lines, versions, days."""
    return bool(set(split_words(name)) & (_LINES | _DAYS))


def implied_limits(name: str) -> Limits | None:
    """Return the range that a name implies, if any."""
    words = set(split_words(name))
    return next((limits for limits in _LIMITS if words & limits.words), None)


def freshness_rank(name: str) -> int | None:
    """Rank a timestamp as the one to measure freshness by, lowest first; None where its name does not say so."""
    words = split_words(name)
    for rank, word in enumerate(_REFRESHED):
        if word in words:
            return rank
    return len(_REFRESHED) if words and words[-1] in _HAPPENED else None
