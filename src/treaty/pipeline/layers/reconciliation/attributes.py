"""How each attribute gets its value: by the first claim of authority that has one, by an expression, or by default."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark
from sqlglot import exp

from treaty.contracts.findings import Severity
from treaty.pipeline.layers.reconciliation.agreement import (
    ABSOLUTE_KINDS,
    RELATIVE_KINDS,
    Kind,
    agrees,
    comparable,
    widen,
)
from treaty.pipeline.layers.reconciliation.claims import ClaimRows
from treaty.pipeline.layers.reconciliation.evidence import EvidenceColumns, MaskedColumns
from treaty.pipeline.layers.reconciliation.subject import Subject
from treaty.pipeline.project.declarations import Assertion, Attribute, OnConflict
from treaty.pipeline.project.project_sql import parse_expression
from treaty.spark.columns import INTERNAL_PREFIX, any_of, quoted_col
from treaty.spark.schema import is_classified
from treaty.spark.type_conversion import same_type
from treaty.sql.functions import AGGREGATES, WINDOWS
from treaty.sql.parser import error_from_findings
from treaty.sql.project_queries import Expression
from treaty.sql.relations import Reference
from treaty.sql.repeatability import find_unrepeatable

ATTRIBUTES = ""
"""The name of the rows with the attributes; attributes are used without a prefix."""


@dataclass(frozen=True)
class Formula:
    """A parsed expression, and the columns that it reads."""

    sql: str
    attributes: tuple[str, ...]
    claims: tuple[tuple[str, str], ...]
    """Pairs of claim and column."""


def parse_formula(sql: str, where: str, rows: Mapping[str, spark.StructType]) -> Formula:
    """Parse an expression over the columns of claims, with the claim as prefix, and over attributes."""
    read = parse_expression(sql, where, rows)
    _refuse_other_rows(read)
    errors = [finding for finding in find_unrepeatable(read) if finding.severity is Severity.ERROR]
    if errors:
        raise error_from_findings(*errors)
    known = {name.lower(): name for name in rows}
    used = sorted(
        {
            (known[source.alias.lower()], source.columns[number].name)
            for meaning in read.names.columns.values()
            if isinstance(meaning, Reference)
            for source, number in meaning.places
        }
    )
    attributes = tuple(column for name, column in used if name == ATTRIBUTES)
    return Formula(sql, attributes, tuple((name, column) for name, column in used if name != ATTRIBUTES))


def _refuse_other_rows(read: Expression) -> None:
    """Refuse expressions that read more than the values of one key."""
    for node in read.tree.walk():
        called = node.name.lower() if isinstance(node, exp.Anonymous) else ""
        if isinstance(node, exp.Query | exp.Exists):
            problem = "an expression cannot contain a query"
        elif isinstance(node, exp.Window) or called in WINDOWS:
            problem = "an expression cannot contain a window function"
        elif called in AGGREGATES:
            problem = f"{called} is an aggregate function, which reads several rows"
        elif isinstance(node, exp.Star):
            problem = "an expression cannot contain *"
        else:
            continue
        hint = "an expression sees the values of one key; aggregate in the sql of the claim"
        raise error_from_findings(read.text.error("sql-expression", problem, hint, node))


@dataclass(frozen=True)
class Settled:
    """One attribute: where its value comes from, and which exceptions it can have."""

    attribute: Attribute
    column: str
    number: int
    claimed: tuple[tuple[str, str], ...] = ()
    """The claims of authority, each with its column."""
    kind: Kind | None = None
    formula: Formula | None = None
    default: Column | None = None
    is_required: bool = False

    @property
    def conflict(self) -> str:
        """The column with the flag that claims disagree."""
        return f"{INTERNAL_PREFIX}conflict_{self.number}"

    @property
    def compares(self) -> bool:
        """Whether claims are compared."""
        return self.attribute.agreement is not None and len(self.claimed) > 1

    @property
    def may_conflict(self) -> bool:
        """Whether a disagreement is an exception."""
        return self.compares and self.attribute.on_conflict is OnConflict.EXCEPTION

    @property
    def may_be_missing(self) -> bool:
        """Whether no value is an exception."""
        return self.is_required and self.default is None


def settle_attribute(
    subject: Subject, attribute: Attribute, number: int, claims: Mapping[str, ClaimRows], formula: Formula | None
) -> Settled:
    """Return how an attribute is settled; raise an error if columns are missing or cannot be compared."""
    column = subject.column(attribute)
    claimed = tuple(_columns(subject, attribute, claims))
    return Settled(
        attribute,
        column,
        number,
        claimed,
        _kind(subject, attribute, {claim: claims[claim].columns[name].dataType for claim, name in claimed}),
        formula,
        default_value(subject, attribute, column),
        subject.fields[column].is_required,
    )


def attribute_columns(settled: Settled, claims: Mapping[str, ClaimRows]) -> Iterator[Column]:
    """Yield the columns of an attribute: its value, and whether claims disagree."""
    conflict = _conflict(settled, claims) if settled.compares else None
    value = (
        F.expr(settled.formula.sql)
        if settled.formula
        else F.coalesce(*[_claimed_value(*pair) for pair in settled.claimed])
    )
    if conflict is not None and settled.attribute.on_conflict is OnConflict.NULL:
        value = F.when(~conflict, value)
    yield (value if settled.default is None else F.coalesce(value, settled.default)).alias(settled.column)
    if conflict is not None and settled.may_conflict:
        yield conflict.alias(settled.conflict)


def _claimed_value(claim: str, column: str) -> Column:
    return quoted_col(claim).getField(column)


def _conflict(settled: Settled, claims: Mapping[str, ClaimRows]) -> Column:
    """Tell whether a claim with a value disagrees with the first claim that has one."""
    agreement, kind = settled.attribute.agreement, settled.kind
    if agreement is None or kind is None:
        return F.lit(False)
    values = [
        widen(_claimed_value(claim, column), claims[claim].columns[column].dataType)
        for claim, column in settled.claimed
    ]
    first = F.coalesce(*values)
    apart = [value.isNotNull() & ~agrees(first, value, kind, agreement) for value in values[1:]]
    return any_of(apart)


def _columns(subject: Subject, attribute: Attribute, claims: Mapping[str, ClaimRows]) -> Iterator[tuple[str, str]]:
    for claim in attribute.authority:
        if claim not in claims:
            raise subject.error(f"{attribute.name} names the unknown claim {claim!r}; there are: {', '.join(claims)}")
        column = attribute.columns.get(claim, attribute.name)
        field = claims[claim].find(column)
        if field is None:
            available = ", ".join(claims[claim].columns.names)
            raise subject.error(f"claim {claim!r} has no column {column!r} for {attribute.name}; it has: {available}")
        yield claim, field.name


def _kind(subject: Subject, attribute: Attribute, types: Mapping[str, spark.DataType]) -> Kind | None:
    """Return the kind as which the claims are compared; None if nothing is compared."""
    agreement, data_types = attribute.agreement, list(types.values())
    kinds = [comparable(data_types[0], other) for other in data_types[1:]]
    is_mixed = any(kind is None for kind in kinds)
    if is_mixed and (agreement is not None or any(not same_type(data_types[0], other) for other in data_types)):
        described = ", ".join(f"{kind.simpleString()} in {claim}" for claim, kind in types.items())
        raise subject.error(
            f"{attribute.name} is {described}, which cannot be compared; cast them in the sql of the claims"
        )
    compared = Kind.FLOAT if Kind.FLOAT in kinds else next(iter(kinds), None)
    if agreement is not None and agreement.within:
        allowed = RELATIVE_KINDS if agreement.is_share else ABSOLUTE_KINDS
        if compared not in (None, *allowed):
            tolerance = "relative" if agreement.is_share else "absolute"
            raise subject.error(
                f"{attribute.name} is {compared}, which has no {tolerance} tolerance; write agree: exact"
            )
    return compared


def default_value(subject: Subject, attribute: Attribute, column: str) -> Column | None:
    """Return the default as a value of the field; raise an error if it does not fit the type."""
    value, want = attribute.default, subject.type_of(column)
    if value is None:
        return None
    reads = next((read for kinds, read in _DEFAULTS if isinstance(want, kinds)), None)
    try:
        if reads is None:
            raise ValueError
        return F.lit(reads(value)).cast(want)
    except (ValueError, ArithmeticError):
        raise subject.error(
            f"the default of {attribute.name} is {value!r}, but the field is {want.simpleString()}"
        ) from None


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _number(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    return Decimal(format(Decimal(str(value)), "f"))


def _integer(value: Any) -> int:
    number = _number(value)
    if number != int(number):
        raise ValueError
    return int(number)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _timestamp(value: Any) -> str:
    return datetime.fromisoformat(_text(value)).isoformat()


_DEFAULTS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (spark.BooleanType, _boolean),
    (spark.IntegralType, _integer),
    (spark.DecimalType, _number),
    ((spark.FloatType, spark.DoubleType), lambda value: float(_number(value))),
    (spark.StringType, _text),
    ((spark.DateType, spark.TimestampType, spark.TimestampNTZType), _timestamp),
)
"""How a default is parsed, by the type of its field."""


_Uses = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class Formulas:
    """All attributes in order, and all assertions with what they read."""

    subject: Subject
    settled: tuple[Settled, ...]
    assertions: tuple[tuple[Assertion, Formula], ...]

    def used(self, subject: Subject) -> dict[str, tuple[str, ...]]:
        """Return the columns of each claim that attributes or assertions use."""
        needed = {pair for attribute in self.settled for pair in _direct_claims(attribute)}
        needed |= {pair for _, read in self.assertions for pair in read.claims}
        return {claim: tuple(sorted(column for name, column in needed if name == claim)) for claim in subject.claims}

    def evidence_of_attribute(self, settled: Settled) -> EvidenceColumns:
        """Return the evidence for an exception about an attribute."""
        return self.evidence_of_expression(settled.formula) if settled.formula else self._evidence(settled.claimed, ())

    def evidence_of_expression(self, read: Formula) -> EvidenceColumns:
        """Return the evidence for an expression: the attributes that it reads, and the claims behind them."""
        behind = {*read.claims, *(pair for column in read.attributes for pair in self._claims_behind(column))}
        return self._evidence(behind, [name for name in read.attributes if name not in self.subject.key])

    def masked(self, classified: Mapping[str, Collection[str]]) -> MaskedColumns:
        """Return what must be masked: classified fields and columns, and what they are settled from."""
        hidden = {
            attribute.column for attribute in self.settled if is_classified(self.subject.fields[attribute.column])
        }
        pairs = {(claim, column) for claim, columns in classified.items() for column in columns}
        hidden |= {attribute.column for attribute in self.settled if set(attribute.claimed) & pairs}
        pairs |= {pair for attribute in self.settled if attribute.column in hidden for pair in attribute.claimed}
        claims = {claim: {column for name, column in pairs if name == claim} for claim in self.subject.claims}
        return MaskedColumns(claims, hidden)

    def _claims_behind(self, column: str) -> set[tuple[str, str]]:
        """Return the columns of claims that an attribute depends on, also through other attributes."""
        attribute = next((other for other in self.settled if other.column == column), None)
        if attribute is None:
            return set()
        further = attribute.formula.attributes if attribute.formula else ()
        return {*_direct_claims(attribute), *(pair for name in further for pair in self._claims_behind(name))}

    def _evidence(self, pairs: _Uses, attributes: Iterable[str]) -> EvidenceColumns:
        each = {
            claim: tuple(sorted(column for name, column in pairs if name == claim)) for claim in self.subject.claims
        }
        return EvidenceColumns({claim: columns for claim, columns in each.items() if columns}, tuple(attributes))


def parse_formulas(subject: Subject, claims: Mapping[str, ClaimRows]) -> Formulas:
    """Parse all attributes and assertions; an expression can use claims, the key and the attributes before it."""
    rows = {name: claim_rows.columns for name, claim_rows in claims.items()}
    known = [spark.StructField(column, subject.type_of(column)) for column in subject.key]
    settled = []
    for number, attribute in enumerate(subject.declared.attributes):
        read = None
        if attribute.derived is not None:
            where = subject.place(attribute.name)
            read = parse_formula(attribute.derived, where, {**rows, ATTRIBUTES: spark.StructType(known)})
        settled_attribute = settle_attribute(subject, attribute, number, claims, read)
        settled.append(settled_attribute)
        known = [*known, spark.StructField(settled_attribute.column, subject.type_of(settled_attribute.column))]
    everything = {**rows, ATTRIBUTES: spark.StructType(known)}
    assertions = tuple(
        (assertion, parse_formula(assertion.holds, subject.place(assertion.name), everything))
        for assertion in subject.declared.assertions
    )
    return Formulas(subject, tuple(settled), assertions)


def _direct_claims(settled: Settled) -> _Uses:
    return settled.formula.claims if settled.formula else settled.claimed
