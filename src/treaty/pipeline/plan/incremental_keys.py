"""Whether a step can be computed incrementally by key, or only in full, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql.types import StructType
from sqlglot import exp

from treaty.contracts.findings import Finding, Place, Severity
from treaty.pipeline.project.declarations import Form, Publication
from treaty.pipeline.project.project_sql import find_column, has_columns
from treaty.spark.type_conversion import same_type
from treaty.sql.key_dependency import KeyedQuery, analyse_key_dependency
from treaty.sql.lineage import lineage
from treaty.sql.project_queries import Query


@dataclass(frozen=True)
class ByKey:
    """The step is computed by key: the key columns of its output, and of each input by name."""

    columns: tuple[str, ...]
    inputs: Mapping[str, tuple[str, ...]]
    reason: str


@dataclass(frozen=True)
class FullOnly:
    """The step is always computed in full."""

    reason: str


Computation = ByKey | FullOnly


def product_key(query: Query | None, key: tuple[str, ...], sources: Mapping[str, StructType]) -> Computation:
    """Return how a product is computed: by the primary key of its contract, if every source has it."""
    key_names = ", ".join(key)
    for name, columns in sources.items():
        if not has_columns(columns, key):
            return FullOnly(f"{name} has no {key_names}")
    if len({str([_type(columns, name) for name in key]) for columns in sources.values()}) > 1:
        return FullOnly(f"{key_names} has different types in its sources")
    inputs = {name: _as_spelled(columns, key) for name, columns in sources.items()}
    if query is None:
        return ByKey(key, inputs, f"the latest event of each {key_names}")
    result = analyse_key_dependency(query, inputs)
    if not isinstance(result, KeyedQuery):
        return FullOnly(result.reason)
    if [name.lower() for name in result.outputs] != [name.lower() for name in key]:
        return FullOnly(f"the query renames {key_names}")
    return ByKey(key, inputs, _query_reason(key))


def claims_key(
    queries: Mapping[str, Query | None], key: tuple[str, ...], products: Mapping[str, tuple[str, StructType]]
) -> Computation:
    """Return how a reconciliation is computed: by its key, if every claim computes each key independently."""
    key_names = ", ".join(key)
    inputs: dict[str, tuple[str, ...]] = {}
    for claim, (product, columns) in products.items():
        if not has_columns(columns, key):
            return FullOnly(f"{product}, the product of claim {claim}, has no {key_names}")
        query = queries[claim]
        result = analyse_key_dependency(query, {product: key}) if query is not None else None
        if result is not None and not isinstance(result, KeyedQuery):
            return FullOnly(f"claim {claim}: {result.reason}")
        if result is not None and [name.lower() for name in result.outputs] != [name.lower() for name in key]:
            return FullOnly(f"claim {claim} renames {key_names}")
        inputs[product] = _as_spelled(columns, key)
    return ByKey(key, inputs, f"every claim computes each {key_names} independently")


def publication_key(
    publication: Publication,
    query: Query | None,
    output: StructType,
    inputs: Mapping[str, StructType],
    keys: Mapping[str, tuple[str, ...]],
) -> Computation:
    """Return how a publication is computed: by a key of one of its inputs that all inputs and the output have."""
    if publication.form in _FULL_FORMS:
        return FullOnly(_FULL_FORMS[publication.form])
    if publication.delay is not None:
        return FullOnly("delayed rows become visible with time, even without new data")
    reasons: list[str] = []
    for key in _candidates(inputs, keys):
        result = _publication_by_key(key, publication, query, output, inputs)
        if isinstance(result, ByKey):
            return result
        reasons.append(result.reason)
    return FullOnly(reasons[0] if reasons else "its inputs share no required key")


_FULL_FORMS = {Form.FEED: "a feed is always written in full", Form.VIEW: "a view is computed when it is read"}


def _candidates(inputs: Mapping[str, StructType], keys: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield the keys of single inputs that are required columns of the same types in all inputs."""
    for key in dict.fromkeys(keys[name] for name in inputs if keys[name]):
        key_fields = [[find_column(columns, name) for name in key] for columns in inputs.values()]
        if all(field is not None and not field.nullable for fields in key_fields for field in fields) and all(
            same_type(first.dataType, second.dataType)
            for fields in key_fields
            for first, second in zip(key_fields[0], fields, strict=True)
            if first is not None and second is not None
        ):
            yield key


def _publication_by_key(
    key: tuple[str, ...],
    publication: Publication,
    query: Query | None,
    output: StructType,
    inputs: Mapping[str, StructType],
) -> Computation:
    result = analyse_key_dependency(query, dict.fromkeys(inputs, key)) if query is not None else None
    if result is not None and not isinstance(result, KeyedQuery):
        return FullOnly(result.reason)
    output_names = result.outputs if isinstance(result, KeyedQuery) else key
    redacted = {redaction.field.lower() for redaction in publication.redacted}
    for name, output_name in zip(key, output_names, strict=True):
        column = find_column(output, output_name)
        if column is None:
            return FullOnly(f"its contract has no {output_name}")
        if output_name.lower() in redacted:
            return FullOnly(f"{output_name} is redacted")
        input_column = find_column(next(iter(inputs.values())), name)
        if input_column is not None and not same_type(input_column.dataType, column.dataType):
            return FullOnly(f"{output_name} has different types in its contract and its inputs")
    reason = f"each row comes from one row of {next(iter(inputs))}" if query is None else _query_reason(key)
    columns = tuple(field.name for output_name in output_names if (field := find_column(output, output_name)))
    return ByKey(columns, {name: _as_spelled(fields, key) for name, fields in inputs.items()}, reason)


def find_lost_keys(name: str, key: Sequence[str], query: Query, reads: Mapping[str, StructType]) -> Iterator[Finding]:
    """Yield key columns that a query fills from another column although an input has a column of that name.

    Rows of different keys would then share one. A query that groups or numbers rows may do so on purpose.
    """
    if query.tree.find(exp.Group, exp.Distinct, exp.Window) is not None:
        return
    origins = {column.lower(): fields for column, fields in lineage(query).items()}
    for column in key:
        fields = sorted(origins.get(column.lower(), ()))
        taken = [field for field in fields if find_column(reads[field.input], column) is not None]
        if taken and not any(field.column.lower() == column.lower() for field in fields):
            used = ", ".join(f"{field.input}.{field.column}" for field in fields)
            own = f"{taken[0].input}.{column}"
            message = f"{name}: the key column {column} is computed from {used}, not from {own}"
            hint = f"select {own}, or give the column another name; rows of different keys would share one"
            yield Finding("key-lost", Severity.ERROR, message, place=Place(query.text.source), hint=hint)


def _query_reason(key: Sequence[str]) -> str:
    return f"the query computes each {', '.join(key)} independently"


def _as_spelled(columns: StructType, key: Sequence[str]) -> tuple[str, ...]:
    """Return the key columns in the spelling of an input."""
    return tuple(field.name for name in key if (field := find_column(columns, name)))


def _type(columns: StructType, name: str) -> str:
    column = find_column(columns, name)
    return column.dataType.simpleString() if column is not None else ""
