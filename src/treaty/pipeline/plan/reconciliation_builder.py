"""Building the step of a reconciliation: its claims, lineage and problems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pyspark.sql.types import StructType

from treaty.errors import InvalidDocument
from treaty.pipeline.plan.incremental_keys import ByKey, Computation, FullOnly, claims_key
from treaty.pipeline.plan.step_builder import Lineage, PlanContext
from treaty.pipeline.plan.steps import Key, Mode, Step, StepQuery, step_digest
from treaty.pipeline.project.declarations import Attribute, Claim, Layer, Reconciliation, acceptances_table, table_of
from treaty.pipeline.project.project_sql import columns_of, contract_columns
from treaty.sql.lineage import Origin, Origins, lineage, origins
from treaty.sql.project_queries import Query, analyse_expression
from treaty.sql.relations import Column
from treaty.sql.repeatability import find_unrepeatable

Columns: TypeAlias = tuple[Column, ...]


def reconciliation_step(context: PlanContext, declared: Reconciliation) -> tuple[Step, Lineage]:
    """Return the step of a reconciliation."""
    contract = context.contract(declared)
    key = context.key_or_problem(declared)
    products = {claim.name: (claim.product, context.columns(claim.product)) for claim in declared.claims}
    queries = {claim.name: _query(context, claim) for claim in declared.claims}
    is_parsed = all(queries[claim.name] is not None or claim.sql is None for claim in declared.claims)
    claim_columns = {claim.name: _columns(queries[claim.name], products[claim.name][1]) for claim in declared.claims}
    computation: Computation = FullOnly(
        "the query of a claim cannot be parsed" if not is_parsed else "its contract has no primary key"
    )
    if is_parsed and key:
        _check_key_columns(context, declared, key, claim_columns)
        computation = claims_key(queries, key, products)
    claim_lineage = {
        claim.name: _lineage(queries[claim.name], claim, claim_columns[claim.name]) for claim in declared.claims
    }
    traced = _attribute_lineage(context, declared, key, claim_columns, claim_lineage) if is_parsed else {}
    context.compare_columns(declared, [*key, *(attribute.name for attribute in declared.attributes)])
    tables = {claim.product: f"{Layer.PRODUCTS}.{claim.product}" for claim in declared.claims}
    reads = (*dict.fromkeys(tables.values()), acceptances_table(declared.name))
    step = Step(
        declared.name,
        Layer.RECONCILIATION,
        table_of(declared),
        declared,
        contract,
        reads,
        *_computed(computation, tables, acceptances_table(declared.name)),
        step_digest(
            declared,
            tuple(claim.sql.text for claim in declared.claims if claim.sql),
            contract,
            context.project.folder,
            frozenset(),
        ),
        tuple(StepQuery(claim.sql, {claim.product: products[claim.name][1]}) for claim in declared.claims if claim.sql),
    )
    return step, traced


def _query(context: PlanContext, claim: Claim) -> Query | None:
    return context.query(claim.sql, {claim.product: context.columns(claim.product)}) if claim.sql else None


def _columns(query: Query | None, product: StructType) -> Columns:
    return columns_of(product) if query is None else query.root.columns


def _lineage(query: Query | None, claim: Claim, claim_columns: Columns) -> Mapping[str, Origins]:
    if query is not None:
        return lineage(query)
    return {name: frozenset({Origin(claim.product, name)}) for name in _names(claim_columns)}


def _computed(computation: Computation, tables: Mapping[str, str], acceptances: str) -> tuple[Mode, str, Key | None]:
    if not isinstance(computation, ByKey):
        return Mode.FULL, computation.reason, None
    inputs = {tables[name]: columns for name, columns in computation.inputs.items()}
    return Mode.KEYED, computation.reason, Key(computation.columns, {**inputs, acceptances: computation.columns})


def _check_key_columns(
    context: PlanContext, declared: Reconciliation, key: tuple[str, ...], claim_columns: Mapping[str, Columns]
) -> None:
    for claim, columns in claim_columns.items():
        for name in key:
            if not _has(columns, name):
                message = f"claim {claim} has no key column {name}"
                context.report(declared, "key-missing", message, f"it has: {', '.join(_names(columns))}")


def _attribute_lineage(
    context: PlanContext,
    declared: Reconciliation,
    key: tuple[str, ...],
    claim_columns: Mapping[str, Columns],
    claim_lineage: Mapping[str, Mapping[str, Origins]],
) -> Lineage:
    """Return the lineage of each attribute, and report missing columns."""
    own = contract_columns(context.contract(declared))
    rows = {"": columns_of(own), **claim_columns}
    lineage_by_name: dict[str, Origins] = {
        name: frozenset().union(*(_origins_of(claim_lineage[claim], name) for claim in claim_columns)) for name in key
    }
    derived: dict[str, Origins] = {}
    for attribute in declared.attributes:
        lineage_by_name[attribute.name] = frozenset().union(
            *(
                _claimed_origins(context, declared, attribute, claim, claim_columns, claim_lineage)
                for claim in attribute.authority
            )
        )
        if attribute.derived is not None:
            derived[attribute.name] = _expression(context, declared, attribute.derived, rows)
    for assertion in declared.assertions:
        _expression(context, declared, assertion.holds, rows)
    for _ in derived:  # an attribute may be derived from other derived attributes
        for name, used in derived.items():
            lineage_by_name[name] = frozenset().union(
                *(_resolve_origin(origin, lineage_by_name, claim_lineage) for origin in used)
            )
    return lineage_by_name


def _claimed_origins(
    context: PlanContext,
    declared: Reconciliation,
    attribute: Attribute,
    claim: str,
    claim_columns: Mapping[str, Columns],
    claim_lineage: Mapping[str, Mapping[str, Origins]],
) -> Origins:
    if claim not in claim_columns:
        return frozenset()  # the reader of the project reports it
    column = attribute.columns.get(claim, attribute.name)
    if not _has(claim_columns[claim], column):
        message = f"{attribute.name}: claim {claim} has no column {column}"
        context.report(declared, "column-missing", message, f"it has: {', '.join(_names(claim_columns[claim]))}")
    return _origins_of(claim_lineage[claim], column)


def _expression(context: PlanContext, declared: Reconciliation, sql: str, rows: Mapping[str, Columns]) -> Origins:
    try:
        read = analyse_expression(sql, declared.at or declared.name, rows)
    except InvalidDocument as error:
        context.problems += error.findings
        return frozenset()
    context.problems += find_unrepeatable(read)
    return origins(read)


def _names(columns: Columns) -> list[str]:
    return [column.name for column in columns]


def _has(columns: Columns, name: str) -> bool:
    return name.lower() in (column.name.lower() for column in columns)


def _resolve_origin(origin: Origin, attributes: Lineage, claim_lineage: Mapping[str, Mapping[str, Origins]]) -> Origins:
    return (
        _origins_of(claim_lineage[origin.input], origin.column)
        if origin.input
        else _origins_of(attributes, origin.column)
    )


def _origins_of(lineage_by_name: Mapping[str, Origins], column: str) -> Origins:
    top = column.partition(".")[0].partition("[")[0].lower()
    return next((origins for name, origins in lineage_by_name.items() if name.lower() == top), frozenset())
