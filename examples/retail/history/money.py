"""Amounts in whole cents, so that sums are exact."""

from __future__ import annotations

PER_MILLE = 1_000
_DECIMALS = tuple(f".{number:02}" for number in range(100))


def amount(hundredths: int) -> str:
    """Return the amount as a JSON number, such as 12.50."""
    return f"{hundredths // 100}{_DECIMALS[hundredths % 100]}"


def hundredths(number: float) -> int:
    """Return a JSON number with two decimals as hundredths."""
    return round(number * 100)


def share_of(total: int, part: int, whole: int, step: int) -> int:
    """Return the share of some of several equal pieces in a total, in whole steps; all pieces have the full total."""
    return total if part == whole else total * part // whole // step * step


def tax_within(gross: int, rate: int, step: int) -> int:
    """Return the tax that a gross amount contains, at a rate per mille, in whole steps."""
    return gross * rate // (PER_MILLE + rate) // step * step
