"""The subject of a reconciliation: its declaration together with its contract, checked against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.reconciliation.reconciliation_tables import CONTRACT, key_columns
from treaty.pipeline.project.declarations import Attribute, Claim, Reconciliation
from treaty.spark.schema import column_name, select_object, spark_type


@dataclass(frozen=True)
class Subject:
    """A reconciliation and its contract."""

    declared: Reconciliation
    contract: Contract

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """The contract's fields by their columns."""
        return {column_name(field): field for field in select_object(self.contract).fields}

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The columns that hold the key."""
        return key_columns(self.contract)

    @cached_property
    def claims(self) -> Mapping[str, Claim]:
        """The claims by name."""
        return {claim.name: claim for claim in self.declared.claims}

    def column(self, attribute: Attribute) -> str:
        """Return the column of an attribute."""
        named = {field.name: column for column, field in self.fields.items()}
        return attribute.name if attribute.name in self.fields else named[attribute.name]

    def type_of(self, column: str) -> spark.DataType:
        """Return the type of a column of the contract."""
        return spark_type(self.fields[column]) or spark.StringType()

    def owner(self, named: str | None) -> str | None:
        """Return the owner of an exception: the given one, else the reconciliation's, else the contract's first."""
        owners = self.contract.owners
        return named or self.declared.owner or (owners[0].team if owners else None)

    def place(self, name: str) -> str:
        """Return where an attribute or assertion is declared, for messages."""
        return f"{self.declared.at or self.declared.name}: {name}"

    def error(self, problem: str) -> InvalidDocument:
        """Return an error with the place of the declaration."""
        return InvalidDocument(f"{self.declared.at or self.declared.name}: {problem}")


def subject_of(declared: Reconciliation, contract: Contract) -> Subject:
    """Return the subject; raise an error if the declaration does not fit the contract."""
    subject = Subject(declared, contract)
    problem = next(_problems(subject), None)
    if problem is not None:
        raise subject.error(problem)
    return subject


def _problems(subject: Subject) -> Iterator[str]:
    contract = f"contract {subject.contract.id} {subject.contract.version}"
    if not subject.key:
        yield f"{contract} has no primary key; a reconciliation needs one"
    known = {name for column, field in subject.fields.items() for name in (column, field.name)}
    for attribute in subject.declared.attributes:
        if attribute.name not in known:
            yield f"{contract} has no field {attribute.name!r}; it has: {', '.join(subject.fields)}"
            return
        if subject.column(attribute) in subject.key:
            yield f"{attribute.name!r} is part of the key, which needs no attribute; remove it"
    settled = {subject.column(attribute) for attribute in subject.declared.attributes}
    for column, field in subject.fields.items():
        if field.is_required and column not in settled and column not in subject.key:
            yield f"{contract} requires {column!r}, but no attribute provides it; add it to attributes"
    yield from _shared_names(subject)


def _shared_names(subject: Subject) -> Iterator[str]:
    """Find names that are used twice, since exceptions and SQL refer to them."""
    taken: dict[str, str] = {CONTRACT: "the rules of the contract"}
    for what, names in (
        ("the key", subject.key),
        ("an attribute", [subject.column(attribute) for attribute in subject.declared.attributes]),
        ("an assertion", [assertion.name for assertion in subject.declared.assertions]),
        ("a claim", subject.claims),
    ):
        for name in names:
            before = taken.setdefault(name.lower(), what)
            if before != what:
                yield f"{name!r} is the name of both {before} and {what}; rename one"
