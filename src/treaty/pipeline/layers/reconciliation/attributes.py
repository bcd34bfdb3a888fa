"""Settling attributes: by the first claim of authority that has a value, or by an expression."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.pipeline.layers.reconciliation.agreement import SHARES, TOLERANT, Kind, agrees, comparable, widened
from treaty.pipeline.layers.reconciliation.claims import Spoken
from treaty.pipeline.layers.reconciliation.evidence import Secrets, Shown
from treaty.pipeline.layers.reconciliation.expressions import ATTRIBUTES, Formula, formula
from treaty.pipeline.layers.reconciliation.subject import Subject
from treaty.pipeline.project.declarations import Assertion, Attribute, OnConflict
from treaty.spark.columns import INTERNAL_PREFIX, any_of, quoted_col
from treaty.spark.schema import is_classified
from treaty.spark.type_conversion import same_type


@dataclass(frozen=True)
class Settled:
    """One attribute: where its value comes from, and what may be wrong with it."""

    attribute: Attribute
    column: str
    number: int
    says: tuple[tuple[str, str], ...] = ()
    """The claims of authority, each with its column."""
    kind: Kind | None = None
    formula: Formula | None = None
    default: Column | None = None
    is_required: bool = False

    @property
    def conflict(self) -> str:
        """The column that tells whether claims disagree."""
        return f"{INTERNAL_PREFIX}conflict_{self.number}"

    @property
    def compares(self) -> bool:
        """Whether claims are compared."""
        return self.attribute.agreement is not None and len(self.says) > 1

    @property
    def may_conflict(self) -> bool:
        """Whether a disagreement is an exception."""
        return self.compares and self.attribute.on_conflict is OnConflict.EXCEPTION

    @property
    def may_be_missing(self) -> bool:
        """Whether no value is an exception."""
        return self.is_required and self.default is None


def settled_by(
    subject: Subject, attribute: Attribute, number: int, claims: Mapping[str, Spoken], formula: Formula | None
) -> Settled:
    """Return how an attribute is settled; columns that are not there, or cannot be compared, are said so."""
    column = subject.column(attribute)
    says = tuple(_columns(subject, attribute, claims))
    return Settled(
        attribute,
        column,
        number,
        says,
        _kind(subject, attribute, {claim: claims[claim].columns[name].dataType for claim, name in says}),
        formula,
        default_of(subject, attribute, column),
        subject.fields[column].is_required,
    )


def columns_of(item: Settled, claims: Mapping[str, Spoken]) -> Iterator[Column]:
    """Yield the columns that settle an attribute: its value, and whether claims disagree."""
    conflict = _conflict(item, claims) if item.compares else None
    found = F.expr(item.formula.sql) if item.formula else F.coalesce(*[_said(*one) for one in item.says])
    if conflict is not None and item.attribute.on_conflict is OnConflict.NULL:
        found = F.when(~conflict, found)
    yield (found if item.default is None else F.coalesce(found, item.default)).alias(item.column)
    if conflict is not None and item.may_conflict:
        yield conflict.alias(item.conflict)


def _said(claim: str, column: str) -> Column:
    return quoted_col(claim).getField(column)


def _conflict(item: Settled, claims: Mapping[str, Spoken]) -> Column:
    """Tell whether a claim that has a value disagrees with the first that has one."""
    agreement, kind = item.attribute.agreement, item.kind
    if agreement is None or kind is None:
        return F.lit(False)
    values = [widened(_said(claim, column), claims[claim].columns[column].dataType) for claim, column in item.says]
    first = F.coalesce(*values)
    apart = [value.isNotNull() & ~agrees(first, value, kind, agreement) for value in values[1:]]
    return any_of(apart)


def _columns(subject: Subject, attribute: Attribute, claims: Mapping[str, Spoken]) -> Iterator[tuple[str, str]]:
    for claim in attribute.authority:
        if claim not in claims:
            raise subject.wrong(f"{attribute.name} names the claim {claim!r}; there are: {', '.join(claims)}")
        asked = attribute.columns.get(claim, attribute.name)
        found = claims[claim].find(asked)
        if found is None:
            has = ", ".join(claims[claim].columns.names)
            raise subject.wrong(f"claim {claim!r} has no column {asked!r} to settle {attribute.name}; it has: {has}")
        yield claim, found.name


def _kind(subject: Subject, attribute: Attribute, types: Mapping[str, spark.DataType]) -> Kind | None:
    """Return as what the claims are compared with each other; None where nothing is compared."""
    asked, held = attribute.agreement, list(types.values())
    kinds = [comparable(held[0], other) for other in held[1:]]
    unlike = any(kind is None for kind in kinds)
    if unlike and (asked is not None or any(not same_type(held[0], other) for other in held)):
        words = ", ".join(f"{kind.simpleString()} in {claim}" for claim, kind in types.items())
        raise subject.wrong(f"{attribute.name} is {words}: these cannot be compared; cast them in the claims' sql")
    found = Kind.FLOAT if Kind.FLOAT in kinds else next(iter(kinds), None)
    if asked is not None and asked.within and found not in (None, *(SHARES if asked.is_share else TOLERANT)):
        how = "by a share" if asked.is_share else "by a number"
        raise subject.wrong(f"{attribute.name} is {found}, which cannot differ {how}; write agree: exact")
    return found


def default_of(subject: Subject, attribute: Attribute, column: str) -> Column | None:
    """Return the default as a value of the field, or say why it is none."""
    value, want = attribute.default, subject.type_of(column)
    if value is None:
        return None
    reads = next((read for kinds, read in _DEFAULTS if isinstance(want, kinds)), None)
    try:
        if reads is None:
            raise ValueError
        return F.lit(reads(value)).cast(want)
    except (ValueError, ArithmeticError):
        raise subject.wrong(
            f"the default of {attribute.name} is {value!r}, and the field is {want.simpleString()}"
        ) from None


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _number(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    return Decimal(format(Decimal(str(value)), "f"))


def _whole(value: Any) -> int:
    number = _number(value)
    if number != int(number):
        raise ValueError
    return int(number)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _moment(value: Any) -> str:
    return datetime.fromisoformat(_text(value)).isoformat()


_DEFAULTS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (spark.BooleanType, _truth),
    (spark.IntegralType, _whole),
    (spark.DecimalType, _number),
    ((spark.FloatType, spark.DoubleType), lambda value: float(_number(value))),
    (spark.StringType, _text),
    ((spark.DateType, spark.TimestampType, spark.TimestampNTZType), _moment),
)
"""How a default is read, by the type of its field."""


_Uses = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class Formulas:
    """Every attribute in its turn, and every assertion with what it reads."""

    subject: Subject
    settled: tuple[Settled, ...]
    assertions: tuple[tuple[Assertion, Formula], ...]

    def used(self, subject: Subject) -> dict[str, tuple[str, ...]]:
        """Return the columns of each claim that anything needs."""
        needed = {pair for item in self.settled for pair in _direct(item)}
        needed |= {pair for _, read in self.assertions for pair in read.claims}
        return {claim: tuple(sorted(column for name, column in needed if name == claim)) for claim in subject.claims}

    def shown_of(self, item: Settled) -> Shown:
        """Return what is shown of a doubt about an attribute."""
        return self.shown_by(item.formula) if item.formula else self._shown(item.says, ())

    def shown_by(self, read: Formula) -> Shown:
        """Return what is shown of an expression: the attributes that it reads, and the claims behind all of it."""
        behind = {*read.claims, *(pair for column in read.attributes for pair in self._behind(column))}
        return self._shown(behind, [name for name in read.attributes if name not in self.subject.key])

    def secrets(self, classified: Mapping[str, Collection[str]]) -> Secrets:
        """Return what must not be shown: classified fields and columns, and what they are settled by."""
        hidden = {item.column for item in self.settled if is_classified(self.subject.fields[item.column])}
        pairs = {(claim, column) for claim, columns in classified.items() for column in columns}
        hidden |= {item.column for item in self.settled if set(item.says) & pairs}
        pairs |= {pair for item in self.settled if item.column in hidden for pair in item.says}
        claims = {claim: {column for name, column in pairs if name == claim} for claim in self.subject.claims}
        return Secrets(claims, hidden)

    def _behind(self, column: str) -> set[tuple[str, str]]:
        """Return the columns of claims that an attribute rests on, through other attributes."""
        item = next((one for one in self.settled if one.column == column), None)
        if item is None:
            return set()
        further = item.formula.attributes if item.formula else ()
        return {*_direct(item), *(pair for name in further for pair in self._behind(name))}

    def _shown(self, pairs: _Uses, attributes: Iterable[str]) -> Shown:
        each = {
            claim: tuple(sorted(column for name, column in pairs if name == claim)) for claim in self.subject.claims
        }
        return Shown({claim: columns for claim, columns in each.items() if columns}, tuple(attributes))


def read_formulas(subject: Subject, claims: Mapping[str, Spoken]) -> Formulas:
    """Read how everything is settled; an expression sees claims, the key and the attributes before it."""
    rows = {name: said.columns for name, said in claims.items()}
    known = [spark.StructField(column, subject.type_of(column)) for column in subject.key]
    settled = []
    for number, attribute in enumerate(subject.declared.attributes):
        read = None
        if attribute.derived is not None:
            where = subject.place(attribute.name)
            read = formula(attribute.derived, where, {**rows, ATTRIBUTES: spark.StructType(known)})
        item = settled_by(subject, attribute, number, claims, read)
        settled.append(item)
        known = [*known, spark.StructField(item.column, subject.type_of(item.column))]
    everything = {**rows, ATTRIBUTES: spark.StructType(known)}
    assertions = tuple(
        (one, formula(one.holds, subject.place(one.name), everything)) for one in subject.declared.assertions
    )
    return Formulas(subject, tuple(settled), assertions)


def _direct(item: Settled) -> _Uses:
    return item.formula.claims if item.formula else item.says
