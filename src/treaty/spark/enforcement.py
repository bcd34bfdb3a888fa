"""Enforce a contract on a DataFrame: split it into valid and quarantined rows with reasons, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TypeAlias, TypeVar

from pyspark.sql import Column, DataFrame

from treaty.contracts.loader import load
from treaty.contracts.model import Contract, SchemaObject
from treaty.errors import InvalidDocument
from treaty.spark.columns import INTERNAL_PREFIX, VIOLATIONS_COLUMN, all_of, quoted_col
from treaty.spark.compiled_rules import CompiledRules, RuleBits
from treaty.spark.contract_rules import collect_rules
from treaty.spark.input_layout import InputLayout, lay_out_columns
from treaty.spark.measures import Measures
from treaty.spark.prepared_rules import PREPARED_RULES, RuleKey
from treaty.spark.rule_measurement import measure_rules
from treaty.spark.rules import (
    AnyRule,
    Duplicates,
    Policy,
    ReferenceRule,
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
from treaty.spark.violations import Origin, Reason

_AnyRule = TypeVar("_AnyRule", bound=AnyRule)


@dataclass(frozen=True)
class Enforcement:
    """A DataFrame under a contract. Nothing runs until a frame is used or `measures` is called."""

    contract: Contract
    schema: SchemaObject
    frame: DataFrame
    policy: Policy
    layout: InputLayout
    compiled: CompiledRules
    references: Mapping[str, DataFrame]

    @property
    def rule_set(self) -> RuleSet:
        """The rules that are checked, and the terms that are not."""
        return self.compiled.rule_set

    def with_rules(self, rule_set: RuleSet) -> Enforcement:
        """Return the enforcement of other rules of the contract."""
        return replace(self, compiled=CompiledRules(rule_set, self.origin))

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
        violations = self.violations.alias(VIOLATIONS_COLUMN)
        return self.judged.where(~self.is_valid).select(*self.layout.original_columns(), violations)

    def measures(self, now: datetime | None = None) -> Measures:
        """Measure every rule in one job, or in one for keys and one for rows; SQL queries run separately."""
        return measure_rules(self, now)

    @property
    def origin(self) -> Origin:
        """The contract and version that the rows are checked against."""
        return Origin(self.contract.id, self.contract.version)

    @property
    def masks(self) -> RuleBits:
        """The bit of each row rule."""
        return self.compiled.masks

    @cached_property
    def masked(self) -> DataFrame:
        """The rows with the results of all rules on single rows."""
        return self.layout.frame.select("*", *self.compiled.mask_columns)

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
        return self.compiled.violation_conditions()

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Every rule that judged rows can violate, with the offending value."""
        return self.compiled.reasons

    @property
    def violations(self) -> Column:
        """The violations of a judged row; to be evaluated for invalid rows only."""
        return self.compiled.violations

    @property
    def is_valid(self) -> Column:
        """Whether a judged row violates no rule that quarantines rows."""
        return self.compiled.is_valid

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
    others = references or {}
    given, is_streaming = frozenset(others), frame.isStreaming
    key = RuleKey(frame.sparkSession, loaded, schema.name, options, frame.schema, tuple(carry), given, is_streaming)
    if prepared := PREPARED_RULES.find(key):
        return Enforcement(loaded, schema, frame, options, prepared.layout.of(frame), prepared.compiled, others)
    columns = lay_out_columns(key.columns, schema, closed=_is_closed(loaded, options), carry=carry)
    layout = columns.of(frame)
    rule_set = collect_rules(loaded, schema, layout, options, given, is_streaming=is_streaming)
    compiled = CompiledRules(rule_set, Origin(loaded.id, loaded.version))
    PREPARED_RULES.keep(key, columns, compiled)
    return Enforcement(loaded, schema, frame, options, layout, compiled, others)


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
