"""Drafts of contracts that a project declares and that do not exist yet, from what its SQL shows.

Columns, types and keys follow from the SQL and from the contracts of the inputs. A column that is passed through keeps
the definition of its field. What only people know is marked as TODO.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql.types import DataType, StringType, StructField, StructType

from treaty.contracts.findings import Finding
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.odcs import LATEST_API_VERSION
from treaty.contracts.paths import FieldPath
from treaty.contracts.values import FrozenMap
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument, NotFound
from treaty.formats.spark.reader import Reader
from treaty.pipeline.plan.planner import sort_by_dependency
from treaty.pipeline.project.declarations import Declared, Product, Project, Publication, Reconciliation, Sql
from treaty.pipeline.project.project_sql import (
    ARRIVED_AT,
    contract_columns,
    event_columns,
    key_columns,
    parse_query,
    spark_type_of,
    visible_columns,
)
from treaty.spark.schema import column_name, select_object
from treaty.sql.lineage import Origin, passed_through
from treaty.sql.row_keys import row_key

TODO = "TODO"
_NO_TYPE = "TODO: the type does not follow from the SQL"


@dataclass(frozen=True)
class Draft:
    """The draft of one contract, and what is left to decide."""

    declared: Declared
    contract: Contract
    todo: tuple[str, ...]


@dataclass(frozen=True)
class _Columns:
    """The fields of a draft, its key, and the fields whose types are not known."""

    fields: tuple[Field, ...]
    key: tuple[str, ...]
    unknown: tuple[str, ...] = ()


def draft_contracts(
    project: Project, contracts: Mapping[Line, Contract]
) -> tuple[tuple[Draft, ...], tuple[Finding, ...]]:
    """Draft the contracts that are missing, in the order of the layers, and return the problems of the others.

    The contracts of sources must exist. Without a draft of its inputs, a declaration has none.
    """
    missing = [source for source in project.sources if source.line not in contracts]
    if missing:
        hint = "draft it with: treaty infer DATA"
        raise NotFound("\n".join(f"{source.at}: no contract {source.line}; {hint}" for source in missing))
    known = dict(contracts)
    drafts: list[Draft] = []
    problems: list[Finding] = []
    for declared in _in_order(project):
        if declared.line in known or not _inputs(declared) <= {one.name for one in project if one.line in known}:
            continue
        try:
            columns = _columns(project, known, declared)
        except InvalidDocument as error:
            problems += error.findings
            continue
        contract = _contract(declared, columns)
        known[declared.line] = contract
        drafts.append(Draft(declared, contract, tuple(_todo(columns))))
    return tuple(drafts), tuple(problems)


def _inputs(declared: Product | Reconciliation | Publication) -> set[str]:
    if isinstance(declared, Product):
        return {*declared.sources, *declared.enrichments}
    if isinstance(declared, Reconciliation):
        return {claim.product for claim in declared.claims}
    return set(declared.inputs)


def _in_order(project: Project) -> Iterator[Product | Reconciliation | Publication]:
    products = {product.name: product for product in project.products}
    order, _ = sort_by_dependency({name: product.enrichments for name, product in products.items()})
    yield from (products[name] for name in order)
    yield from project.reconciliations
    yield from project.publications


def _contract(declared: Declared, columns: _Columns) -> Contract:
    positions = {name: number for number, name in enumerate(columns.key, start=1)} if len(columns.key) > 1 else {}
    fields = tuple(
        replace(
            field,
            required=True if field.name in columns.key else field.required,
            primary_key=True if field.name in columns.key else None,
            primary_key_position=positions.get(field.name or ""),
        )
        for field in columns.fields
    )
    return Contract(
        declared.line.contract,
        f"{declared.line.major}.0.0",
        LATEST_API_VERSION,
        status="draft",
        description=FrozenMap({"purpose": TODO}),
        objects=(SchemaObject(declared.name, properties=fields),),
        custom_properties=(FrozenMap({"property": "owners", "value": [{"team": TODO}]}),),
        plain_keys=("owners",),
    )


def _todo(columns: _Columns) -> Iterator[str]:
    yield "owner, purpose and descriptions"
    if not columns.key:
        yield "the key: mark its fields with primaryKey: true"
    if columns.unknown:
        yield f"the types of {', '.join(columns.unknown)}, which do not follow from the SQL"


def _columns(
    project: Project, contracts: Mapping[Line, Contract], declared: Product | Reconciliation | Publication
) -> _Columns:
    by_name = {one.name: contracts[one.line] for one in project if one.line in contracts}
    if isinstance(declared, Reconciliation):
        return _reconciled(declared, by_name)
    names = (*declared.sources, *declared.enrichments) if isinstance(declared, Product) else declared.inputs
    inputs = {name: by_name[name] for name in names}
    if declared.sql is None:
        first = inputs[names[0]]
        return _Columns(_plain_fields(first), key_columns(first))
    return _queried(declared.sql, inputs, set(declared.sources) if isinstance(declared, Product) else set())


def _queried(sql: Sql, inputs: Mapping[str, Contract], events: set[str]) -> _Columns:
    """Return the columns of a query: those that are passed through as their inputs define them, others by type."""
    columns = {
        name: visible_columns(event_columns(contract) if name in events else contract_columns(contract), sql)
        for name, contract in inputs.items()
    }
    query = parse_query(sql, columns)
    keys = {name: key_columns(contract) for name, contract in inputs.items()}
    passed = passed_through(query)
    fields: list[Field] = []
    unknown: list[str] = []
    for column in query.root.columns:
        if column.name == ARRIVED_AT:
            continue
        origin = passed.get(column.name)
        field = _field_at(inputs, origin) if origin is not None else None
        kind = spark_type_of(column.type)
        if field is None and kind is None:
            unknown.append(column.name)
        fields.append(_renamed(field, column.name) if field else _field(column.name, kind))
    return _Columns(tuple(fields), row_key(query, keys), tuple(unknown))


def _reconciled(declared: Reconciliation, contracts: Mapping[str, Contract]) -> _Columns:
    """Return the key that the products of all claims share, and the attributes as their authorities have them."""
    claims = {
        claim.name: _queried(claim.sql, {claim.product: contracts[claim.product]}, set())
        if claim.sql
        else _Columns(_plain_fields(contracts[claim.product]), key_columns(contracts[claim.product]))
        for claim in declared.claims
    }
    names = [{field.name for field in claim.fields} for claim in claims.values()]
    shared = (claim.key for claim in claims.values() if claim.key and all(set(claim.key) <= own for own in names))
    key = next(shared, ())
    first = next(iter(claims.values()))
    fields = [field for name in key for field in first.fields if field.name == name]
    unknown: list[str] = []
    for attribute in declared.attributes:
        field = _claimed(attribute.name, attribute.authority, attribute.columns, claims)
        if field is None:
            unknown.append(attribute.name)
        fields.append(field or _field(attribute.name, None))
    return _Columns(tuple(fields), key, tuple(unknown))


def _claimed(
    name: str, authority: Sequence[str], columns: Mapping[str, str], claims: Mapping[str, _Columns]
) -> Field | None:
    for claim in authority:
        for field in claims[claim].fields if claim in claims else ():
            if field.name == columns.get(claim, name) and field.name not in claims[claim].unknown:
                return _renamed(field, name)
    return None


def _plain_fields(contract: Contract) -> tuple[Field, ...]:
    return tuple(_renamed(field, column_name(field)) for field in select_object(contract).fields)


def _field_at(inputs: Mapping[str, Contract], origin: Origin) -> Field | None:
    fields = select_object(inputs[origin.input]).fields
    return next((field for field in fields if column_name(field).lower() == origin.column.lower()), None)


def _renamed(field: Field, name: str) -> Field:
    """Return a field under another name; keys and references belong to the table that it comes from."""
    return replace(
        field,
        name=name,
        id=None,
        physical_name=None,
        primary_key=None,
        primary_key_position=None,
        unique=None,
        relationships=None,
    )


def _field(name: str, kind: DataType | None) -> Field:
    struct = StructType([StructField(name, kind or StringType())])
    (field,) = Reader(name).fields(struct.jsonValue(), FieldPath())
    return field if kind is not None else replace(field, description=_NO_TYPE)
