"""Where the key of a contract is stored: the columns that copy it, through the SQL of a project.

Columns are followed in both directions, from the contract up to the fields of events and down to the publications.
Only columns that are passed on unchanged count: a value that was computed from the key is another value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from treaty.contracts.model import Contract
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument, NotFound
from treaty.pipeline.plan.planner import Plan
from treaty.pipeline.plan.steps import Step, StepQuery
from treaty.pipeline.project.declarations import Layer, Product, Publication, Reconciliation, Sql
from treaty.pipeline.project.document import is_name
from treaty.pipeline.project.project_sql import contract_columns, find_column, key_columns, parse_query
from treaty.sql.lineage import copied_fields
from treaty.suggestions import choose, did_you_mean


@dataclass(frozen=True, order=True)
class KeyColumn:
    """A column of a declaration, or a field inside it such as `customer.id`."""

    declaration: str
    column: str


KeyColumns = Mapping[str, Mapping[str, tuple[str, ...]]]
"""By declaration: for each field of the key, the columns that hold it."""


@dataclass(frozen=True)
class Key:
    """The key that a user named: the declarations of its contract, and the value of each of its fields."""

    line: Line
    declarations: tuple[str, ...]
    values: Mapping[str, str]


def resolve_key(plan: Plan, contracts: Mapping[Line, Contract], name: str, parts: Collection[str]) -> Key:
    """Return the key for a contract and the values that a user wrote: `VALUE`, or `FIELD=VALUE` for each field."""
    declared = [
        declared for declared in plan.project if name in (declared.line.contract, str(declared.line), declared.name)
    ]
    if not declared:
        known = dict.fromkeys(str(declared.line) for declared in plan.project)
        raise NotFound(f"the project does not use a contract {name!r}; {choose(name, known)}")
    contract = contracts[declared[0].line]
    return Key(declared[0].line, tuple(one.name for one in declared), _values(contract, parts))


def _values(contract: Contract, parts: Collection[str]) -> dict[str, str]:
    columns = contract_columns(contract)
    own = key_columns(contract) or _ordering_key(contract)
    named: dict[str, str] = {}
    for part in parts:
        field, equals, value = part.partition("=")
        column = find_column(columns, field.strip()) if equals else None
        if column is not None:
            named[column.name] = value
        elif equals and is_name(field.strip()):  # not a value: a misspelt field must not look like an absent key
            hint = did_you_mean(field.strip(), [column.name for column in columns], f"its key is {', '.join(own)}")
            quoted = f" (for a value with '=' in it, write {own[0]}={part})" if len(own) == 1 else ""
            raise InvalidDocument(f"{contract.id} has no field {field.strip()!r}; {hint}{quoted}")
        elif len(parts) == 1 and len(own) == 1:
            return {own[0]: part}
        else:
            fields = f"its key has the fields {', '.join(own)}" if own else "it has no key"
            raise InvalidDocument(
                f"{part!r} names no field of {contract.id}; {fields}: write --key FIELD=VALUE for each field"
            )
    missing = [name for name in own if name not in named] if set(named) & set(own) else []
    if not named or missing:
        fields = ", ".join(missing or own) or "fields"
        raise InvalidDocument(f"the key of {contract.id} is not complete; add --key FIELD=VALUE for: {fields}")
    return named


def _ordering_key(contract: Contract) -> tuple[str, ...]:
    ordering = contract.treaty.ordering
    columns = contract_columns(contract)
    names = ordering.key if ordering is not None else ()
    return tuple(column.name for name in names or () if (column := find_column(columns, str(name))) is not None)


def find_key_columns(plan: Plan, key: Key) -> KeyColumns:
    """Return the columns that hold the key, for each declaration that holds all of its fields."""
    copies = _copies(plan)
    reached = {field: _reachable([KeyColumn(name, field) for name in key.declarations], copies) for field in key.values}
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for declared in plan.project:
        columns = {
            field: tuple(sorted(place.column for place in places if place.declaration == declared.name))
            for field, places in reached.items()
        }
        if all(columns.values()):
            found[declared.name] = columns
    return found


def _reachable(start: list[KeyColumn], copies: Mapping[KeyColumn, set[KeyColumn]]) -> set[KeyColumn]:
    reached, waiting = set(start), list(start)
    while waiting:
        for place in copies.get(waiting.pop(), ()):
            if place not in reached:
                reached.add(place)
                waiting.append(place)
    return reached


def _copies(plan: Plan) -> dict[KeyColumn, set[KeyColumn]]:
    """Return for each column those that it is copied from or to."""
    copies: dict[KeyColumn, set[KeyColumn]] = {}
    for left, right in _pairs(plan):
        copies.setdefault(left, set()).add(right)
        copies.setdefault(right, set()).add(left)
    return copies


def _pairs(plan: Plan) -> Iterator[tuple[KeyColumn, KeyColumn]]:
    names = {step.table: step.name for step in plan.steps if step.layer is not Layer.RAW}
    for step in plan.steps:
        for column, origin in _copied_columns(plan, step):
            yield KeyColumn(step.name, column), origin
        if step.key is None:
            continue
        for table, columns in step.key.inputs.items():
            if table not in names:
                continue  # acceptances have no declaration of their own
            for own, column in zip(step.key.columns, columns, strict=True):
                yield KeyColumn(step.name, own), KeyColumn(names[table], column)


def _copied_columns(plan: Plan, step: Step) -> Iterator[tuple[str, KeyColumn]]:
    declared = step.declared
    if isinstance(declared, Product):
        yield from _by_query(step, declared.sql) if declared.sql else _by_name(plan, step, declared.sources)
    elif isinstance(declared, Publication):
        redacted = {redaction.field.lower() for redaction in declared.redacted}
        copied = _by_query(step, declared.sql) if declared.sql else _by_name(plan, step, declared.inputs[:1])
        yield from ((column, origin) for column, origin in copied if column.lower() not in redacted)
    elif isinstance(declared, Reconciliation):
        yield from _claimed(step, declared)


def _by_name(plan: Plan, step: Step, inputs: tuple[str, ...]) -> Iterator[tuple[str, KeyColumn]]:
    contracts = {step.name: step.contract for step in plan.steps}
    for name in inputs:
        available = contract_columns(contracts[name])
        for column in contract_columns(step.contract):
            if (found := find_column(available, column.name)) is not None:
                yield column.name, KeyColumn(name, found.name)


def _by_query(step: Step, sql: Sql) -> Iterator[tuple[str, KeyColumn]]:
    """Yield the columns of a step that its query passes on, as the contract spells them."""
    columns = contract_columns(step.contract)
    for name, origin in _query_copies(step.queries, sql):
        if (column := find_column(columns, name)) is not None:
            yield column.name, origin


def _query_copies(queries: tuple[StepQuery, ...], sql: Sql) -> Iterator[tuple[str, KeyColumn]]:
    query = next(query for query in queries if query.sql.path == sql.path)
    for name, origins in copied_fields(parse_query(query.sql, query.reads)).items():
        for origin in origins:
            yield name, KeyColumn(origin.input, origin.column)


def _claimed(step: Step, declared: Reconciliation) -> Iterator[tuple[str, KeyColumn]]:
    """Yield the key of a reconciliation and its attributes, with the columns of the claims that provide them."""
    for claim in declared.claims:
        own = {name: name for name in key_columns(step.contract)} | {
            attribute.name: attribute.columns.get(claim.name, attribute.name)
            for attribute in declared.attributes
            if claim.name in attribute.authority
        }
        provided = dict[str, list[KeyColumn]]()
        if claim.sql:
            for name, origin in _query_copies(step.queries, claim.sql):
                provided.setdefault(name.lower(), []).append(origin)
        for name, column in own.items():
            origins = provided.get(column.lower(), []) if claim.sql else [KeyColumn(claim.product, column)]
            yield from ((name, origin) for origin in origins)
