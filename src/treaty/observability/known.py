"""The measures Treaty knows: what each counts, in which unit, and which promise of a contract it is held to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Bound(StrEnum):
    """On which side of a promise a value keeps it."""

    AT_MOST = "at most"
    AT_LEAST = "at least"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of measure."""

    name: str
    title: str
    unit: str
    meaning: str
    bound: Bound = Bound.AT_MOST
    promised_as: tuple[str, ...] = ()
    """The service levels of ODCS that promise it, in lower case."""
    watched_above: float | None = None
    """Where nothing is promised: what is worth a warning all the same."""


FRESHNESS, LATENCY, VOLUME, ROWS_IN = "freshness", "latency", "volume", "rows_in"
QUARANTINED, QUARANTINED_SHARE, EXCEPTIONS = "quarantined_rows", "quarantined_share", "exceptions_open"
COMPLETENESS, VALIDITY, AVAILABILITY = "completeness", "validity", "availability"
RUN, DURATION = "run", "duration"

SECONDS, ROWS, PERCENT, PLAIN = "s", "rows", "%", ""

_AT_LEAST = Bound.AT_LEAST
_KINDS = (
    Kind(FRESHNESS, "Freshness", SECONDS, "How old what readers see is.", promised_as=("freshness",)),
    Kind(LATENCY, "Latency", SECONDS, "From what happened to where it can be read.", promised_as=("latency", "ly")),
    Kind(VOLUME, "Volume", ROWS, "Rows that came through.", _AT_LEAST, ("volume", "rowcount", "throughput", "th")),
    Kind(ROWS_IN, "Rows in", ROWS, "Rows that arrived.", _AT_LEAST),
    Kind(QUARANTINED, "Quarantined rows", ROWS, "Rows that broke the contract, kept with the reasons."),
    Kind(
        QUARANTINED_SHARE,
        "Quarantine",
        PERCENT,
        "Rows that broke the contract, of all that arrived.",
        promised_as=("errorrate", "error_rate", "er", "quarantine"),
        watched_above=1.0,
    ),
    Kind(EXCEPTIONS, "Open exceptions", PLAIN, "Keys that no rule settled and somebody owns."),
    Kind(COMPLETENESS, "Completeness", PERCENT, "Values that are there, of those due.", _AT_LEAST, ("completeness",)),
    Kind(VALIDITY, "Validity", PERCENT, "Rows that keep every rule.", _AT_LEAST, ("validity", "accuracy", "quality")),
    Kind(AVAILABILITY, "Availability", PERCENT, "Time in which it could be read.", _AT_LEAST, ("availability", "av")),
    Kind(RUN, "Run", PLAIN, "Whether the last run came through: 1, or 0.", _AT_LEAST),
    Kind(DURATION, "Run time", SECONDS, "How long the last run worked on it."),
)

KNOWN: dict[str, Kind] = {kind.name: kind for kind in _KINDS}
"""Every measure that has a meaning of its own; others are named by whoever records them."""


def kind_of(name: str, unit: str | None = None) -> Kind:
    """Return the kind of a measure, a known one in its own unit whatever is said.

    One of a team's own has the unit that is said, and is held to the service level of the same name, at most.
    """
    title = name.replace("_", " ").capitalize()
    return KNOWN.get(name) or Kind(name, title, unit or PLAIN, "", promised_as=(name.lower(),))
