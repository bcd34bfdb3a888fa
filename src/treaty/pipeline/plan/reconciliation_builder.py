"""The step of a reconciliation: its claims, and how its attributes are settled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pyspark.sql.types import StructType

from treaty.errors import InvalidDocument
from treaty.pipeline.plan import schemas
from treaty.pipeline.plan.incremental_keys import AllAtOnce, ByKey, Found, claims_key
from treaty.pipeline.plan.step_builder import Lineage, Looking
from treaty.pipeline.plan.steps import Asked, Key, Layer, Mode, Step, digest_of
from treaty.pipeline.project.declarations import Attribute, Claim, Reconciliation
from treaty.pipeline.project.table_names import acceptances_table, table_of
from treaty.pipeline.project_sql import columns_of
from treaty.sql.column_types import Column
from treaty.sql.lineage import Origin, Origins, lineage, origins
from treaty.sql.project_queries import Query, analyse_expression
from treaty.sql.repeatability import find_unrepeatable

Columns: TypeAlias = tuple[Column, ...]


def reconciliation_step(looking: Looking, declared: Reconciliation) -> tuple[Step, Lineage]:
    """Return the step of a reconciliation."""
    contract = looking.contract(declared)
    key = looking.key_or_problem(declared)
    products = {claim.name: (claim.product, looking.columns(claim.product)) for claim in declared.claims}
    queries = {claim.name: _query(looking, claim) for claim in declared.claims}
    is_read = all(queries[claim.name] is not None or claim.sql is None for claim in declared.claims)
    said = {claim.name: _columns(queries[claim.name], products[claim.name][1]) for claim in declared.claims}
    found: Found = AllAtOnce("a claim's query cannot be read" if not is_read else "its contract has no primary key")
    if is_read and key:
        _keys_said(looking, declared, key, said)
        found = claims_key(queries, key, products)
    made = {claim.name: _lineage(queries[claim.name], claim, said[claim.name]) for claim in declared.claims}
    traced = _settled(looking, declared, key, said, made) if is_read else {}
    looking.compare_columns(declared, [*key, *(one.name for one in declared.attributes)])
    tables = {claim.product: f"{Layer.PRODUCTS}.{claim.product}" for claim in declared.claims}
    reads = (*dict.fromkeys(tables.values()), acceptances_table(declared.name))
    step = Step(
        declared.name,
        Layer.RECONCILIATION,
        table_of(declared),
        declared,
        contract,
        reads,
        *_computed(found, tables, acceptances_table(declared.name)),
        digest_of(
            declared,
            tuple(claim.sql.text for claim in declared.claims if claim.sql),
            contract,
            looking.project.folder,
            frozenset(),
        ),
        tuple(Asked(one.sql, {one.product: products[one.name][1]}) for one in declared.claims if one.sql),
    )
    return step, traced


def _query(looking: Looking, claim: Claim) -> Query | None:
    return looking.query(claim.sql, {claim.product: looking.columns(claim.product)}) if claim.sql else None


def _columns(query: Query | None, product: StructType) -> Columns:
    return columns_of(product) if query is None else query.root.columns


def _lineage(query: Query | None, claim: Claim, said: Columns) -> Mapping[str, Origins]:
    if query is not None:
        return lineage(query)
    return {name: frozenset({Origin(claim.product, name)}) for name in _names(said)}


def _computed(found: Found, tables: Mapping[str, str], acceptances: str) -> tuple[Mode, str, Key | None]:
    if not isinstance(found, ByKey):
        return Mode.FULL, found.reason, None
    inputs = {tables[name]: columns for name, columns in found.inputs.items()}
    return Mode.KEYED, found.reason, Key(found.columns, {**inputs, acceptances: found.columns})


def _keys_said(looking: Looking, declared: Reconciliation, key: tuple[str, ...], said: Mapping[str, Columns]) -> None:
    for claim, columns in said.items():
        for name in key:
            if not _has(columns, name):
                message = f"claim {claim} gives no {name}, which is of the key"
                looking.note(declared, "key-missing", message, f"it gives: {', '.join(_names(columns))}")


def _settled(
    looking: Looking,
    declared: Reconciliation,
    key: tuple[str, ...],
    said: Mapping[str, Columns],
    made: Mapping[str, Mapping[str, Origins]],
) -> Lineage:
    """Return where each attribute comes from, and note what is not there."""
    own = schemas.of_contract(looking.contract(declared))
    rows = {"": columns_of(own), **said}
    found: dict[str, Origins] = {name: frozenset().union(*(_of(made[claim], name) for claim in said)) for name in key}
    derived: dict[str, Origins] = {}
    for one in declared.attributes:
        found[one.name] = frozenset().union(
            *(_claimed(looking, declared, one, claim, said, made) for claim in one.authority)
        )
        if one.derived is not None:
            derived[one.name] = _expression(looking, declared, one.derived, rows)
    for assertion in declared.assertions:
        _expression(looking, declared, assertion.holds, rows)
    for _ in derived:  # an attribute may be derived from others that are
        for name, there in derived.items():
            found[name] = frozenset().union(*(_behind(one, found, made) for one in there))
    return found


def _claimed(
    looking: Looking,
    declared: Reconciliation,
    attribute: Attribute,
    claim: str,
    said: Mapping[str, Columns],
    made: Mapping[str, Mapping[str, Origins]],
) -> Origins:
    if claim not in said:
        return frozenset()  # the reading of the project says so
    column = attribute.columns.get(claim, attribute.name)
    if not _has(said[claim], column):
        message = f"{attribute.name}: claim {claim} gives no {column}"
        looking.note(declared, "column-missing", message, f"it gives: {', '.join(_names(said[claim]))}")
    return _of(made[claim], column)


def _expression(looking: Looking, declared: Reconciliation, sql: str, rows: Mapping[str, Columns]) -> Origins:
    try:
        read = analyse_expression(sql, declared.at or declared.name, rows)
    except InvalidDocument as error:
        looking.problems += error.findings
        return frozenset()
    looking.problems += find_unrepeatable(read)
    return origins(read)


def _names(columns: Columns) -> list[str]:
    return [column.name for column in columns]


def _has(columns: Columns, name: str) -> bool:
    return name.lower() in (column.name.lower() for column in columns)


def _behind(one: Origin, found: Lineage, made: Mapping[str, Mapping[str, Origins]]) -> Origins:
    return _of(made[one.input], one.column) if one.input else _of(found, one.column)


def _of(there: Mapping[str, Origins], column: str) -> Origins:
    top = column.partition(".")[0].partition("[")[0].lower()
    return next((origins for name, origins in there.items() if name.lower() == top), frozenset())
