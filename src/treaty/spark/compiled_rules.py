"""Rules compiled to columns: the condition, the violations and the verdict of a row, for any frame of one layout.

Building the columns of sixty rules takes thousands of calls to the JVM, so that they are kept for further frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.spark.columns import INTERNAL_PREFIX, all_of, fold_columns, quoted_col
from treaty.spark.rules import ReferenceRule, RowRule, Rule, RuleSet, UniqueRule, flag_column
from treaty.spark.violations import Origin, Reason, violations_column

_BITS = 62
BitPosition = tuple[int, int]
"""Index of a mask and of a bit in it."""


@dataclass(frozen=True)
class RuleBits:
    """The bit masks of a list of rules: one long per row holds the results of up to 62 rules."""

    rules: tuple[Rule, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The mask columns."""
        return tuple(f"{INTERNAL_PREFIX}mask_{number}" for number in range((len(self.rules) + _BITS - 1) // _BITS))

    def columns(self, violated: Sequence[Column]) -> list[Column]:
        """Return the mask columns, given one condition per rule; a null condition is not a violation."""
        chunks = [violated[start : start + _BITS] for start in range(0, len(violated), _BITS)]
        return [_mask(chunk).alias(name) for chunk, name in zip(chunks, self.names, strict=True)]

    def is_set(self, index: int) -> Column:
        """Whether a row violates the rule at this index."""
        return quoted_col(self.names[index // _BITS]).bitwiseAND(F.lit(1 << (index % _BITS))) != F.lit(0)

    @staticmethod
    def bits_of(masks: Iterable[int]) -> Iterator[int]:
        """Yield the indexes of the rules that the masks of a row mark as violated."""
        for number, mask in enumerate(masks):
            while mask:
                lowest = mask & -mask
                yield number * _BITS + lowest.bit_length() - 1
                mask ^= lowest

    def none_quarantines(self) -> Column:
        """Whether a row violates no rule that quarantines rows."""
        parts = []
        for number, name in enumerate(self.names):
            chunk = self.rules[number * _BITS : (number + 1) * _BITS]
            bits = sum(1 << position for position, rule in enumerate(chunk) if rule.quarantines)
            if bits:
                parts.append(quoted_col(name).bitwiseAND(F.lit(bits)) == F.lit(0))
        return all_of(parts)


def _mask(conditions: Sequence[Column]) -> Column:
    none = F.expr("0L")  # a long, so that all bits are longs
    bits = [F.when(condition, F.lit(1 << position)).otherwise(none) for position, condition in enumerate(conditions)]
    return fold_columns(Column.bitwiseOR, bits)


@dataclass(frozen=True)
class CompiledRules:
    """The rules of a contract as columns, each built when it is first used."""

    rule_set: RuleSet
    origin: Origin

    @cached_property
    def masks(self) -> RuleBits:
        """The bit of each row rule."""
        return RuleBits(tuple(rule.definition for rule in self.rule_set.rows))

    @cached_property
    def mask_columns(self) -> list[Column]:
        """The results of all rules on single rows, for laid-out rows."""
        return self.masks.columns([rule.violated for rule in self.rule_set.rows])

    def violation_conditions(self) -> Iterator[tuple[int, Column]]:
        """Yield the condition under which a judged row violates each rule, with the position of the rule."""
        bit = 0
        for position, rule in enumerate(self.rule_set.all):
            if isinstance(rule, RowRule):
                yield position, self.masks.is_set(bit)
                bit += 1
            elif isinstance(rule, ReferenceRule) or (isinstance(rule, UniqueRule) and rule.definition.quarantines):
                yield position, quoted_col(flag_column(position))

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """Every rule that judged rows can violate, with the offending value."""
        return tuple(self._reasons())

    def _reasons(self) -> Iterator[Reason]:
        for position, violated in self.violation_conditions():
            rule = self.rule_set.all[position]
            if isinstance(rule, RowRule):
                yield Reason(rule.definition, violated, rule.shown_value, rule.is_secret)
            elif isinstance(rule, UniqueRule | ReferenceRule):
                key = F.to_json(F.struct(*map(quoted_col, rule.columns)))
                yield Reason(rule.definition, violated, key, rule.is_secret)

    @cached_property
    def violations(self) -> Column:
        """The violations of a judged row; to be evaluated for invalid rows only."""
        return violations_column(self.reasons, self.origin)

    @cached_property
    def is_valid(self) -> Column:
        """Whether a judged row violates no rule that quarantines rows."""
        is_valid = self.masks.none_quarantines()
        for position, rule in enumerate(self.rule_set.all):
            if isinstance(rule, UniqueRule | ReferenceRule) and rule.definition.quarantines:
                is_valid = is_valid & ~quoted_col(flag_column(position))
        return is_valid
