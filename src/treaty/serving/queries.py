"""What a request asks for, checked against the effective view of its consumer."""

from __future__ import annotations

import hmac
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from treaty.contracts.data_policies import MaskMethod
from treaty.errors import InvalidDocument
from treaty.policy import EffectiveView, FieldView
from treaty.policy.arrow_masks import mask_array
from treaty.policy.arrow_views import filter_rows, select_columns
from treaty.policy.keys import FindKey
from treaty.policy.masked_parts import columns_of
from treaty.registry.service.data_readers import NoDataAccess
from treaty.serving.conditions import Comparison, Condition, Filter, parse_condition, parse_filters


@dataclass(frozen=True)
class Query:
    """A request for rows. Without fields it asks for all that the consumer may read, without a limit for all rows."""

    fields: tuple[str, ...] = ()
    filters: tuple[tuple[str, str], ...] = ()
    """Names and values of the parameters that are filters."""
    key: tuple[str, ...] | None = None
    """The values of the key columns, if one row is asked for."""
    as_of: str | None = None
    limit: int | None = None
    cursor: str | None = None


@dataclass(frozen=True)
class HashedValue:
    """A hash that a request looks up in a column that the consumer sees hashed."""

    column: str
    text: str
    field: FieldView

    def matches(self, column: pa.ChunkedArray, find_key: FindKey) -> pa.Array:
        """Return for each row whether its hash is this one; hashes are compared in constant time."""
        assert self.field.mask is not None  # noqa: S101 - only hashed fields are looked up by hash
        encoded = column.combine_chunks().dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        wanted = self.text.encode()
        hashes = mask_array(encoded.dictionary, self.field.mask, find_key).to_pylist()
        equal = [text is not None and hmac.compare_digest(text.encode(), wanted) for text in hashes]
        return pc.fill_null(pa.array(equal, pa.bool_()).take(encoded.indices), False)


@dataclass(frozen=True)
class CheckedQuery:
    """A query that the consumer may ask: the columns to answer with, and the rows to look for."""

    view: EffectiveView
    columns: tuple[str, ...]
    conditions: tuple[Condition, ...]
    hashed: tuple[HashedValue, ...]
    is_shuffled: bool
    """Whether rows are answered in another order than that of the table, which would tell masked keys."""

    @property
    def filtered(self) -> tuple[str, ...]:
        """The columns that the query filters on."""
        plain = [condition.column for condition in self.conditions]
        return tuple(dict.fromkeys([*plain, *(wanted.column for wanted in self.hashed)]))

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns to read: those to answer with, and those that decide which rows there are."""
        deciding = [rule.column for rule in self.view.regions] + [rule.column for rule in self.view.retention]
        return tuple(dict.fromkeys([*self.columns, *(wanted.column for wanted in self.hashed), *deciding]))

    def visible(self, rows: pa.Table, find_key: FindKey, now: datetime) -> pa.Table:
        """Return the rows that the consumer may read and that have the hashes that the query asks for."""
        rows = filter_rows(rows, self.view, now)
        for wanted in self.hashed:
            if rows.num_rows:
                rows = rows.filter(wanted.matches(rows[wanted.column], find_key))
        return rows

    def mask(self, rows: pa.Table, find_key: FindKey) -> pa.Table:
        """Return the columns of the answer as the consumer sees them."""
        return select_columns(rows.select(list(self.columns)), self.view, find_key).select(list(self.columns))


def check_query(
    query: Query, view: EffectiveView, schema: pa.Schema, key: Sequence[str], filterable: Collection[str]
) -> CheckedQuery:
    """Return what a query asks for; raise NoDataAccess for what the consumer may not read or look for."""
    if view.refusal is not None:
        raise NoDataAccess(view.refusal, "purpose", view.consumer)
    _check_regions(view)
    served = [name for name in columns_of(view) if name in schema.names]
    columns = _columns(query, view, schema, served)
    plain: list[Condition] = []
    hashed: list[HashedValue] = []
    for given in _filters(query, schema, key, filterable):
        field = _readable(given, view, served)
        if field.mask is None:
            plain.append(parse_condition(given, schema.field(given.column).type))
        elif field.mask.method is MaskMethod.HASH and given.comparison is Comparison.EQUAL and len(given.texts) == 1:
            hashed.append(HashedValue(given.column, given.texts[0], field))
        else:
            raise NoDataAccess(_masked(given, field), "filter", view.consumer)
    clear = {field.column.steps[0].text for field in view.fields if field.decision.is_served and field.mask is None}
    return CheckedQuery(view, columns, tuple(plain), tuple(hashed), not set(key) <= clear)


def _check_regions(view: EffectiveView) -> None:
    closed = next((rule for rule in view.regions if not rule.values), None)
    if closed is None:
        return
    rule = f"{closed.rule} of {closed.origin}"
    if view.region is None:
        raise NoDataAccess(
            f"its rows are under {rule}, and this server has no region; set server.region to where it runs",
            "region",
            view.consumer,
        )
    raise NoDataAccess(f"{rule} allows none of its rows in the region {view.region}", "region", view.consumer)


def _columns(query: Query, view: EffectiveView, schema: pa.Schema, served: Sequence[str]) -> tuple[str, ...]:
    if not query.fields:
        return tuple(served)
    known = {field.column.steps[0].text for field in view.fields}
    for name in query.fields:
        if name not in known:
            raise InvalidDocument(f"{view.contract} has no field {name[:80]!r}; its fields: {', '.join(sorted(known))}")
        if name not in served and name in columns_of(view):
            raise InvalidDocument(f"no run has published the field {name!r} yet; leave it out")
        if name not in served:
            raise NoDataAccess(_not_subscribed(view, name), "field", view.consumer)
    return tuple(dict.fromkeys(query.fields))


def _not_subscribed(view: EffectiveView, name: str) -> str:
    return (
        f"the subscription of {view.consumer} to {view.contract} does not have the field {name!r}; subscribe again "
        f"with --field {name} beside its other fields"
    )


def _filters(query: Query, schema: pa.Schema, key: Sequence[str], filterable: Collection[str]) -> tuple[Filter, ...]:
    filters = parse_filters(query.filters, [name for name in schema.names if name in filterable])
    if query.key is None:
        return filters
    if len(query.key) != len(key):
        raise InvalidDocument(f"the key has {len(key)} parts: {'/'.join(key)}, each percent-encoded")
    return (*filters, *(Filter(name, Comparison.EQUAL, (text,)) for name, text in zip(key, query.key, strict=True)))


def _readable(given: Filter, view: EffectiveView, served: Sequence[str]) -> FieldView:
    """Return the view of the field that a filter names; raise NoDataAccess for one that the consumer does not read."""
    if given.column not in served:
        raise NoDataAccess(_not_subscribed(view, given.column), "filter", view.consumer)
    return next(field for field in view.served if field.column.steps[0].text == given.column)


def _masked(given: Filter, field: FieldView) -> str:
    if field.mask is not None and field.mask.method is MaskMethod.HASH:
        return f"{given.column} is hashed for this consumer; filter on it with one hash only: {given.column}=HASH"
    return f"{given.column} is masked for this consumer, so it has no filters: {field.reason}"
