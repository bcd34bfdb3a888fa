"""The table of lint rules: one function per rule, whose docstring is its public page."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from treaty.contracts.findings import Pointer, Severity
from treaty.contracts.frozen import lazy
from treaty.contracts.model import Contract, Field, locate_fields
from treaty.contracts.paths import FieldPath


@dataclass(frozen=True)
class FieldContext:
    """A field with its path, its position in the document, and the names around it."""

    path: FieldPath
    field: Field
    pointer: Pointer
    around: tuple[str, ...] = ()
    beside: frozenset[str] = frozenset()
    classification: str | None = None

    @property
    def name(self) -> str:
        """The field's name; empty for array elements and map entries."""
        return self.field.name or ""

    @lazy
    def path_text(self) -> str:
        """The path as text, which several rules need."""
        return str(self.path)


@dataclass(frozen=True, slots=True)
class Remark:
    """The result of a rule: a message, a hint, the position it refers to, and the path of a field if it names one."""

    message: str
    hint: str
    pointer: Pointer = ()
    path: str | None = None


@dataclass(frozen=True)
class Readers:
    """The consumers of a line and the fields that they read, as far as the registry knows."""

    consumers: tuple[str, ...]
    fields: tuple[FieldPath, ...]


@dataclass(frozen=True)
class LintTarget:
    """What the rules check: a contract with its fields in context, and its readers if they are known."""

    contract: Contract
    fields: tuple[FieldContext, ...]
    readers: Readers | None = None


FieldRule: TypeAlias = Callable[[FieldContext, Contract], Iterator[Remark]]
ContractRule: TypeAlias = Callable[[Contract, tuple[FieldContext, ...]], Iterator[Remark]]
ReaderRule: TypeAlias = Callable[[Contract, tuple[FieldContext, ...], Readers], Iterator[Remark]]
Run: TypeAlias = Callable[[LintTarget], Iterator[tuple[str | None, Remark]]]


@dataclass(frozen=True)
class Rule:
    """One lint rule with its public page; `run` yields remarks, each with the path of its field or None.

    A required rule is applied by registries too: it cannot be re-graded, switched off or waived.
    """

    id: str
    severity: Severity
    page: str
    home: str
    run: Run
    is_required: bool = False

    @property
    def summary(self) -> str:
        """The first line of the page."""
        return self.page.splitlines()[0]


RULES: dict[str, Rule] = {}


def field_rule(severity: Severity) -> Callable[[FieldRule], FieldRule]:
    """Register a function as a rule that checks each field."""

    def enter(check: FieldRule) -> FieldRule:
        def run(target: LintTarget) -> Iterator[tuple[str | None, Remark]]:
            for spot in target.fields:
                for remark in check(spot, target.contract):
                    yield spot.path_text, remark

        _enter(check, severity, run)
        return check

    return enter


def contract_rule(severity: Severity, *, is_required: bool = False) -> Callable[[ContractRule], ContractRule]:
    """Register a function as a rule that checks the contract itself."""

    def enter(check: ContractRule) -> ContractRule:
        def run(target: LintTarget) -> Iterator[tuple[str | None, Remark]]:
            for remark in check(target.contract, target.fields):
                yield remark.path, remark

        _enter(check, severity, run, is_required)
        return check

    return enter


def reader_rule(severity: Severity) -> Callable[[ReaderRule], ReaderRule]:
    """Register a function as a rule that runs only where the readers of the contract are known."""

    def enter(check: ReaderRule) -> ReaderRule:
        def run(target: LintTarget) -> Iterator[tuple[str | None, Remark]]:
            if target.readers is not None:
                for remark in check(target.contract, target.fields, target.readers):
                    yield None, remark

        _enter(check, severity, run)
        return check

    return enter


def _enter(check: Callable[..., Iterator[Remark]], severity: Severity, run: Run, is_required: bool = False) -> None:
    name = check.__name__.replace("_", "-")
    page = inspect.getdoc(check)
    if name in RULES:
        raise ValueError(f"the rule {name} is declared twice")
    if not page:
        raise ValueError(f"the rule {name} has no page; write its docstring")
    RULES[name] = Rule(name, severity, page, check.__module__, run, is_required)


def field_contexts(contract: Contract) -> Iterator[FieldContext]:
    """Yield every field of a contract with its context, outermost first."""
    located = [(path, path.parent, field, pointer) for path, field, pointer in locate_fields(contract)]
    beside: dict[FieldPath, set[str]] = {}
    inherited: dict[FieldPath, str | None] = {}
    for path, parent, field, _ in located:
        beside.setdefault(parent, set()).add(field.name or "")
        inherited[path] = field.classification or inherited.get(parent)
    siblings = {parent: frozenset(names) for parent, names in beside.items()}
    only = contract.schema[0].name if len(contract.schema) == 1 else None
    for path, parent, field, pointer in located:
        owner = path.object if path.object is not None else only
        names = (*((owner,) if owner else ()), *(step.text for step in parent.steps if not step.is_mark))
        yield FieldContext(path, field, pointer, names, siblings[parent], inherited[path])
