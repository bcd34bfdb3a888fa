"""The effective view of a consumer: its declared fields, masked for its purpose, and the rows of its region.

Policies add up. Of all rules that apply to a field, the strictest decides, so a contract can strengthen what it
inherits and cannot weaken it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Protocol, TypeAlias

from treaty.contracts.data_policies import ANYWHERE, PERSONAL, DataPolicy, Granularity, Mask, MaskMethod, MaskRule
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import FieldPath, parse_path
from treaty.contracts.quantities import parse_seconds
from treaty.contracts.requirements import matches_text
from treaty.errors import NotFound
from treaty.policy.strictness import strictness


class Reader(Protocol):
    """Who reads: a subscription, or anything that states the same; without fields, all fields are read."""

    @property
    def consumer(self) -> str:
        """The name of the consumer."""

    @property
    def fields(self) -> tuple[FieldPath, ...]:
        """The declared fields."""

    @property
    def purpose(self) -> str | None:
        """What the data is read for."""


class Decision(StrEnum):
    """What a consumer sees of a field."""

    CLEAR = "clear"
    MASKED = "masked"
    NOT_DECLARED = "not declared"
    FORBIDDEN = "forbidden"

    @property
    def is_served(self) -> bool:
        """Whether the field is part of what the consumer reads."""
        return self in (Decision.CLEAR, Decision.MASKED)


@dataclass(frozen=True, slots=True)
class FieldView:
    """What a consumer sees of one field without fields inside, and why."""

    path: FieldPath
    column: FieldPath
    """The same path with the names of columns."""
    decision: Decision
    mask: Mask | None = None
    rule: str | None = None
    """The rule that decides, such as ``data_policy.classifications.restricted``."""
    origin: str | None = None
    """The contract or policy that states the rule, with its version."""
    logical_type: str | None = None
    """The type of the served values: a hash or token is a string, a range is the integer it starts with."""

    @property
    def reason(self) -> str:
        """The decision in words, with the rule and where it comes from."""
        if self.decision is Decision.NOT_DECLARED:
            return "the subscription does not declare it"
        source = f"{self.rule} of {self.origin}" if self.rule else "no rule applies"
        if self.decision is Decision.MASKED:
            return f"{self.mask}: {source}"
        return source


@dataclass(frozen=True, slots=True)
class RegionRule:
    """Only rows with one of these values in the column may be served; none if there are no values."""

    column: str
    values: tuple[str, ...]
    rule: str
    origin: str

    @property
    def reason(self) -> str:
        """The rule in words."""
        allowed = f"rows with {self.column} {', '.join(self.values)}" if self.values else "no rows"
        return f"{allowed}: {self.rule} of {self.origin}"


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """Only rows whose time in the column is at most this long ago may be served; rows without a time are not."""

    column: str
    keep: timedelta
    rule: str
    origin: str

    @property
    def reason(self) -> str:
        """The rule in words."""
        return f"rows up to {self.keep.days} days after {self.column}: {self.rule} of {self.origin}"


@dataclass(frozen=True)
class EffectiveView:
    """What one consumer may read of a contract in a region; if it is refused, no field is served."""

    contract: str
    version: str
    consumer: str
    purpose: str | None
    region: str | None
    fields: tuple[FieldView, ...]
    regions: tuple[RegionRule, ...] = ()
    retention: tuple[RetentionRule, ...] = ()
    refusal: str | None = None
    """Why the consumer may read nothing, such as a purpose that is not allowed; None if it may read."""

    @property
    def served(self) -> tuple[FieldView, ...]:
        """The fields that the consumer reads, clear or masked."""
        return tuple(field for field in self.fields if field.decision.is_served)

    @property
    def row_reasons(self) -> tuple[str, ...]:
        """The rules on rows in words."""
        return (*(rule.reason for rule in self.regions), *(rule.reason for rule in self.retention))

    @property
    def row_columns(self) -> tuple[str, ...]:
        """The columns that the rules on rows need, served or not."""
        return tuple(
            dict.fromkeys([*(rule.column for rule in self.regions), *(rule.column for rule in self.retention)])
        )

    @property
    def key_names(self) -> tuple[str, ...]:
        """The names of the keys that masking needs, sorted."""
        masks = [field.mask for field in self.served if field.mask and field.mask.method.needs_key]
        return tuple(sorted({mask.key for mask in masks if mask.key}))

    @property
    def is_whole(self) -> bool:
        """Whether every field is clear and every row is served."""
        return all(field.decision is Decision.CLEAR for field in self.fields) and not (self.regions or self.retention)

    def field(self, path: FieldPath | str) -> FieldView | None:
        """Return the view of the field at a path, or None if there is none without fields inside."""
        wanted = parse_path(path) if isinstance(path, str) else path
        return next((field for field in self.fields if field.path.steps == wanted.steps), None)


FindConsumerView: TypeAlias = Callable[[Contract, str, str | None], EffectiveView]
"""Returns what a consumer may read of a contract in a region; raises NotFound without a subscription."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A data policy and the contract that states it."""

    policy: DataPolicy
    origin: str


def effective_view(
    contract: Contract, reader: Reader, *, policies: Sequence[Contract] = (), region: str | None = None
) -> EffectiveView:
    """Return what a reader may read of a contract whose rows are served in a region.

    `contract` is the effective contract, so that inherited classifications count, and `policies` are those that bind
    it. Without a region, a rule about regions lets no row through.
    """
    sources = _sources(contract, policies)
    refused = next((source for source in sources if not _allows(source.policy, reader.purpose)), None)
    leaves = [leaf for item in contract.schema for leaf in _leaves(item, len(contract.schema) > 1)]
    return EffectiveView(
        contract.id,
        contract.version,
        reader.consumer,
        reader.purpose,
        region,
        tuple(_field_view(leaf, reader, sources, refused) for leaf in leaves),
        tuple(_region_rules(contract, sources, region)),
        tuple(_retention_rules(contract, sources)),
        None if refused is None else _refusal(reader, refused),
    )


def _sources(contract: Contract, policies: Sequence[Contract]) -> list[_Source]:
    return [
        _Source(stated.treaty.data_policy, f"{stated.id} {stated.version}")
        for stated in (contract, *policies)
        if stated.treaty.data_policy is not None
    ]


def rules_about(
    contract: Contract, path: FieldPath, policies: Sequence[Contract] = ()
) -> tuple[tuple[MaskRule, str], ...]:
    """Return the rules about a field without fields inside, each with the contract that states it, nearest first."""
    leaves = [leaf for item in contract.schema for leaf in _leaves(item, len(contract.schema) > 1)]
    leaf = next((leaf for leaf in leaves if leaf.path.steps == path.steps), None)
    if leaf is None:
        raise NotFound(
            f"{contract.id} {contract.version} has no field {path}, or it has fields inside",
            f"see them with: treaty show {contract.id} {contract.version}",
        )
    sources = _sources(contract, policies)
    return tuple((rule, source.origin) for source in sources for rule in source.policy.rules if _applies(rule, leaf))


def _allows(policy: DataPolicy, purpose: str | None) -> bool:
    return policy.purposes is None or matches_text(purpose, policy.purposes)


def _refusal(reader: Reader, refused: _Source) -> str:
    purpose = f"the purpose {reader.purpose!r} is not allowed" if reader.purpose else "no purpose is declared"
    allowed = ", ".join(refused.policy.purposes or ())
    return f"{purpose}: data_policy.purposes of {refused.origin} allows {allowed}"


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A field without fields inside, and the fields that it is in, outermost first."""

    path: FieldPath
    column: FieldPath
    lineage: tuple[tuple[FieldPath, Field], ...]

    @property
    def field(self) -> Field:
        return self.lineage[-1][1]


def _leaves(item: SchemaObject, several: bool) -> Iterator[_Leaf]:
    root = FieldPath(object=item.name if several else None)
    for field in item.fields:
        yield from _inside(field, root.field(field.name or ""), root.field(_column_name(field)), ())


def _inside(
    field: Field, path: FieldPath, column: FieldPath, above: tuple[tuple[FieldPath, Field], ...]
) -> Iterator[_Leaf]:
    lineage = (*above, (path, field))
    if not field.properties and not field.children:
        yield _Leaf(path, column, lineage)
    for child in field.properties or ():
        yield from _inside(child, path.field(child.name or ""), column.field(_column_name(child)), lineage)
    for mark, child in field.children:
        yield from _inside(child, path.into(mark), column.into(mark), lineage)


def _column_name(field: Field) -> str:
    return field.physical_name or field.name or ""


def _field_view(leaf: _Leaf, reader: Reader, sources: Sequence[_Source], refused: _Source | None) -> FieldView:
    declared = not reader.fields or any(path.covers(leaf.path) for path in reader.fields)
    stated = leaf.field.type
    logical = stated.name if stated else None
    if not declared:
        return FieldView(leaf.path, leaf.column, Decision.NOT_DECLARED, logical_type=logical)
    if refused is not None:
        rule = "data_policy.purposes"
        return FieldView(leaf.path, leaf.column, Decision.FORBIDDEN, None, rule, refused.origin, logical)
    matching = [(rule, source.origin) for source in sources for rule in source.policy.rules if _applies(rule, leaf)]
    binding = [
        (_fitting(rule.mask, logical), rule.path, origin)
        for rule, origin in matching
        if not matches_text(reader.purpose, rule.clear_for)
    ]
    if not binding:
        rule_path, origin = next(((rule.path, origin) for rule, origin in matching), (None, None))
        return FieldView(leaf.path, leaf.column, Decision.CLEAR, None, rule_path, origin, logical)
    mask, rule_path, origin = max(binding, key=lambda one: strictness(one[0]))  # of equals, the nearest
    return FieldView(leaf.path, leaf.column, Decision.MASKED, mask, rule_path, origin, _served_type(mask, logical))


def _applies(rule: MaskRule, leaf: _Leaf) -> bool:
    """Return whether a rule is about a field or one of the fields that it is in."""
    if rule.field is not None:
        return parse_path(rule.field).covers(leaf.path)
    wanted = (rule.classification or "").strip().casefold()
    return any(wanted in classifications(field) for _, field in leaf.lineage)


def classifications(field: Field) -> frozenset[str]:
    """Return the classifications of a field as rules name them: its label, and `pii` for personal data."""
    label = (field.classification or "").strip().casefold()
    personal = PERSONAL if field.treaty.get("pii") is True else ""
    return frozenset({label, personal} - {""})


_PERIOD_TYPES = {
    Granularity.DAY: ("timestamp",),
    Granularity.MONTH: ("date", "timestamp"),
    Granularity.YEAR: ("date", "timestamp"),
    Granularity.RANGE: ("integer", "number"),
    Granularity.PREFIX: ("string",),
}


def _fitting(mask: Mask, logical: str | None) -> Mask:
    """Return a mask that can be applied to values of a type: a generalisation of another type sets them to null."""
    if mask.to is not None and (logical or "string") not in _PERIOD_TYPES[mask.to]:
        return Mask(MaskMethod.NULL)
    return mask


def _served_type(mask: Mask, logical: str | None) -> str | None:
    if mask.method.needs_key:
        return "string"
    return "integer" if mask.to is Granularity.RANGE else logical


def _region_rules(contract: Contract, sources: Sequence[_Source], region: str | None) -> Iterator[RegionRule]:
    for source in sources:
        if (residency := source.policy.residency) is not None:
            column = _top_level_column(contract, residency.column)
            allowed = [
                name
                for name, served in residency.serve.items()
                if region is not None and {region, ANYWHERE} & {*served}
            ]
            values = tuple(sorted(allowed)) if column else ()
            yield RegionRule(column or residency.column, values, "data_policy.residency", source.origin)


def _retention_rules(contract: Contract, sources: Sequence[_Source]) -> Iterator[RetentionRule]:
    for source in sources:
        if (retention := source.policy.retention) is not None:
            seconds = parse_seconds(retention.at_most)
            keep = timedelta(seconds=float(seconds or 0))
            column = _top_level_column(contract, retention.column) or retention.column
            yield RetentionRule(column, keep, "data_policy.retention", source.origin)


def _top_level_column(contract: Contract, text: str) -> str | None:
    """Return the column of a top-level field, or None if the contract does not have it."""
    fields = [field for item in contract.schema for field in item.fields]
    return next((_column_name(field) for field in fields if field.name == parse_path(text).steps[0].text), None)
