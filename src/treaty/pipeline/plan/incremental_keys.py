"""Key by key or all at once: which a step can be, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql.types import StructType

from treaty.pipeline.plan import schemas
from treaty.pipeline.project.declarations import Form, Publication
from treaty.spark.type_conversion import same_type
from treaty.sql.key_dependency import KeyedQuery, analyse_key_dependency
from treaty.sql.project_queries import Query


@dataclass(frozen=True)
class ByKey:
    """A step is computed key by key: the columns of the output, and of each input by its name."""

    columns: tuple[str, ...]
    inputs: Mapping[str, tuple[str, ...]]
    reason: str


@dataclass(frozen=True)
class AllAtOnce:
    """A step is computed as a whole."""

    reason: str


Found = ByKey | AllAtOnce


def product_key(query: Query | None, key: tuple[str, ...], sources: Mapping[str, StructType]) -> Found:
    """Return how a product is computed: by the primary key of its contract, if every source has it."""
    words = ", ".join(key)
    for name, columns in sources.items():
        if not schemas.has(columns, key):
            return AllAtOnce(f"{name} has no {words}")
    if len({str([_type(columns, name) for name in key]) for columns in sources.values()}) > 1:
        return AllAtOnce(f"{words} is of different types in its sources")
    inputs = {name: _spelt(columns, key) for name, columns in sources.items()}
    if query is None:
        return ByKey(key, inputs, f"the latest event of each {words}")
    found = analyse_key_dependency(query, inputs)
    if not isinstance(found, KeyedQuery):
        return AllAtOnce(found.reason)
    if [name.lower() for name in found.outputs] != [name.lower() for name in key]:
        return AllAtOnce(f"the query gives {words} under another name")
    return ByKey(key, inputs, _by_query(key))


def claims_key(
    queries: Mapping[str, Query | None], key: tuple[str, ...], products: Mapping[str, tuple[str, StructType]]
) -> Found:
    """Return how a reconciliation is computed: by its key, if every claim gives it for each key by itself."""
    words = ", ".join(key)
    inputs: dict[str, tuple[str, ...]] = {}
    for claim, (product, columns) in products.items():
        if not schemas.has(columns, key):
            return AllAtOnce(f"{product}, which claim {claim} speaks from, has no {words}")
        query = queries[claim]
        found = analyse_key_dependency(query, {product: key}) if query is not None else None
        if found is not None and not isinstance(found, KeyedQuery):
            return AllAtOnce(f"claim {claim}: {found.reason}")
        if found is not None and [name.lower() for name in found.outputs] != [name.lower() for name in key]:
            return AllAtOnce(f"claim {claim} gives {words} under another name")
        inputs[product] = _spelt(columns, key)
    return ByKey(key, inputs, f"every claim speaks about {words} by itself")


def publication_key(
    publication: Publication,
    query: Query | None,
    output: StructType,
    inputs: Mapping[str, StructType],
    keys: Mapping[str, tuple[str, ...]],
) -> Found:
    """Return how a publication is computed: by the key of one of its inputs that all inputs and the output have."""
    if publication.form is not Form.TABLE:
        return AllAtOnce(_WHOLE[publication.form])
    if publication.delay is not None:
        return AllAtOnce("rows come due with time, whether or not something is new")
    reasons: list[str] = []
    for key in _candidates(inputs, keys):
        found = _by(key, publication, query, output, inputs)
        if isinstance(found, ByKey):
            return found
        reasons.append(found.reason)
    return AllAtOnce(reasons[0] if reasons else "no key of one input is required in all of them")


_WHOLE = {Form.FEED: "a feed is written as a whole", Form.VIEW: "a view is computed when it is read"}


def _candidates(inputs: Mapping[str, StructType], keys: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield the keys of single inputs that all inputs have, always with a value, and of the same types."""
    for key in dict.fromkeys(keys[name] for name in inputs if keys[name]):
        found = [[schemas.column(columns, name) for name in key] for columns in inputs.values()]
        if all(item is not None and not item.nullable for each in found for item in each) and all(
            same_type(one.dataType, other.dataType)
            for each in found
            for one, other in zip(found[0], each, strict=True)
            if one is not None and other is not None
        ):
            yield key


def _by(
    key: tuple[str, ...],
    publication: Publication,
    query: Query | None,
    output: StructType,
    inputs: Mapping[str, StructType],
) -> Found:
    found = analyse_key_dependency(query, dict.fromkeys(inputs, key)) if query is not None else None
    if found is not None and not isinstance(found, KeyedQuery):
        return AllAtOnce(found.reason)
    given = found.outputs if isinstance(found, KeyedQuery) else key
    redacted = {one.field.lower() for one in publication.redacted}
    for name, own in zip(key, given, strict=True):
        there = schemas.column(output, own)
        if there is None:
            return AllAtOnce(f"its contract has no {own}")
        if own.lower() in redacted:
            return AllAtOnce(f"{own} is redacted")
        before = schemas.column(next(iter(inputs.values())), name)
        if before is not None and not same_type(before.dataType, there.dataType):
            return AllAtOnce(f"{own} has another type in its contract than in its inputs")
    reason = f"the rows of {next(iter(inputs))} by name" if query is None else _by_query(key)
    columns = tuple(item.name for own in given if (item := schemas.column(output, own)))
    return ByKey(columns, {name: _spelt(each, key) for name, each in inputs.items()}, reason)


def _by_query(key: Sequence[str]) -> str:
    return f"the query keeps every {', '.join(key)} apart"


def _spelt(columns: StructType, key: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a key as an input spells them."""
    return tuple(item.name for name in key if (item := schemas.column(columns, name)))


def _type(columns: StructType, name: str) -> str:
    found = schemas.column(columns, name)
    return found.dataType.simpleString() if found is not None else ""
