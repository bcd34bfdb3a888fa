"""The order of masks: which of two masks reveals less."""

from __future__ import annotations

from treaty.contracts.data_policies import Granularity, Mask, MaskMethod

_METHODS = {method: rank for rank, method in enumerate(MaskMethod)}
_PERIODS = {period: rank for rank, period in enumerate((Granularity.DAY, Granularity.MONTH, Granularity.YEAR))}


def strictness(mask: Mask | None) -> tuple[int, int]:
    """Return a sort key: the method, then how coarse a generalised value is; no mask reveals most.

    The order of methods is fixed: generalise, tokenise, hash, redact, null. A longer period, a wider range and a
    shorter prefix are stricter.
    """
    if mask is None:
        return (-1, 0)
    if mask.method is not MaskMethod.GENERALISE or mask.to is None:
        return (_METHODS[mask.method], 0)
    if mask.to in _PERIODS:
        return (_METHODS[mask.method], _PERIODS[mask.to])
    size = mask.size or 0
    return (_METHODS[mask.method], -size if mask.to is Granularity.PREFIX else size)


def is_comparable(one: Mask, other: Mask) -> bool:
    """Return whether one of two masks of the same method can be stricter: not if they generalise other things."""
    if one.method is not MaskMethod.GENERALISE or other.method is not MaskMethod.GENERALISE:
        return True
    periods = {one.to, other.to} <= _PERIODS.keys()
    return periods or one.to is other.to
