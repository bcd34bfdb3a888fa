"""What changed in the values of a field: a kind of drift and a message, by the kind of the field."""

from __future__ import annotations

import math
from collections.abc import Callable

from treaty.events.drift import codes
from treaty.events.drift.comparison import (
    MIN_MOVED,
    MIN_MOVED_OF_FEW,
    Comparison,
    Counts,
    best_shift,
    moved_share,
    share_of,
)
from treaty.events.drift.evidence import percent_text, value_label
from treaty.events.drift.findings import DriftKind
from treaty.events.drift.layout import FieldKind, Metric


def _number_drift(metric: Metric, compared: Comparison) -> tuple[DriftKind, str]:
    path = metric.field.path
    signs = [_sign_counts(counts) for counts in (compared.now, compared.before)]
    if moved_share(*signs) >= MIN_MOVED_OF_FEW:
        before, now = (percent_text(share_of(sign, -1)) for sign in reversed(signs))
        return DriftKind.SIGN, f"{path} is negative in {now} of the events with a value; before, it was {before}"
    shift = best_shift(compared.now, compared.before, _move_number, [b for b in range(-32, 33) if abs(b) >= 2])
    if shift.explains(compared.now, compared.before):
        verb = "multiplied" if shift.bins > 0 else "divided"
        return DriftKind.SCALE, f"{path} looks {verb} by about {_factor(abs(shift.bins)):,.3g}"
    return DriftKind.AMOUNTS, f"{path} has different amounts in {percent_text(compared.moved)} of the events"


_UNIT_FACTORS = (24.0, 60.0, 3_600.0, 86_400.0)


def _factor(bins: int) -> float:
    """Return the factor of a shift; one that converts between common units if it is in the same bin."""
    factor = float(10 ** (bins / codes.NUMBER_BINS_PER_DECADE))
    alike = [one for one in _UNIT_FACTORS if abs(math.log10(one / factor)) < 0.5 / codes.NUMBER_BINS_PER_DECADE]
    return alike[0] if alike and bins % codes.NUMBER_BINS_PER_DECADE else factor


def _move_number(code: int, bins: int) -> int | None:
    if code in (0, codes.NOT_A_NUMBER):
        return code
    sign, bin_ = (codes.NEGATIVE, code - codes.NEGATIVE) if code > codes.NEGATIVE else (0, code)
    return sign + bin_ + bins if 1 <= bin_ + bins <= codes.NEGATIVE else None


def _sign_counts(counts: Counts) -> dict[int, int]:
    signs: dict[int, int] = {}
    for code, count in counts.items():
        sign = 0 if code == 0 else -1 if codes.NEGATIVE < code < codes.NOT_A_NUMBER else 1
        signs[sign] = signs.get(sign, 0) + count
    return signs


def _text_drift(metric: Metric, compared: Comparison) -> tuple[DriftKind, str]:
    path = metric.field.path
    before, now = (_shape_counts(counts) for counts in (compared.before, compared.now))
    top = max(now.keys() | before.keys(), key=lambda shape: share_of(now, shape) - share_of(before, shape))
    message = (
        f"{path} is {codes.SHAPES[top]} in {percent_text(share_of(now, top))} of the events with a value; "
        f"before, it was {percent_text(share_of(before, top))}"
    )
    times_now, times_before = ({shape: one.get(shape, 0) for shape in codes.TIMESTAMP_SHAPES} for one in (now, before))
    if sum(times_now.values()) and sum(times_before.values()) and moved_share(times_now, times_before) >= MIN_MOVED:
        return DriftKind.TIME_ZONE, message
    if moved_share(now, before) < compared.moved / 2:
        message = f"{path} has a different length in {percent_text(compared.moved)} of the events"
    return DriftKind.TEXT_SHAPE, message


def only_counts_on(compared: Comparison) -> bool:
    """Return whether texts with digits only became longer or shorter, as numbered ids do that had several lengths."""
    before, now = (_shape_counts(counts) for counts in (compared.before, compared.now))
    has_digits = all(shape in _WITH_DIGITS for shape in before.keys() | now.keys())
    is_constant = max(compared.before.values()) >= _CONSTANT * sum(compared.before.values())
    return has_digits and not is_constant and moved_share(now, before) < MIN_MOVED


_WITH_DIGITS = frozenset({codes.DIGITS, codes.CAPITAL_CODE, codes.MIXED})
_CONSTANT = 0.99


def _shape_counts(counts: Counts) -> dict[int, int]:
    shapes: dict[int, int] = {}
    for code, count in counts.items():
        shapes[code // codes.LENGTHS] = shapes.get(code // codes.LENGTHS, 0) + count
    return shapes


def _values_drift(metric: Metric, compared: Comparison) -> tuple[DriftKind, str]:
    top = compared.most_changed
    label = value_label(metric.field.values)
    return DriftKind.VALUES, (
        f"{metric.field.path} is {label(top)} in {percent_text(compared.share_now(top))} of the events with a value; "
        f"before, it was {percent_text(compared.share_before(top))}"
    )


def _sizes_drift(metric: Metric, compared: Comparison) -> tuple[DriftKind, str]:
    return (
        DriftKind.SIZES,
        f"{metric.field.path} has a different length in {percent_text(compared.moved)} of the events",
    )


_CHANGES: dict[FieldKind, Callable[[Metric, Comparison], tuple[DriftKind, str]]] = {
    FieldKind.NUMBER: _number_drift,
    FieldKind.TEXT: _text_drift,
    FieldKind.VALUES: _values_drift,
    FieldKind.SIZE: _sizes_drift,
}


def describe_change(metric: Metric, compared: Comparison) -> tuple[DriftKind, str]:
    """Return the kind of drift of a field whose values are distributed unusually, and a message."""
    return _CHANGES[metric.field.kind](metric, compared)
