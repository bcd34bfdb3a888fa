"""What is known of a project while its steps are made, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pyspark.sql.types import StructType

from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.pipeline.declarations import Declared, Line, Project, Sql
from treaty.pipeline.planning import schemas
from treaty.pipeline.reading.places import place_at
from treaty.pipeline.sql import Query, read_query, unrepeatable
from treaty.pipeline.sql.lineage import Origins
from treaty.spark.schema import the_object

Lineage = Mapping[str, Origins]


@dataclass(eq=False)
class Looking:
    """A project and its contracts, with the problems that were found so far."""

    project: Project
    contracts: Mapping[Line, Contract]
    problems: list[Finding] = field(default_factory=list)

    def contract(self, declared: Declared) -> Contract:
        """Return the contract of a declaration."""
        return self.contracts[declared.line]

    def columns(self, name: str) -> StructType:
        """Return what a query sees of a declaration."""
        declared = next(one for one in self.project if one.name == name)
        contract = self.contract(declared)
        return schemas.of_events(contract) if declared in self.project.sources else schemas.of_contract(contract)

    def key(self, name: str) -> tuple[str, ...]:
        """Return the primary key of a declaration's contract."""
        return schemas.key_of(self.contract(next(one for one in self.project if one.name == name)))

    def query(self, sql: Sql, reads: Mapping[str, StructType]) -> Query | None:
        """Read a query, or note what is wrong with it."""
        try:
            found = read_query(sql, reads)
        except InvalidDocument as error:
            self.problems += error.findings
            return None
        self.problems += unrepeatable(found)
        return found

    def note(
        self, declared: Declared, finding: str, message: str, hint: str, severity: Severity = Severity.ERROR
    ) -> None:
        """Note what is wrong with a declaration."""
        place = place_at(declared.at) if declared.at else None
        self.problems.append(Finding(finding, severity, f"{declared.name}: {message}", place=place, hint=hint))

    def is_plain(self, declared: Declared) -> bool:
        """Tell whether a contract has one object, which is what a table is; note it where not."""
        try:
            the_object(self.contract(declared))
        except InvalidDocument as error:
            self.note(declared, "contract-objects", str(error), "a table follows a contract with one object")
            return False
        return True

    def key_or_problem(self, declared: Declared) -> tuple[str, ...]:
        """Return the primary key of a declaration's contract, which it needs."""
        key = schemas.key_of(self.contract(declared))
        if not key:
            message = f"{declared.line} has no primary key"
            self.note(declared, "key-missing", message, "mark the fields that tell its rows apart with primaryKey")
        return key

    def compare_columns(self, declared: Declared, given: Iterable[str]) -> None:
        """Note the columns that a contract requires and nobody gives, and those that it does not know."""
        contract = self.contract(declared)
        wanted = schemas.of_contract(contract)
        there = {name.lower(): name for name in given}
        for item in wanted:
            if item.name.lower() not in there and not item.nullable:
                message = f"nothing gives {item.name}, which {contract.id} {contract.version} requires"
                self.note(declared, "column-missing", message, f"add it; there are: {', '.join(there.values())}")
        known = {name.lower() for name in wanted.names}
        if unknown := [name for lower, name in there.items() if lower not in known]:
            message = f"{contract.id} {contract.version} has no {', '.join(unknown)}"
            hint = "leave it out of the query, or add it to the contract"
            self.note(declared, "column-unknown", message, hint, Severity.WARNING)
