"""Settling attributes: by the first claim of authority that has a value, or by an expression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.pipeline.declarations import Attribute, OnConflict
from treaty.pipeline.layers.reconciliation.agreeing import SHARES, TOLERANT, Kind, agrees, comparable, widened
from treaty.pipeline.layers.reconciliation.claiming import Spoken
from treaty.pipeline.layers.reconciliation.defaults import default_of
from treaty.pipeline.layers.reconciliation.expressions import Formula
from treaty.pipeline.layers.reconciliation.subjects import Subject
from treaty.spark.columns import PRIVATE, any_of, named
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
        return f"{PRIVATE}conflict_{self.number}"

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
    return named(claim).getField(column)


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
