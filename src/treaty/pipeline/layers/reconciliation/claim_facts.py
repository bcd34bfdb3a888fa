"""Facts about claims that follow from contracts and SQL: one row per key or not, and which columns are classified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.reconciliation.reconciliation_tables import key_columns
from treaty.pipeline.project.declarations import Claim, Reconciliation
from treaty.pipeline.project_sql import parse_query
from treaty.spark.schema import column_name, is_classified, select_object, struct_type
from treaty.sql.lineage import lineage
from treaty.sql.project_queries import Query
from treaty.sql.relations import ColumnMeanings, Select, own_nodes

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
