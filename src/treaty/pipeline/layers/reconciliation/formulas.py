"""How all attributes and assertions are settled, read together: which columns they use, and what they rest on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pyspark.sql import types as spark

from treaty.pipeline.declarations import Assertion
from treaty.pipeline.layers.reconciliation.claiming import Spoken
from treaty.pipeline.layers.reconciliation.expressions import ATTRIBUTES, Formula, formula
from treaty.pipeline.layers.reconciliation.settling import Settled, settled_by
from treaty.pipeline.layers.reconciliation.showing import Secrets, Shown
from treaty.pipeline.layers.reconciliation.subjects import Subject
from treaty.spark.schema import is_classified

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
