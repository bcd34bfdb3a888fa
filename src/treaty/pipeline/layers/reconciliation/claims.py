"""Claims: the rows of each product about a key, joined into one row per key, and facts about them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark
from sqlglot import exp

from treaty.contracts.model import Contract
from treaty.contracts.sql_quoting import quote_identifier
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.reconciliation.evidence import RepeatedColumns, as_json
from treaty.pipeline.layers.reconciliation.reconciliation_tables import key_columns
from treaty.pipeline.layers.reconciliation.subject import Subject
from treaty.pipeline.layers.sql_queries import run_sql
from treaty.pipeline.project.declarations import Claim, Reconciliation
from treaty.pipeline.project.project_sql import parse_query
from treaty.spark.columns import INTERNAL_PREFIX, quoted_col
from treaty.spark.schema import column_name, find_struct_field, is_classified, select_object, struct_type
from treaty.spark.type_conversion import is_lossless, same_type
from treaty.spark.uniqueness import has_complete_key
from treaty.spark.value_checks import contains_map
from treaty.sql.lineage import lineage
from treaty.sql.project_queries import Query
from treaty.sql.relations import ColumnMeanings, Select, own_nodes


@dataclass(frozen=True)
class ClaimRows:
    """The rows of one claim, and whether there is one per key by construction."""

    claim: Claim
    frame: DataFrame
    columns: spark.StructType
    is_unique: bool

    def find(self, column: str) -> spark.StructField | None:
        """Return a column of the claim, or None."""
        return find_struct_field(self.columns, column)


def read_claims(subject: Subject, rows: Mapping[str, DataFrame], unique: Collection[str]) -> dict[str, ClaimRows]:
    """Return the rows of each claim, computed by its SQL if it has one; its key columns are checked."""
    by_name = {}
    for claim in subject.declared.claims:
        if claim.name not in rows:
            raise InvalidDocument(f"claim {claim.name!r} of {subject.declared.name} has no input")
        frame = rows[claim.name]
        if claim.sql is not None:
            frame = run_sql(frame.sparkSession, claim.sql, {claim.product: frame})
        claim_rows = ClaimRows(claim, frame, frame.schema, claim.name in unique)
        for column in subject.key:
            _check_key(subject, claim_rows, column)
        by_name[claim.name] = claim_rows
    return by_name


def key_values(subject: Subject, claim_rows: ClaimRows) -> list[Column]:
    """Return the key of a claim's rows, in the types of the contract."""
    key_fields = [claim_rows.find(column) for column in subject.key]
    return [
        quoted_col(field.name).cast(subject.type_of(column))
        for field, column in zip(key_fields, subject.key, strict=True)
        if field is not None
    ]


def count_without_key(subject: Subject, claims: Mapping[str, ClaimRows]) -> DataFrame:
    """Count the rows of each claim that have a null in their key."""
    counts = []
    for name, claim_rows in claims.items():
        own = [field.name for column in subject.key if (field := claim_rows.find(column))]
        lacking = claim_rows.frame.where(~has_complete_key(own))
        counts.append(lacking.agg(F.count(F.lit(1)).alias("rows")).select(F.lit(name).alias("claim"), F.col("rows")))
    return reduce(DataFrame.unionByName, counts)


def _check_key(subject: Subject, claim_rows: ClaimRows, column: str) -> None:
    field, want = claim_rows.find(column), subject.type_of(column)
    claim = f"claim {claim_rows.claim.name!r}"
    if field is None:
        available = ", ".join(claim_rows.columns.names)
        raise subject.error(f"{claim} has no key column {column!r}; it has: {available}")
    if not (same_type(field.dataType, want) or is_lossless(field.dataType, want)):
        have = field.dataType.simpleString()
        raise subject.error(
            f"{claim} has the key column {column!r} as {have}, not {want.simpleString()}; cast it in its sql"
        )


_KEY = f"{INTERNAL_PREFIX}key_"
_EXISTS = f"{INTERNAL_PREFIX}speaks"


def repeated_columns(number: int) -> RepeatedColumns:
    """Return the names of the columns that summarize repeated_columns rows of the claim with this number."""
    return RepeatedColumns(*(f"{INTERNAL_PREFIX}{part}_{number}" for part in ("rows", "least", "content")))


def join_claims(subject: Subject, claims: Mapping[str, ClaimRows], used: Mapping[str, Sequence[str]]) -> DataFrame:
    """Return a row for each key with the used columns of each claim; rows with a null in their key are left out."""
    keys = [f"{_KEY}{place}" for place in range(len(subject.key))]
    frames = [
        _one_row_per_key(number, _keyed(subject, claim_rows, keys, used[name]), keys)
        for number, (name, claim_rows) in enumerate(claims.items())
    ]
    claims_by_key = frames[0]
    for frame in frames[1:]:
        claims_by_key = claims_by_key.join(frame, keys, "full")
    own = [quoted_col(key).alias(column) for key, column in zip(keys, subject.key, strict=True)]
    return claims_by_key.select(*own, *[quoted_col(name) for name in claims_by_key.columns if name not in keys])


@dataclass(frozen=True)
class _Keyed:
    """The rows of a claim as key and struct."""

    claim_rows: ClaimRows
    frame: DataFrame

    @property
    def name(self) -> str:
        return self.claim_rows.claim.name


def _keyed(subject: Subject, claim_rows: ClaimRows, keys: Sequence[str], used: Sequence[str]) -> _Keyed:
    own = [value.alias(key) for value, key in zip(key_values(subject, claim_rows), keys, strict=True)]
    # a claim without used columns must still differ from a missing claim
    parts = [quoted_col(name) for name in used] or [F.lit(True).alias(_EXISTS)]
    frame = claim_rows.frame.select(*own, F.struct(*parts).alias(claim_rows.claim.name)).dropna(
        "any", subset=list(keys)
    )
    return _Keyed(claim_rows, frame)


def _one_row_per_key(number: int, claim: _Keyed, keys: Sequence[str]) -> DataFrame:
    """Return one row for each key: the greatest of several, so that the order of rows does not matter."""
    if claim.claim_rows.is_unique:
        return claim.frame
    names, value = repeated_columns(number), quoted_col(claim.name)
    # maps cannot be ordered or hashed
    order = (
        F.expr(as_json(quote_identifier(claim.name)))
        if contains_map(claim.frame.schema[claim.name].dataType)
        else value
    )
    return claim.frame.groupBy(*map(quoted_col, keys)).agg(
        F.max_by(value, order).alias(claim.name),
        F.count(F.lit(1)).alias(names.rows),
        F.min_by(value, order).alias(names.least),
        F.sum(F.xxhash64(order).cast("decimal(20,0)")).alias(names.content),
    )


_GENERATORS = frozenset(
    {
        *("explode", "explode_outer", "inline", "inline_outer", "json_tuple", "posexplode", "posexplode_outer"),
        *("stack", "variant_explode", "variant_explode_outer"),
    }
)


@dataclass(frozen=True)
class ClaimFacts:
    """The claims that have one row per key by construction, and the classified columns of each claim."""

    unique: frozenset[str]
    classified: Mapping[str, frozenset[str]]


def claim_facts(declared: Reconciliation, contract: Contract, products: Mapping[str, Contract]) -> ClaimFacts:
    """Derive the facts from the contracts of the products, by product, and the SQL of the claims."""
    key = key_columns(contract)
    queries = {claim.name: _query(claim, products[claim.product]) for claim in declared.claims}
    return ClaimFacts(
        frozenset(
            claim.name
            for claim in declared.claims
            if _has_one_row_per_key(claim, queries[claim.name], key, products[claim.product])
        ),
        {claim.name: _classified(queries[claim.name], products[claim.product]) for claim in declared.claims},
    )


def _query(claim: Claim, product: Contract) -> Query | None:
    if claim.sql is None:
        return None
    try:
        return parse_query(claim.sql, {claim.product: struct_type(select_object(product))})
    except InvalidDocument:
        return None  # the error is raised when the claim is read


def _has_one_row_per_key(claim: Claim, query: Query | None, key: tuple[str, ...], product: Contract) -> bool:
    if claim.sql is None:
        own = key_columns(product)
        return bool(own) and set(own) <= set(key)
    return query is not None and _groups_by(query, key)


def _groups_by(query: Query, key: tuple[str, ...]) -> bool:
    """Tell whether a query has one row for each key: it groups by columns of the key only."""
    root = query.root
    if not isinstance(root, Select) or not root.groups or _multiplies(root):
        return False
    meaning = ColumnMeanings(query.names)
    wanted = {name.lower() for name in key}
    key_places = [meaning.first_of(output) for output in root.outputs if output.column.name.lower() in wanted]
    return all((place := meaning.first_of(group)) is not None and place in key_places for group in root.groups)


def _multiplies(select: Select) -> bool:
    """Tell whether a group may give several rows: by grouping sets or a generator function."""
    others = any(value for part, value in select.node.args["group"].args.items() if part != "expressions")
    called = {node.name.lower() for node in own_nodes(select) if isinstance(node, exp.Anonymous)}
    return others or bool(called & _GENERATORS)


def _classified(query: Query | None, product: Contract) -> frozenset[str]:
    """Return the columns with classified values; a query may rename them."""
    fields = select_object(product).fields
    own = frozenset(column_name(field) for field in fields if is_classified(field))
    if query is None:
        return own
    tops = {name.lower() for name in own}
    return own | {
        column
        for column, origins in lineage(query).items()
        if any(origin.column.partition(".")[0].partition("[")[0].lower() in tops for origin in origins)
    }
