"""Broken rules as bits: one long per row holds the answer of up to 62 rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.spark.folding import all_of, folded
from treaty.spark.preparing import PRIVATE, named
from treaty.spark.rules import Rule

_BITS = 62
Place = tuple[int, int]
"""Which mask, and which bit of it."""


@dataclass(frozen=True)
class Masks:
    """The layout of the masks of a list of rules."""

    rules: tuple[Rule, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The mask columns."""
        return tuple(f"{PRIVATE}mask_{number}" for number in range((len(self.rules) + _BITS - 1) // _BITS))

    def columns(self, broken: Sequence[Column]) -> list[Column]:
        """Return the mask columns, given one condition for each rule; a condition that is null is not broken."""
        chunks = [broken[start : start + _BITS] for start in range(0, len(broken), _BITS)]
        return [_mask(chunk).alias(name) for chunk, name in zip(chunks, self.names, strict=True)]

    def is_set(self, index: int) -> Column:
        """Tell whether a row breaks the rule at this place of the list."""
        return named(self.names[index // _BITS]).bitwiseAND(F.lit(1 << (index % _BITS))) != F.lit(0)

    @staticmethod
    def bits_of(masks: Iterable[int]) -> Iterator[int]:
        """Yield the places of the rules that a row's masks say it breaks."""
        for number, mask in enumerate(masks):
            while mask:
                lowest = mask & -mask
                yield number * _BITS + lowest.bit_length() - 1
                mask ^= lowest

    def none_quarantines(self) -> Column:
        """Tell whether a row breaks no rule that would set it apart."""
        parts = []
        for number, name in enumerate(self.names):
            chunk = self.rules[number * _BITS : (number + 1) * _BITS]
            bits = sum(1 << place for place, rule in enumerate(chunk) if rule.quarantines)
            if bits:
                parts.append(named(name).bitwiseAND(F.lit(bits)) == F.lit(0))
        return all_of(parts)


def _mask(conditions: Sequence[Column]) -> Column:
    none = F.expr("0L")  # a long, and so are the bits beside it
    bits = [F.when(condition, F.lit(1 << place)).otherwise(none) for place, condition in enumerate(conditions)]
    return folded(Column.bitwiseOR, bits)
