"""What the detector finds: the kind of a drift, where it is, and the shares that show it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256


class DriftKind(StrEnum):
    """What changed its meaning."""

    TIME_SHIFT = "time_shift"
    LOCAL_TIME = "local_time"
    TIME_ZONE = "time_zone"
    TIMES = "times"
    SCALE = "scale"
    SIGN = "sign"
    AMOUNTS = "amounts"
    DEFAULT = "default"
    NULLS = "nulls"
    VALUES = "values"
    VALUE_USE = "value_use"
    TEXT_SHAPE = "text_shape"
    SIZES = "sizes"
    RATE_PER_KEY = "rate_per_key"
    VIOLATIONS = "violations"

    @property
    def words(self) -> str:
        """What it means."""
        return _WORDS[self]


_WORDS = {
    DriftKind.TIME_SHIFT: "all timestamps moved together",
    DriftKind.LOCAL_TIME: "a timestamp moved against the others, as local time sent as UTC does",
    DriftKind.TIME_ZONE: "timestamps in texts have a different time zone",
    DriftKind.TIMES: "a timestamp has a different distance from the event, or different times of the day",
    DriftKind.SCALE: "amounts have a different scale or unit",
    DriftKind.SIGN: "amounts have a different sign",
    DriftKind.AMOUNTS: "amounts are distributed differently",
    DriftKind.DEFAULT: "a default replaces missing values",
    DriftKind.NULLS: "values are missing more or less often",
    DriftKind.VALUES: "listed values have different shares",
    DriftKind.VALUE_USE: "a listed value is used for something else",
    DriftKind.TEXT_SHAPE: "texts have a different length or shape",
    DriftKind.SIZES: "lists have different lengths",
    DriftKind.RATE_PER_KEY: "keys have more or fewer events, as if events had another reason",
    DriftKind.VIOLATIONS: "a rule or invariant refuses more or fewer events",
}


@dataclass(frozen=True, slots=True)
class EvidenceBar:
    """The share of the events in one bin, before and now."""

    label: str
    before: float
    now: float


@dataclass(frozen=True, slots=True)
class DriftFinding:
    """A change of meaning, with its evidence."""

    kind: DriftKind
    field: str
    """The field; empty for all timestamps and for the rate of events."""
    metrics: tuple[str, ...]
    """The histograms that show it."""
    message: str
    moved: float
    """The share of the events that are in another bin than before."""
    runs: int
    """The number of profiles that it was compared with."""
    events_before: int
    events: int
    value: str | None = None
    """The listed value whose use changed."""
    evidence: tuple[EvidenceBar, ...] = ()

    @property
    def fingerprint(self) -> str:
        """What identifies the finding from run to run."""
        named = "\x1f".join((self.kind.value, self.field, self.value or ""))
        return sha256(named.encode()).hexdigest()[:16]


class DriftAnswerKind(StrEnum):
    """What an owner may answer to a finding."""

    NEW_VERSION = "new_version"
    """The meaning changed: a draft of the next MAJOR version declares it."""
    EXPLAINED = "explained"
    """The contract means what it meant; the explanation holds until a day."""
