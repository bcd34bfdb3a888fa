"""Hints from the name of a field about its values."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.contracts.names import split_words

_IDENTIFIER_WORDS = frozenset({"id", "key", "uuid", "guid", "identifier", "number", "no", "nr", "pk"})
_LINE_WORDS = frozenset(
    {"line", "position", "pos", "sequence", "seq", "index", "item", "version", "revision", "rank", "row"}
)
_DAY_WORDS = frozenset({"date", "day", "month", "week", "period", "at", "on", "from"})
_LABEL_WORDS = frozenset(
    {
        *("zip", "postal", "postcode", "plz", "code", "phone", "mobile", "telephone", "tel", "fax", "msisdn", "iban"),
        *("bic", "swift", "pan", "ean", "gtin", "upc", "isbn", "sku", "barcode", "ssn", "passport", "imei", "serial"),
        *("pin", "ref", "reference", "hash", "token", "phase", "tag"),
    }
)
"""Integers in such fields are rarely quantities: they are never added up, and leading zeros matter."""
_NUMBERED_WORDS = frozenset({"account", "card", "vat", "tax"})
"""Things that have a number, such as `account_number`; on their own these words also name amounts."""
_QUANTITY_WORDS = frozenset(
    {
        *("amount", "amt", "balance", "cost", "count", "credit", "debit", "discount", "fee", "limit", "net", "gross"),
        *(
            "percent",
            "percentage",
            "pct",
            "price",
            "qty",
            "quantity",
            "rate",
            "ratio",
            "share",
            "sum",
            "total",
            "value",
        ),
        *("volume", "weight", "size", "length", "width", "height", "age", "days", "hours", "minutes", "seconds"),
    }
)
_CHOICE_WORDS = frozenset(
    {
        *("status", "state", "type", "kind", "category", "class", "channel", "method", "mode", "currency", "country"),
        *("level", "tier", "priority", "reason", "source", "stage", "segment", "role", "plan", "gender", "language"),
        *("locale", "region", "unit", "size", "color", "colour", "severity", "operation", "action", "event"),
    }
)
_UPDATE_WORDS = ("updated", "modified", "changed", "loaded", "ingested", "synced", "refreshed")
_TIME_WORDS = frozenset({"at", "timestamp", "ts", "time", "datetime"})


@dataclass(frozen=True)
class Limits:
    """The range that a name implies; it is guessed only if all values are within it."""

    words: frozenset[str]
    low: int
    high: int | None
    why: str

    def includes(self, low: float, high: float) -> bool:
        """Whether numbers from `low` to `high` are within the range."""
        return self.low <= low and (self.high is None or high <= self.high)

    @property
    def options(self) -> dict[str, int]:
        """The range as type options of a field."""
        return {"minimum": self.low} | ({} if self.high is None else {"maximum": self.high})


_LIMITS = (
    Limits(frozenset({"percent", "percentage", "pct"}), 0, 100, "a percentage"),
    Limits(frozenset({"ratio", "probability", "share", "fraction"}), 0, 1, "a share"),
    Limits(frozenset({"lat", "latitude"}), -90, 90, "a latitude"),
    Limits(frozenset({"lon", "lng", "longitude"}), -180, 180, "a longitude"),
    Limits(frozenset({"month"}), 1, 12, "a month"),
    Limits(frozenset({"hour"}), 0, 23, "an hour"),
    Limits(frozenset({"minute"}), 0, 59, "a minute"),
    Limits(frozenset({"stars", "rating"}), 1, 5, "a rating"),
    Limits(frozenset({"quantity", "qty", "page", "rank", "position"}), 1, None, "a count from one"),
)
_NOT_NEGATIVE = Limits(frozenset(), 0, None, "a number that is not negative")


def is_identifier(name: str) -> bool:
    """Whether a name is that of an identifier: `order_id`, `uuid`, `invoice_number`."""
    words = split_words(name)
    return bool(words) and words[-1] in _IDENTIFIER_WORDS


def is_label(name: str) -> bool:
    """Whether integers under this name are probably a label, not a quantity: a postal code, an account number."""
    words = set(split_words(name))
    if words & _QUANTITY_WORDS:
        return False
    return bool(words & _LABEL_WORDS) or (is_identifier(name) and bool(words & _NUMBERED_WORDS))


def is_choice(name: str) -> bool:
    """Whether values under this name probably come from a fixed list."""
    return bool(set(split_words(name)[-2:]) & _CHOICE_WORDS)


def can_be_key_part(name: str) -> bool:
    """Whether a field of this name can be part of a key."""
    return is_identifier(name) or is_line_number(name)


def counts_lines(name: str) -> bool:
    """Whether values number the lines or versions of something, so that they complete its key."""
    return bool(set(split_words(name)) & _LINE_WORDS)


def is_line_number(name: str) -> bool:
    """Whether values number the parts of something: lines, versions, days."""
    return bool(set(split_words(name)) & (_LINE_WORDS | _DAY_WORDS))


def implied_limits(name: str) -> Limits | None:
    """Return the range that a name implies; None if it implies none."""
    words = set(split_words(name))
    return next((limits for limits in _LIMITS if words & limits.words), None)


def usual_limits(name: str) -> Limits:
    """Return the range that a name implies; most numbers are not negative."""
    return implied_limits(name) or _NOT_NEGATIVE


def freshness_rank(name: str) -> int | None:
    """Rank a timestamp as a measure of freshness, best first; None if its name does not suggest it."""
    words = split_words(name)
    for rank, word in enumerate(_UPDATE_WORDS):
        if word in words:
            return rank
    return len(_UPDATE_WORDS) if words and words[-1] in _TIME_WORDS else None
