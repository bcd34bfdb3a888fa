"""Enforce a contract on a DataFrame: split it into valid and quarantined rows with reasons, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TypeAlias, TypeVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.contracts.loader import load
from treaty.contracts.model import Contract, SchemaObject
from treaty.errors import InvalidDocument
from treaty.spark.columns import INTERNAL_PREFIX, VIOLATIONS_COLUMN, all_of, fold_columns, quoted_col
from treaty.spark.contract_rules import collect_rules
from treaty.spark.input_layout import InputLayout, lay_out_input
from treaty.spark.measures import Measures
from treaty.spark.rule_measurement import measure_rules
from treaty.spark.rules import (
    AnyRule,
    Duplicates,
    Policy,
    ReferenceRule,
    RowRule,
    Rule,
    RuleSet,
    Unchecked,
    UniqueRule,
    UnknownFields,
    flag_column,
)
from treaty.spark.schema import column_name, select_object
from treaty.spark.uniqueness import (
    content_hash,
    has_complete_key,
    mark_all_but_first,
    mark_by_key_number,
    mark_duplicates_by_join,
    mark_shared_key_numbers,
)
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


_AnyRule = TypeVar("_AnyRule", bound=AnyRule)


@dataclass(frozen=True)
class Enforcement:
    """A DataFrame under a contract. Nothing runs until a frame is used or `measures` is called."""

    contract: Contract
    schema: SchemaObject
    frame: DataFrame
    policy: Policy
    layout: InputLayout
    rule_set: RuleSet
    references: Mapping[str, DataFrame]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules that are checked."""
        return tuple(rule.definition for rule in self.rule_set.all)

    @property
    def unchecked(self) -> tuple[Unchecked, ...]:
        """Terms of the contract that are not checked, with the reasons."""
        return self.rule_set.unchecked

    @property
    def valid(self) -> DataFrame:
        """The rows that satisfy every rule, with the schema of the contract and the carried columns."""
        return self.judged.where(self.is_valid).select(*map(quoted_col, self.layout.valid_columns))

    @property
    def quarantined(self) -> DataFrame:
        """The rows that violate a rule, unchanged, with their violations."""
        reasons = violations_column(list(self.reasons()), self.origin).alias(VIOLATIONS_COLUMN)
        return self.judged.where(~self.is_valid).select(*self.layout.original_columns(), reasons)

    def measures(self, now: datetime | None = None) -> Measures:
        """Measure every rule in one job, or in one for keys and one for rows; SQL queries run separately."""
        return measure_rules(self, now)

    @property
    def origin(self) -> Origin:
        """The contract and version that the rows are checked against."""
        return Origin(self.contract.id, self.contract.version)

    @cached_property
    def masks(self) -> RuleBits:
        """The bit of each row rule."""
        return RuleBits(tuple(rule.definition for rule in self.rule_set.rows))

    @cached_property
    def masked(self) -> DataFrame:
        """The rows with the results of all rules on single rows."""
        return self.layout.frame.select("*", *self.masks.columns([rule.violated for rule in self.rule_set.rows]))

    @cached_property
    def judged(self) -> DataFrame:
        """The rows with the results of all rules on rows, keys and references."""
        return self._judged(self._with_shared)

    def judged_by_numbers(self, numbers: Mapping[int, Sequence[int]]) -> DataFrame:
        """Return the judged rows, given the numbers of shared keys, so that keys are read only once."""

        def mark(frame: DataFrame, position: int, rule: UniqueRule) -> DataFrame:
            if position in numbers:
                return mark_by_key_number(frame, rule.columns, numbers[position], flag_column(position))
            return self._with_shared(frame, position, rule)

        return self._judged(mark)

    def judged_in_place(self) -> DataFrame:
        """Return the judged rows from a single scan. Keys are compared by number, so marked keys may differ."""
        return self._judged(
            lambda frame, position, rule: mark_shared_key_numbers(frame, rule.columns, flag_column(position))
        )

    def key_rules(self) -> list[tuple[int, UniqueRule]]:
        """The rules on keys that quarantine rows; other key rules only count them."""
        return [(position, rule) for position, rule in self._of(UniqueRule) if rule.definition.quarantines]

    def keys_apart(self) -> list[tuple[int, UniqueRule]]:
        """The rules on keys that can be checked on the keys alone, without ordering the rows."""
        return [] if self.policy.duplicates is Duplicates.KEEP_FIRST else self.key_rules()

    def flags(self) -> dict[int, str]:
        """The columns with the results of rules on keys and references, by the position of the rule."""
        flagged = (*self.key_rules(), *self._of(ReferenceRule))
        return {position: flag_column(position) for position, _ in flagged}

    def violation_conditions(self) -> Iterator[tuple[int, Column]]:
        """Yield the condition under which a judged row violates each rule, with the position of the rule."""
        bit = 0
        for position, rule in enumerate(self.rule_set.all):
            if isinstance(rule, RowRule):
                yield position, self.masks.is_set(bit)
                bit += 1
            elif isinstance(rule, ReferenceRule) or (isinstance(rule, UniqueRule) and rule.definition.quarantines):
                yield position, quoted_col(flag_column(position))

    def reasons(self) -> Iterator[Reason]:
        """Yield every rule that judged rows can violate, with the offending value."""
        for position, violated in self.violation_conditions():
            rule = self.rule_set.all[position]
            if isinstance(rule, RowRule):
                yield Reason(rule.definition, violated, rule.shown_value, rule.is_secret)
            elif isinstance(rule, UniqueRule | ReferenceRule):
                key = F.to_json(F.struct(*map(quoted_col, rule.columns)))
                yield Reason(rule.definition, violated, key, rule.is_secret)

    @property
    def is_valid(self) -> Column:
        """Whether a judged row violates no rule that quarantines rows."""
        is_valid = self.masks.none_quarantines()
        for position, rule in enumerate(self.rule_set.all):
            if isinstance(rule, UniqueRule | ReferenceRule) and rule.definition.quarantines:
                is_valid = is_valid & ~quoted_col(flag_column(position))
        return is_valid

    def _of(self, kind: type[_AnyRule]) -> list[tuple[int, _AnyRule]]:
        return [(position, rule) for position, rule in enumerate(self.rule_set.all) if isinstance(rule, kind)]

    def _judged(self, mark: Callable[[DataFrame, int, UniqueRule], DataFrame]) -> DataFrame:
        frame = self.masked
        for position, rule in self.key_rules():
            frame = mark(frame, position, rule)
        return self._with_references(frame)

    def _with_shared(self, frame: DataFrame, position: int, rule: UniqueRule) -> DataFrame:
        if self.policy.duplicates is Duplicates.KEEP_FIRST:
            return mark_all_but_first(frame, rule.columns, self._order(), flag_column(position))
        return mark_duplicates_by_join(frame, rule.columns, flag_column(position))

    def _with_references(self, frame: DataFrame) -> DataFrame:
        for position, rule in self._of(ReferenceRule):
            other = self.references.get(rule.target, self.layout.frame)
            frame = mark_missing_references(frame, rule, other, flag_column(position))
        return frame

    def _order(self) -> list[Column]:
        """Order rows with the same key: valid rows first, then by the requested fields, then by content."""
        ordering = self.contract.treaty.ordering
        names = self.policy.order or ((ordering.sequence,) if ordering and ordering.sequence else ())
        columns = {field.name: column_name(field) for field in self.schema.fields}
        unknown = [name for name in names if name not in columns]
        if unknown:
            raise InvalidDocument(
                f"cannot order by {unknown[0]!r}: the contract has no such field; it has: "
                + ", ".join(map(str, columns))
            )
        content = content_hash(self.layout.frame)
        return [
            (~self.masks.none_quarantines()).asc(),
            *[quoted_col(columns[name]).asc_nulls_last() for name in names],
            content,
        ]


def mark_missing_references(frame: DataFrame, rule: ReferenceRule, other: DataFrame, flag: str) -> DataFrame:
    """Mark rows whose values are not in the other data; an incomplete reference is not checked."""
    missing = [name for name in rule.target_columns if name not in other.columns]
    if missing:
        raise InvalidDocument(
            f"the data for {rule.target!r} has no column {missing[0]!r}, which {rule.definition.field} refers to; "
            f"it has: {', '.join(other.columns)}"
        )
    names = [f"{INTERNAL_PREFIX}to_{position}" for position in range(len(rule.columns))]
    targets = other.select(
        *[quoted_col(column).alias(name) for column, name in zip(rule.target_columns, names, strict=True)]
    )
    same = [quoted_col(column) == quoted_col(name) for column, name in zip(rule.columns, names, strict=True)]
    joined = frame.join(targets.distinct(), all_of(same), "left")
    return joined.withColumn(flag, has_complete_key(rule.columns) & quoted_col(names[0]).isNull()).drop(*names)


def enforce(
    frame: DataFrame,
    contract: Contract | str | Path,
    *,
    object_name: str | None = None,
    policy: Policy | None = None,
    references: Mapping[str, DataFrame] | None = None,
    carry: Sequence[str] = (),
) -> Enforcement:
    """Enforce a contract, or the contract in a file, on a frame; `references` are other frames by object name.

    Columns to `carry` are not checked; they are kept in valid and quarantined rows.
    """
    loaded = contract if isinstance(contract, Contract) else _from_file(Path(contract))
    options = policy or Policy()
    schema = select_object(loaded, object_name)
    layout = lay_out_input(frame, schema, closed=_is_closed(loaded, options), carry=carry)
    others = references or {}
    rule_set = collect_rules(loaded, schema, layout, options, frozenset(others), is_streaming=frame.isStreaming)
    return Enforcement(loaded, schema, frame, options, layout, rule_set, others)


def _from_file(path: Path) -> Contract:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidDocument(f"cannot read the contract {path}: {error.strerror}") from None
    return load(content, str(path)).contract


def _is_closed(contract: Contract, policy: Policy) -> bool:
    if policy.unknown_fields is not None:
        return policy.unknown_fields is UnknownFields.REFUSED
    return contract.treaty.content == "closed"


OnBatch: TypeAlias = Callable[[Enforcement, int], None]


def each_batch(
    contract: Contract | str | Path,
    act: OnBatch,
    *,
    object_name: str | None = None,
    policy: Policy | None = None,
    references: Mapping[str, DataFrame] | None = None,
) -> Callable[[DataFrame, int], None]:
    """Return a function for `foreachBatch` that enforces the contract on each batch and passes it to `act`."""

    def on_batch(batch: DataFrame, number: int) -> None:
        act(enforce(batch, contract, object_name=object_name, policy=policy, references=references), number)

    return on_batch
