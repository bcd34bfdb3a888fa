"""Profiles of events in memory: each event becomes one code per metric, and the codes are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from treaty.events.drift import codes
from treaty.events.drift.layout import FieldKind, Metric, MetricKind, ProfiledField, ProfileLayout
from treaty.events.drift.profile import Profile

ARRIVAL = "_arrived_at"
"""The name under which a row has the time of its arrival."""


@dataclass(frozen=True)
class EncodedEvents:
    """Events as codes: one list per metric, all of the same length, with the keys and times of the events."""

    columns: Mapping[str, Sequence[int]]
    keys: Sequence[tuple[Any, ...]] | None
    times: Sequence[datetime | None]
    event_time: str | None = None

    def profile(self, version: str, run: int, at: datetime, chosen: Sequence[int] | None = None) -> Profile:
        """Return the profile of all events, or of those at some positions."""
        positions = range(len(self.times)) if chosen is None else chosen
        times = [time for position in positions if (time := self.times[position]) is not None]
        keys = None if self.keys is None else len({self.keys[position] for position in positions})
        return Profile(
            version=version,
            run=run,
            at=at,
            events=len(positions),
            received=len(positions),
            keys=keys,
            event_time=self.event_time,
            first=min(times, default=None),
            last=max(times, default=None),
            histograms={
                name: dict(sorted(Counter(map(column.__getitem__, positions)).items()))
                for name, column in self.columns.items()
                if positions
            },
        )


def profile_rows(
    rows: Iterable[Mapping[str, Any]], layout: ProfileLayout, *, version: str, run: int, at: datetime
) -> Profile:
    """Return the profile of events; each is a mapping from columns to values."""
    return encode_rows(rows, layout).profile(version, run, at)


def encode_rows(rows: Iterable[Mapping[str, Any]], layout: ProfileLayout) -> EncodedEvents:
    """Return the codes of events."""
    columns: dict[str, list[int]] = {metric.name: [] for metric in layout.metrics}
    keys: list[tuple[Any, ...]] = []
    times: list[datetime | None] = []
    for row in rows:
        event = _Event(row, layout)
        for metric in layout.metrics:
            columns[metric.name].append(event.code(metric))
        keys.append(tuple(_find(row, column) for column in layout.key))
        times.append(event.time)
    return EncodedEvents(columns, keys if layout.key else None, times, layout.event_time)


class _Event:
    """The values of one event."""

    def __init__(self, row: Mapping[str, Any], layout: ProfileLayout) -> None:
        self._row = row
        self._layout = layout
        timed = layout.event_time_field
        self.time = as_moment(_find(row, timed.columns)) if timed else None
        self._arrived = as_moment(row.get(ARRIVAL))

    def code(self, metric: Metric) -> int:
        """Return the code of the event in a metric."""
        if metric.given is not None:
            given = self._field_code(metric.given)
            return (given if given != codes.NULL else len(metric.given.values) + 1) * codes.COARSE + self._coarse(
                metric.field
            )
        if metric.kind is MetricKind.TIME_OF_DAY:
            moment = as_moment(_find(self._row, metric.field.columns))
            return codes.NULL if moment is None else codes.time_of_day_code(moment.timestamp())
        if metric.kind is MetricKind.OFFSET:
            return self._offset_code(metric.field)
        return self._field_code(metric.field)

    def _offset_code(self, field: ProfiledField) -> int:
        moment = as_moment(_find(self._row, field.columns))
        since = self._arrived if field.path == self._layout.event_time else self.time
        if moment is None or since is None:
            return codes.NULL
        return codes.offset_code((moment - since).total_seconds())

    def _field_code(self, field: ProfiledField) -> int:
        value = _find(self._row, field.columns)
        if value is None:
            return codes.NULL
        if field.kind is FieldKind.VALUES:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            return field.values.index(text) if text in field.values else len(field.values)
        if field.kind is FieldKind.NUMBER:
            return codes.number_code(float(value)) if isinstance(value, int | float | Decimal) else codes.NULL
        if field.kind is FieldKind.TEXT:
            return codes.text_code(str(value))
        if field.kind is FieldKind.SIZE:
            return codes.size_code(len(value))
        return 0

    def _coarse(self, field: ProfiledField) -> int:
        if field.kind in (FieldKind.TIMESTAMP, FieldKind.DATE):
            return codes.coarse_offset(self._offset_code(field))
        code = self._field_code(field)
        if field.kind is FieldKind.NUMBER:
            return codes.coarse_number(code)
        return codes.coarse_text(code) if field.kind is FieldKind.TEXT else codes.coarse_value(code)


def as_moment(value: Any) -> datetime | None:
    """Return a time with a zone; UTC where it has none, None if it is not a time."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    return datetime(value.year, value.month, value.day, tzinfo=UTC) if isinstance(value, date) else None


def _find(row: Mapping[str, Any], columns: tuple[str, ...]) -> Any:
    value: Any = row
    for name in columns:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
