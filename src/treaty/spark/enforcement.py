"""Holding data to a contract: every row is valid or in quarantine, with the reasons, in one pass."""

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
from treaty.spark.references import mark_missing_references
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
    mark_all_but_first,
    mark_by_key_number,
    mark_duplicates_by_join,
    mark_shared_key_numbers,
)
from treaty.spark.violations import Origin, Reason, violations_column

_BITS = 62
BitPosition = tuple[int, int]
"""Which mask, and which bit of it."""


@dataclass(frozen=True)
class RuleBits:
    """The layout of the masks of a list of rules."""

    rules: tuple[Rule, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The mask columns."""
        return tuple(f"{INTERNAL_PREFIX}mask_{number}" for number in range((len(self.rules) + _BITS - 1) // _BITS))

    def columns(self, broken: Sequence[Column]) -> list[Column]:
        """Return the mask columns, given one condition for each rule; a condition that is null is not broken."""
        chunks = [broken[start : start + _BITS] for start in range(0, len(broken), _BITS)]
        return [_mask(chunk).alias(name) for chunk, name in zip(chunks, self.names, strict=True)]

    def is_set(self, index: int) -> Column:
        """Tell whether a row breaks the rule at this place of the list."""
        return quoted_col(self.names[index // _BITS]).bitwiseAND(F.lit(1 << (index % _BITS))) != F.lit(0)

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
                parts.append(quoted_col(name).bitwiseAND(F.lit(bits)) == F.lit(0))
        return all_of(parts)


def _mask(conditions: Sequence[Column]) -> Column:
    none = F.expr("0L")  # a long, and so are the bits beside it
    bits = [F.when(condition, F.lit(1 << place)).otherwise(none) for place, condition in enumerate(conditions)]
    return fold_columns(Column.bitwiseOR, bits)


_AnyRule = TypeVar("_AnyRule", bound=AnyRule)


@dataclass(frozen=True)
class Enforcement:
    """Data under a contract; nothing runs until a frame is used or `measures` is called."""

    contract: Contract
    schema: SchemaObject
    frame: DataFrame
    policy: Policy
    prepared: InputLayout
    book: RuleSet
    references: Mapping[str, DataFrame]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule the data are held to."""
        return tuple(item.rule for item in self.book.all)

    @property
    def unchecked(self) -> tuple[Unchecked, ...]:
        """What the contract says that this run does not check, and why."""
        return self.book.unchecked

    @property
    def valid(self) -> DataFrame:
        """The rows that keep every rule, with exactly the contract's schema, and what was to be carried."""
        return self.judged.where(self.stays).select(*map(quoted_col, self.prepared.kept))

    @property
    def quarantined(self) -> DataFrame:
        """The rows that break a rule, as they came, with the violations of each."""
        reasons = violations_column(list(self.reasons()), self.origin).alias(VIOLATIONS_COLUMN)
        return self.judged.where(~self.stays).select(*self.prepared.given_back(), reasons)

    def measures(self, now: datetime | None = None) -> Measures:
        """Measure every rule in one job, or one for keys and one for rows (queries that cannot join run after it)."""
        return measure_rules(self, now)

    @property
    def origin(self) -> Origin:
        """The contract and version that the rows are judged by."""
        return Origin(self.contract.id, self.contract.version)

    @cached_property
    def masks(self) -> RuleBits:
        """Which bit stands for which row rule."""
        return RuleBits(tuple(item.rule for item in self.book.rows))

    @cached_property
    def masked(self) -> DataFrame:
        """The rows with the answer of every rule on single rows."""
        return self.prepared.frame.select("*", *self.masks.columns([item.broken for item in self.book.rows]))

    @cached_property
    def judged(self) -> DataFrame:
        """The rows with the answer of every rule that speaks of rows."""
        return self._judged(self._with_shared)

    def judged_by_numbers(self, numbers: Mapping[int, Sequence[int]]) -> DataFrame:
        """The same, with the numbers of shared keys known beforehand, so that no key is looked at twice."""

        def mark(frame: DataFrame, place: int, item: UniqueRule) -> DataFrame:
            if place in numbers:
                return mark_by_key_number(frame, item.columns, numbers[place], flag_column(place))
            return self._with_shared(frame, place, item)

        return self._judged(mark)

    def judged_in_place(self) -> DataFrame:
        """The same in a single scan, but by the numbers of keys; two may have one, so that marked ones are compared."""
        return self._judged(lambda frame, place, item: mark_shared_key_numbers(frame, item.columns, flag_column(place)))

    def key_rules(self) -> list[tuple[int, UniqueRule]]:
        """The rules on keys that set rows apart; others only count."""
        return [(place, item) for place, item in self._of(UniqueRule) if item.rule.quarantines]

    def keys_apart(self) -> list[tuple[int, UniqueRule]]:
        """The rules on keys that can be looked at apart from the rows: which row is first shows only among them."""
        return [] if self.policy.duplicates is Duplicates.KEEP_FIRST else self.key_rules()

    def flags(self) -> dict[int, str]:
        """The columns that hold the answers of rules on more than one row, by the place of the rule."""
        found = (*self.key_rules(), *self._of(ReferenceRule))
        return {place: flag_column(place) for place, _ in found}

    def broken_conditions(self) -> Iterator[tuple[int, Column]]:
        """Yield, by the place of its rule, when a judged row breaks it."""
        bit = 0
        for place, item in enumerate(self.book.all):
            if isinstance(item, RowRule):
                yield place, self.masks.is_set(bit)
                bit += 1
            elif isinstance(item, ReferenceRule) or (isinstance(item, UniqueRule) and item.rule.quarantines):
                yield place, quoted_col(flag_column(place))

    def reasons(self) -> Iterator[Reason]:
        """Yield every rule that judged rows can break, with the value that does."""
        for place, broken in self.broken_conditions():
            item = self.book.all[place]
            if isinstance(item, RowRule):
                yield Reason(item.rule, broken, item.shown, item.is_secret)
            elif isinstance(item, UniqueRule | ReferenceRule):
                key = F.to_json(F.struct(*map(quoted_col, item.columns)))
                yield Reason(item.rule, broken, key, item.is_secret)

    @property
    def stays(self) -> Column:
        """Tell whether a judged row keeps every rule that would set it apart."""
        stays = self.masks.none_quarantines()
        for place, item in enumerate(self.book.all):
            if isinstance(item, UniqueRule | ReferenceRule) and item.rule.quarantines:
                stays = stays & ~quoted_col(flag_column(place))
        return stays

    def _of(self, kind: type[_AnyRule]) -> list[tuple[int, _AnyRule]]:
        return [(place, item) for place, item in enumerate(self.book.all) if isinstance(item, kind)]

    def _judged(self, mark: Callable[[DataFrame, int, UniqueRule], DataFrame]) -> DataFrame:
        frame = self.masked
        for place, item in self.key_rules():
            frame = mark(frame, place, item)
        return self._with_references(frame)

    def _with_shared(self, frame: DataFrame, place: int, item: UniqueRule) -> DataFrame:
        if self.policy.duplicates is Duplicates.KEEP_FIRST:
            return mark_all_but_first(frame, item.columns, self._order(), flag_column(place))
        return mark_duplicates_by_join(frame, item.columns, flag_column(place))

    def _with_references(self, frame: DataFrame) -> DataFrame:
        for place, item in self._of(ReferenceRule):
            other = self.references.get(item.target, self.prepared.frame)
            frame = mark_missing_references(frame, item, other, flag_column(place))
        return frame

    def _order(self) -> list[Column]:
        """Order rows of one key: sound rows first, then by the order asked for, then by what they hold."""
        ordering = self.contract.treaty.ordering
        asked = self.policy.order or ((ordering.sequence,) if ordering and ordering.sequence else ())
        columns = {field.name: column_name(field) for field in self.schema.fields}
        unknown = [name for name in asked if name not in columns]
        if unknown:
            raise InvalidDocument(
                f"cannot order by {unknown[0]!r}: the contract has no such field; it has: "
                + ", ".join(map(str, columns))
            )
        content = content_hash(self.prepared.frame)
        return [
            (~self.masks.none_quarantines()).asc(),
            *[quoted_col(columns[name]).asc_nulls_last() for name in asked],
            content,
        ]


def enforce(
    frame: DataFrame,
    contract: Contract | str | Path,
    *,
    object_name: str | None = None,
    policy: Policy | None = None,
    references: Mapping[str, DataFrame] | None = None,
    carry: Sequence[str] = (),
) -> Enforcement:
    """Hold a frame to a contract (or the contract in a file); `references` are other data, by object name.

    Columns to `carry` are not judged, and stand beside the contract's in valid and quarantined rows.
    """
    held_to = contract if isinstance(contract, Contract) else _from_file(Path(contract))
    chosen = policy or Policy()
    schema = select_object(held_to, object_name)
    prepared = lay_out_input(frame, schema, closed=_is_closed(held_to, chosen), carry=carry)
    others = references or {}
    book = collect_rules(held_to, schema, prepared, chosen, frozenset(others), streams=frame.isStreaming)
    return Enforcement(held_to, schema, frame, chosen, prepared, book, others)


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
    """Return a function for `foreachBatch` that holds each batch to every rule, then lets `act` write it."""

    def on_batch(batch: DataFrame, number: int) -> None:
        act(enforce(batch, contract, object_name=object_name, policy=policy, references=references), number)

    return on_batch
