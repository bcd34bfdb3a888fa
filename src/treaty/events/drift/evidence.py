"""Evidence of drift for people: the labels of codes, and the bins whose shares changed most."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from treaty.events.drift import codes
from treaty.events.drift.comparison import Comparison
from treaty.events.drift.findings import EvidenceBar
from treaty.events.drift.layout import FieldKind, Metric, MetricKind, ProfiledField

MAX_BARS = 12
_NULL = codes.NULL


def _size_label(code: int) -> str:
    return "no value" if code == _NULL else f"{code} or more" if code == codes.MAX_SIZE else str(code)


def _presence_label(code: int) -> str:
    return "no value" if code == _NULL else "a value"


def value_label(values: Sequence[str]) -> Callable[[int], str]:
    """Return the labels of the codes of listed values."""

    def label(code: int) -> str:
        return "no value" if code == _NULL else values[code] if code < len(values) else "another value"

    return label


_LABELS: dict[FieldKind, Callable[[int], str]] = {
    FieldKind.NUMBER: codes.number_label,
    FieldKind.TEXT: codes.text_label,
    FieldKind.SIZE: _size_label,
    FieldKind.PRESENCE: _presence_label,
}


def field_label(field: ProfiledField) -> Callable[[int], str]:
    """Return the labels of the codes of a field."""
    if field.kind is FieldKind.VALUES:
        return value_label(field.values)
    return _LABELS.get(field.kind, codes.time_of_day_label)


def coarse_label(field: ProfiledField) -> Callable[[int], str]:
    """Return the labels of the codes of the second field of a pair."""
    kind, values = field.kind, field.values

    def label(code: int) -> str:
        if code == 0:
            return "without a value"
        if kind is FieldKind.VALUES:
            return values[code - 1] if code - 1 < len(values) else "another value"
        if kind is FieldKind.NUMBER:
            return {1: "0", 2: "negative", 15: "not a number"}.get(code, f"of {10.0 ** (code - 5):,.6g} or more")
        if kind in (FieldKind.TIMESTAMP, FieldKind.DATE):
            return (
                "before the event"
                if code == 1
                else f"{codes.duration_text(codes.offset_seconds((code - 2) * 12))} or later"
            )
        if kind is FieldKind.TEXT:
            return "empty" if code == 1 else "with a text"
        return "with a value" if kind is FieldKind.PRESENCE else f"of {code - 1} elements"

    return label


def evidence_bars(metric: Metric, compared: Comparison, label: Callable[[int], str]) -> tuple[EvidenceBar, ...]:
    """Return the bins that changed most, in their order."""
    listed = sorted(compared.now.keys() | compared.before.keys(), key=lambda code: -compared.change_of(code))
    return tuple(
        EvidenceBar(label(code), round(compared.share_before(code), 6), round(compared.share_now(code), 6))
        for code in sorted(listed[:MAX_BARS], key=_order_of(metric))
    )


def _order_of(metric: Metric) -> Callable[[int], float]:
    if metric.kind is MetricKind.OFFSET:
        return _by_offset
    is_number = metric.kind is MetricKind.FIELD and metric.field.kind is FieldKind.NUMBER
    return _by_number if is_number else _by_code


def _by_code(code: int) -> float:
    return code


def _by_offset(code: int) -> float:
    return -math.inf if code == _NULL else codes.offset_seconds(code)


def _by_number(code: int) -> float:
    is_negative = codes.NEGATIVE < code < codes.NOT_A_NUMBER
    return codes.NEGATIVE - code if is_negative else -math.inf if code == _NULL else code


def percent_text(share: float) -> str:
    """Return a share as a text, such as 2.5 %."""
    return f"{100 * share:.3g} %"
