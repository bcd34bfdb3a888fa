"""What is profiled of the events of a contract: one histogram of codes for each field, time and pair of fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from treaty.contracts.frozen import lazy
from treaty.contracts.model import Contract, Field
from treaty.contracts.paths import FieldPath
from treaty.contracts.sql_quoting import identifier_problem
from treaty.events.drift import codes

MAX_FIELDS = 60
"""Fields of a contract that are profiled, in its order."""
MAX_PAIRS = 24
"""Pairs of a field with listed values and another field."""
MAX_VALUES = 40
"""Listed values that are told apart; the others count as one."""
MAX_CONDITIONS = 12
"""Listed values that a field may have to be the first of a pair."""

_UNCLASSIFIED = frozenset({"public", "open", "none", "unclassified"})


class FieldKind(StrEnum):
    """How the values of a field are profiled."""

    PRESENCE = "presence"
    """Only whether there is a value: classified fields, numbers that count events or keys, types without an order."""
    NUMBER = "number"
    TIMESTAMP = "timestamp"
    DATE = "date"
    TEXT = "text"
    VALUES = "values"
    SIZE = "size"
    """The number of elements of an array or a map."""


class MetricKind(StrEnum):
    """What a histogram counts."""

    FIELD = "field"
    TIME_OF_DAY = "time"
    OFFSET = "offset"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class ProfiledField:
    """A field that is profiled."""

    path: str
    columns: tuple[str, ...]
    """Names of the columns that lead to it."""
    kind: FieldKind
    values: tuple[str, ...] = ()
    """The listed values."""
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class Metric:
    """A histogram of a profile."""

    kind: MetricKind
    field: ProfiledField
    given: ProfiledField | None = None
    """For a pair, the field with listed values whose use it shows."""

    @property
    def codes(self) -> int:
        """The number of codes from 0 on."""
        if self.given is not None:
            return (len(self.given.values) + 2) * codes.COARSE
        if self.kind is MetricKind.FIELD:
            return _CODES.get(self.field.kind, len(self.field.values) + 1)
        return codes.HALF_HOURS if self.kind is MetricKind.TIME_OF_DAY else codes.BEFORE + codes.MAX_OFFSET + 1

    @property
    def name(self) -> str:
        """The name in profiles."""
        return f"{self.kind}:{self.given.path}>{self.field.path}" if self.given else f"{self.kind}:{self.field.path}"


_CODES = {
    FieldKind.PRESENCE: 1,
    FieldKind.NUMBER: codes.NOT_A_NUMBER + 1,
    FieldKind.TEXT: len(codes.SHAPES) * codes.LENGTHS,
    FieldKind.SIZE: codes.MAX_SIZE + 1,
}


@dataclass(frozen=True)
class ProfileLayout:
    """The fields and metrics of a contract; offsets are counted from the event time, or from the arrival for itself."""

    fields: tuple[ProfiledField, ...]
    key: tuple[tuple[str, ...], ...] = ()
    """The columns of the key that events are counted by; empty if the contract orders by none."""
    event_time: str | None = None
    """The path of the field with the time of the event."""

    @lazy
    def metrics(self) -> tuple[Metric, ...]:
        """All histograms, in a fixed order."""
        return (*(metric for field in self.fields for metric in _metrics_of(field)), *self._pairs())

    @lazy
    def by_name(self) -> dict[str, Metric]:
        """The metrics by name."""
        return {metric.name: metric for metric in self.metrics}

    @property
    def event_time_field(self) -> ProfiledField | None:
        """The field with the time of the event."""
        return next((field for field in self.fields if field.path == self.event_time), None)

    def _pairs(self) -> Iterator[Metric]:
        given = [field for field in self.fields if 2 <= len(field.values) <= MAX_CONDITIONS]
        others = sorted(
            (field for field in self.fields if field.path != self.event_time and not _says_nothing(field)),
            key=lambda field: (field.is_required, _PAIRED_FIRST.index(field.kind)),
        )
        pairs = [(one, other) for other in others for one in given if one.path != other.path]
        for one, other in pairs[:MAX_PAIRS]:
            yield Metric(MetricKind.PAIR, other, one)


_PAIRED_FIRST = (
    FieldKind.NUMBER,
    FieldKind.VALUES,
    FieldKind.TIMESTAMP,
    FieldKind.DATE,
    FieldKind.SIZE,
    FieldKind.PRESENCE,
    FieldKind.TEXT,
)


def _says_nothing(field: ProfiledField) -> bool:
    """Return whether a field looks the same in all events as far as pairs tell values apart."""
    return field.is_required and field.kind in (FieldKind.PRESENCE, FieldKind.TEXT)


def _metrics_of(field: ProfiledField) -> Iterator[Metric]:
    if field.kind is FieldKind.TIMESTAMP:
        yield Metric(MetricKind.TIME_OF_DAY, field)
    if field.kind in (FieldKind.TIMESTAMP, FieldKind.DATE):
        yield Metric(MetricKind.OFFSET, field)
    else:
        yield Metric(MetricKind.FIELD, field)


def layout_of(contract: Contract, event_time: str | None = None) -> ProfileLayout:
    """Return what is profiled of the first object of a contract; `event_time` names the field with that time."""
    schema = contract.schema[:1]
    ordering = contract.treaty.ordering
    counted = frozenset({ordering.sequence} if ordering and ordering.sequence else ())
    fields = [field for item in schema for field in _fields(item.fields, FieldPath(), (), counted)][:MAX_FIELDS]
    names = (ordering.key if ordering else ()) or (schema[0].primary_key if schema else ())
    tops = {field.name: field for item in schema for field in item.fields if not identifier_problem(_column(field))}
    key = tuple((_column(tops[name]),) for name in names if name in tops)
    timed = event_time if any(one.path == event_time for one in fields) else None
    return ProfileLayout(tuple(fields), key if len(key) == len(names) else (), timed)


def _fields(
    fields: tuple[Field, ...], root: FieldPath, columns: tuple[str, ...], counted: frozenset[str]
) -> Iterator[ProfiledField]:
    """Yield the fields inside others; those that are `counted` have larger numbers in every run."""
    for field in fields:
        if identifier_problem(_column(field)):
            continue  # SQL cannot name it
        path, inside = root.field(field.name or ""), (*columns, _column(field))
        if field.properties and not field.is_union:
            yield from _fields(field.properties, path, inside, frozenset())
        else:
            kind = _kind(field, is_counted=field.name in counted)
            yield ProfiledField(
                str(path), inside, kind, _values(field) if kind is FieldKind.VALUES else (), field.is_required
            )


def _column(field: Field) -> str:
    return field.physical_name or field.name or ""


def _kind(field: Field, *, is_counted: bool) -> FieldKind:
    name = field.type.name if field.type else "string"
    if _is_classified(field):
        return FieldKind.PRESENCE
    if name == "boolean" or (name in ("string", "integer") and _values(field)):
        return FieldKind.VALUES
    if name in ("integer", "number") and (is_counted or field.primary_key or field.unique):
        return FieldKind.PRESENCE
    return _KINDS.get(name, FieldKind.PRESENCE)


_KINDS = {
    "integer": FieldKind.NUMBER,
    "number": FieldKind.NUMBER,
    "timestamp": FieldKind.TIMESTAMP,
    "date": FieldKind.DATE,
    "string": FieldKind.TEXT,
    "array": FieldKind.SIZE,
    "map": FieldKind.SIZE,
}


def _is_classified(field: Field) -> bool:
    label = (field.classification or "public").strip().lower()
    return label not in _UNCLASSIFIED or field.treaty.get("pii") is True


def _values(field: Field) -> tuple[str, ...]:
    if field.type is not None and field.type.name == "boolean":
        return ("false", "true")
    listed = (entry.get("value") for entry in field.enum or ())
    return tuple(dict.fromkeys(str(value) for value in listed if value is not None))[:MAX_VALUES]
