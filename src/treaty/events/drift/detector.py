"""Detector of drift of meaning: a pure function of the profile of a run and the profiles of runs before it.

A metric drifts if it differs by more than chance explains, by more than the runs before differ among themselves, and by
enough to matter. The runs of the same weekday are the reference if there are enough of them, so that a season is not
taken for drift; without a comparable day, only changes that no season explains are reported, such as a factor of 100.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from treaty.events.drift import codes
from treaty.events.drift.comparison import (
    MIN_EVENTS,
    MIN_MOVED,
    MIN_MOVED_OF_FEW,
    MIN_REFERENCES,
    Comparison,
    Counts,
    best_shift,
    compare,
)
from treaty.events.drift.evidence import coarse_label, evidence_bars, field_label, percent_text
from treaty.events.drift.field_changes import describe_change, only_counts_on
from treaty.events.drift.findings import DriftFinding, DriftKind, EvidenceBar
from treaty.events.drift.layout import FieldKind, Metric, MetricKind, ProfiledField, ProfileLayout
from treaty.events.drift.profile import Profile, add_counts
from treaty.events.drift.references import Reference, choose_reference

MIN_RATE_CHANGE = 0.05
"""The relative change of the events per key that counts; it is several times the error of counted keys."""

_MIN_GIVEN = 150
"""Events with a listed value, before and now, that the comparison of its use needs."""
_MIN_MOVED_OF_USE = 0.15
_MIN_LOST_NULLS = 0.6
"""The share of missing values that must be gone for a default to have replaced them."""
_MIN_TAKEN_BY_BIN = 0.5
_MIN_VIOLATION_SHARE = 0.005
_NULL = codes.NULL


def detect_drift(new: Profile, references: Sequence[Profile], layout: ProfileLayout) -> tuple[DriftFinding, ...]:
    """Return the drifts of a profile; the references come oldest first, without what was declared since."""
    if new.events < MIN_EVENTS:
        return ()
    reference = choose_reference(new, references)
    if reference is None:
        return ()
    detector = _Detector(new, reference, layout)
    return tuple(detector.findings())


_SEASONAL = frozenset(
    {
        DriftKind.TIMES,
        DriftKind.AMOUNTS,
        DriftKind.NULLS,
        DriftKind.VALUES,
        DriftKind.VALUE_USE,
        DriftKind.TEXT_SHAPE,
        DriftKind.SIZES,
        DriftKind.RATE_PER_KEY,
        DriftKind.VIOLATIONS,
    }
)
"""Kinds that a season may explain; they are reported only if the reference has comparable days."""


class _Detector:
    """The comparison of one profile with its reference."""

    def __init__(self, new: Profile, reference: Reference, layout: ProfileLayout) -> None:
        self._new = new
        self._reference = reference
        self._layout = layout
        self._min_moved = MIN_MOVED if len(reference.profiles) >= MIN_REFERENCES else MIN_MOVED_OF_FEW

    def findings(self) -> Iterator[DriftFinding]:
        """Yield the findings, those about fields first."""
        of_fields = [
            *self._of_times(),
            *(found for metric in self._metrics(MetricKind.FIELD) for found in self._of_field(metric)),
        ]
        of_others = [*self._of_uses({one.field for one in of_fields}), *self._of_rate(), *self._of_violations()]
        for one in (*of_fields, *of_others):
            if self._reference.has_season or one.kind not in _SEASONAL:
                yield one

    def _metrics(self, kind: MetricKind) -> list[Metric]:
        return [metric for metric in self._layout.metrics if metric.kind is kind]

    def _compare(self, metric: Metric, keep: Callable[[int], bool] = lambda code: True) -> Comparison | None:
        def counts(profile: Profile) -> Counts:
            return {code: count for code, count in profile.histograms.get(metric.name, {}).items() if keep(code)}

        references = [known for one in self._reference.profiles if (known := counts(one))]
        design = self._new.rate_per_key or 1.0
        return compare(counts(self._new), references, min_moved=self._min_moved, design=design)

    def _found(
        self, kind: DriftKind, metric: Metric, comparison: Comparison, message: str, label: Callable[[int], str]
    ) -> DriftFinding:
        return DriftFinding(
            kind,
            metric.field.path,
            (metric.name,),
            message,
            comparison.moved,
            sum(metric.name in one.histograms for one in self._reference.profiles),
            sum(comparison.before.values()),
            sum(comparison.now.values()),
            evidence=evidence_bars(metric, comparison, label),
        )

    # Times

    def _of_times(self) -> list[DriftFinding]:
        """Return the drifts of timestamps; if all of them moved by the same time, that is one finding."""
        found = [one for metric in self._metrics(MetricKind.OFFSET) for one in self._of_time(metric)]
        timestamps = [metric.field.path for metric in self._metrics(MetricKind.TIME_OF_DAY)]
        moved = {one.field: shift for one in found if (shift := self._shift_of_day(one.field))}
        own = self._layout.event_time
        if own in moved and len(set(moved.values())) == 1 and set(moved) == set(timestamps):
            first = next(one for one in found if one.field == own)
            by = codes.duration_text(moved[own] * 1_800)
            metrics = tuple(metric for one in found for metric in one.metrics)
            together = replace(
                first,
                kind=DriftKind.TIME_SHIFT,
                field="",
                metrics=metrics,
                message=f"all timestamps moved by {by}, while events arrive when they did before",
            )
            return [together]
        return found

    def _of_time(self, offset: Metric) -> Iterator[DriftFinding]:
        """Yield the drift of one timestamp: a shift by a time, missing values, or another distribution."""
        path = offset.field.path
        if nulls := self._of_nulls(offset, codes.offset_label):
            yield nulls
            return
        of_day = self._layout.by_name.get(f"{MetricKind.TIME_OF_DAY}:{path}")
        compared = self._compare(offset, _has_value)
        day = self._compare(of_day, _has_value) if of_day and self._days_are_comparable else None
        is_own = path == self._layout.event_time
        since = "the arrival" if is_own else self._layout.event_time or "the event"
        is_late_or_early = not is_own or (compared is not None and compared.is_unusual)
        if day is not None and day.is_unusual and of_day and is_late_or_early and (shift := self._shift_of_day(path)):
            by = codes.duration_text(shift * 1_800)
            message = f"{path} moved by {by}" + ("" if is_own else f" against {since}")
            yield replace(
                self._found(DriftKind.LOCAL_TIME, of_day, day, message, codes.time_of_day_label),
                metrics=(offset.name, of_day.name),
            )
            return
        if compared is not None and compared.is_unusual:
            before, now = (_distance_text(_median(counts)) for counts in (compared.before, compared.now))
            message = f"{path} is {now} {since} by the median; it was {before}"
            found = self._found(DriftKind.TIMES, offset, compared, message, codes.offset_label)
            yield replace(found, metrics=(offset.name, *([of_day.name] if of_day else [])))

    @property
    def _days_are_comparable(self) -> bool:
        """Whether times of the day can be compared: all profiles cover the day, or enough of them the same hours."""
        if all(one.covers_day for one in (self._new, *self._reference.profiles)):
            return True
        return self._reference.has_season and len(self._reference.profiles) >= MIN_REFERENCES

    def _shift_of_day(self, path: str) -> int:
        """Return by how many half hours a timestamp moved within the day; 0 if no shift explains how it changed."""
        name = f"{MetricKind.TIME_OF_DAY}:{path}"
        now = _with_values(self._new.histograms.get(name, {}))
        before = _with_values(add_counts(one.histograms.get(name, {}) for one in self._reference.profiles))
        shifts = [bins for bins in range(-codes.HALF_HOURS // 2 + 1, codes.HALF_HOURS // 2) if bins]
        found = best_shift(now, before, lambda code, bins: (code + bins) % codes.HALF_HOURS, shifts)
        return found.bins if found.explains(now, before) else 0

    # Fields

    def _of_field(self, metric: Metric) -> Iterator[DriftFinding]:
        kind = metric.field.kind
        label = field_label(metric.field)
        if nulls := self._of_nulls(metric, label):
            yield nulls
            return
        compared = self._compare(metric, _has_value)
        if compared is None or not compared.is_unusual or kind is FieldKind.PRESENCE:
            return
        if kind is FieldKind.TEXT and only_counts_on(compared):
            return
        drift, message = describe_change(metric, compared)
        yield self._found(drift, metric, compared, message, label)

    def _of_nulls(self, metric: Metric, label: Callable[[int], str]) -> DriftFinding | None:
        """Return whether values are missing more or less often, or were replaced by a default."""
        full = self._compare(metric)
        if full is None:
            return None
        missing = [_missing(one.histograms.get(metric.name, {})) for one in (self._new, *self._reference.profiles)]
        compared = compare(missing[0], missing[1:], min_moved=self._min_moved / 2, design=self._new.rate_per_key or 1.0)
        if compared is None or not compared.is_unusual:
            return None
        before, now = compared.share_before(1), compared.share_now(1)
        path = metric.field.path
        taken = _taken_by(full)
        if now <= (1 - _MIN_LOST_NULLS) * before and taken is not None:
            message = (
                f"{path} has no value in {percent_text(now)} of the events where it was {percent_text(before)}; "
                f"{percent_text(full.share_now(taken))} now have {label(taken)}, where it was "
                f"{percent_text(full.share_before(taken))}"
            )
            return self._found(DriftKind.DEFAULT, metric, full, message, label)
        message = f"{path} has no value in {percent_text(now)} of the events; before, it was {percent_text(before)}"
        return self._found(DriftKind.NULLS, metric, full, message, label)

    # Use of listed values

    def _of_uses(self, drifted: set[str]) -> Iterator[DriftFinding]:
        """Yield the listed values with which another field changed, the clearest metric of each value.

        A boolean that changed with a listed value is not reported the other way round.
        """
        found = [one for metric in self._metrics(MetricKind.PAIR) for one in self._of_pair(metric, drifted)]
        pairs = {self._layout.by_name[one.metrics[0]] for one in found}
        mirrored = {pair.name for pair in pairs for other in pairs if _mirrors(pair, other)}
        kept = [one for one in found if one.metrics[0] not in mirrored]
        by_value = sorted(kept, key=lambda one: (one.field, one.value or "", -one.moved))
        for _, group in groupby(by_value, key=lambda one: (one.field, one.value)):
            listed = list(group)
            yield replace(listed[0], metrics=tuple(dict.fromkeys(metric for one in listed for metric in one.metrics)))

    def _of_pair(self, metric: Metric, drifted: set[str]) -> list[DriftFinding]:
        """Return the values of the first field with which the second one changed.

        Where the second field drifts by itself, with most values, that says nothing about the use of one of them.
        """
        given, other = metric.given, metric.field
        if given is None or given.path in drifted:
            return []
        compared = {value: one for value, one in self._uses(metric, given) if one is not None}
        unusual = {value: one for value, one in compared.items() if one.is_unusual}
        if other.path in drifted and 2 * len(unusual) > len(compared):
            return []
        label = coarse_label(other)
        found = []
        for value, use in unusual.items():
            top = use.most_changed
            message = (
                f"events with {given.path} {value} have {other.path} {label(top)} in "
                f"{percent_text(use.share_now(top))}, before in {percent_text(use.share_before(top))}"
            )
            one = self._found(DriftKind.VALUE_USE, metric, use, message, label)
            found.append(replace(one, field=given.path, value=value))
        return found

    def _uses(self, metric: Metric, given: ProfiledField) -> Iterator[tuple[str, Comparison | None]]:
        for place, value in enumerate(given.values):
            counts = [_use_counts(one, metric, place) for one in (self._new, *self._reference.profiles)]
            design = self._new.rate_per_key or 1.0
            references = [one for one in counts[1:] if one]
            yield (
                value,
                compare(counts[0], references, min_moved=_MIN_MOVED_OF_USE, design=design, min_events=_MIN_GIVEN),
            )

    # Rates

    def _of_rate(self) -> Iterator[DriftFinding]:
        """Yield a change of the number of events per key."""
        now = self._new.rate_per_key
        before = [rate for one in self._reference.profiles if (rate := one.rate_per_key) is not None]
        if now is None or not before or self._new.keys is None:
            return
        keys = sum(one.keys or 0 for one in self._reference.profiles)
        mean = sum(one.events for one in self._reference.profiles if one.keys) / max(keys, 1)
        chance = math.sqrt(max(now, mean) * (1 / max(self._new.keys, 1) + 1 / max(keys, 1)))
        usual = max(abs(rate - mean) for rate in before) if len(before) >= MIN_REFERENCES else 0.0
        if abs(now - mean) <= max(MIN_RATE_CHANGE * mean, 6 * chance, 2 * usual):
            return
        moved = min(abs(now - mean) / max(now, mean), 1.0)
        more = "more" if now > mean else "fewer"
        message = (
            f"a key has {now:.2f} events where it had {mean:.2f}: {percent_text(abs(now / mean - 1))} {more}, "
            "as if events had another reason"
        )
        bars = (EvidenceBar("further events of a key", max(0.0, 1 - 1 / mean), max(0.0, 1 - 1 / now)),)
        yield DriftFinding(
            DriftKind.RATE_PER_KEY,
            "",
            ("keys",),
            message,
            moved,
            len(before),
            self._reference.events,
            self._new.events,
            evidence=bars,
        )

    def _of_violations(self) -> Iterator[DriftFinding]:
        """Yield the rules and invariants that refuse another share of the events."""
        names = {name for one in (self._new, *self._reference.profiles) for name in one.violations}
        for name in sorted(names):
            counts = [
                {1: one.violations.get(name, 0), 0: max(one.received - one.violations.get(name, 0), 0)}
                for one in (self._new, *self._reference.profiles)
            ]
            compared = compare(counts[0], counts[1:], min_moved=_MIN_VIOLATION_SHARE)
            if compared is None or not compared.is_unusual:
                continue
            message = (
                f"{name} refuses {percent_text(compared.share_now(1))} of the events; "
                f"before, it was {percent_text(compared.share_before(1))}"
            )
            yield DriftFinding(
                DriftKind.VIOLATIONS,
                "",
                (f"violation:{name}",),
                message,
                compared.moved,
                len(self._reference.profiles),
                sum(compared.before.values()),
                sum(compared.now.values()),
                name,
                (EvidenceBar(f"refused by {name}", compared.share_before(1), compared.share_now(1)),),
            )


def _use_counts(profile: Profile, metric: Metric, place: int) -> dict[int, int]:
    """Return the counts of the second field of a pair in the events with one value of the first."""
    low = place * codes.COARSE
    counts = profile.histograms.get(metric.name, {})
    return {code - low: count for code, count in counts.items() if low <= code < low + codes.COARSE}


def _mirrors(pair: Metric, other: Metric) -> bool:
    """Return whether a pair shows what another one shows better: its first field has fewer listed values."""
    if pair.given is None or other.given is None or pair.given.path != other.field.path:
        return False
    return other.given.path == pair.field.path and len(pair.given.values) < len(other.given.values)


def _has_value(code: int) -> bool:
    return code != _NULL


def _with_values(counts: Counts) -> dict[int, int]:
    return {code: count for code, count in counts.items() if code != _NULL}


def _missing(counts: Counts) -> dict[int, int]:
    missing = counts.get(_NULL, 0)
    return {1: missing, 0: sum(counts.values()) - missing}


def _taken_by(compared: Comparison) -> int | None:
    """Return the bin that grew by most of what the missing values lost."""
    lost = compared.share_before(_NULL) - compared.share_now(_NULL)
    present = [code for code in compared.now if code != _NULL]
    grown = max(present, key=lambda code: compared.share_now(code) - compared.share_before(code), default=None)
    if grown is None or lost <= 0:
        return None
    growth = compared.share_now(grown) - compared.share_before(grown)
    return grown if growth >= _MIN_TAKEN_BY_BIN * lost else None


def _median(counts: Counts) -> float:
    """Return the median of offsets, in seconds."""
    ordered = sorted((codes.offset_seconds(code), count) for code, count in counts.items())
    half, seen = sum(counts.values()) / 2, 0
    for seconds, count in ordered:
        seen += count
        if seen >= half:
            return seconds
    return 0.0


def _distance_text(seconds: float) -> str:
    text = codes.duration_text(seconds)
    return f"{text[1:]} {'before' if seconds < 0 else 'after'}" if seconds else "at"
