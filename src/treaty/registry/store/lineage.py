"""Lineage in the database: the upstreams that contracts declare, and those that runs observed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Connection, Row, bindparam, or_, select, text

from treaty.consumers.dependencies import DataLayer, MadeFrom, parse_lineage
from treaty.contracts.blocks import Upstream
from treaty.contracts.model import Contract
from treaty.contracts.values import FrozenMap
from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument
from treaty.legacy.serving_lines import Edge
from treaty.registry.store import versions
from treaty.registry.store.tables import line_layers, upstreams
from treaty.registry.store.transaction import WAITING_UPSTREAMS, Transaction

_U = upstreams.c
_L = line_layers.c
UpstreamRow: TypeAlias = Row[Any]
NO_LINE = -1
"""The MAJOR of an upstream that is not registered yet; it is resolved on registration."""

_WAITING = select(upstreams).where(_U.upstream == bindparam("upstream"), text("upstream_major = -1 AND active"))
"""Lines that name an unregistered upstream. Written like the partial index: SQLite does not use it otherwise."""


@dataclass(frozen=True)
class UsedFields:
    """The upstream fields that a line uses: by the field that is computed from them, and those used otherwise."""

    fields: frozenset[str] = frozenset()
    mappings: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def are_known(self) -> bool:
        """Whether it is known which fields are used."""
        return bool(self.fields or self.mappings)

    def __or__(self, other: UsedFields) -> UsedFields:
        """Return what both use; if the fields of one are unknown, so are those of both."""
        if not (self.are_known and other.are_known):
            return UsedFields()
        targets = dict.fromkeys((*self.mappings, *other.mappings))
        return UsedFields(
            self.fields | other.fields,
            {name: self.mappings.get(name, frozenset()) | other.mappings.get(name, frozenset()) for name in targets},
        )

    @property
    def as_data(self) -> dict[str, Any]:
        """The fields and mappings as plain data, sorted."""
        mappings = {name: sorted(self.mappings[name]) for name in self.mappings}
        return {"fields": sorted(self.fields), "mappings": mappings}


def made_from_row(row: UpstreamRow) -> MadeFrom | None:
    """Return the dependency of a row; None if its upstream is not registered, or if it is neither declared nor seen.

    What a run observed completes a declaration, and replaces one that names no fields.
    """
    if row.upstream_major == NO_LINE or not (row.active or row.observed is not None):
        return None
    used = _used(row.fields, row.mappings) if row.active else None
    if row.observed is not None:
        observed = _used(row.observed["fields"], row.observed["mappings"])
        used = used | observed if used is not None and used.are_known else observed
    used = used or UsedFields()
    paths, mappings = parse_lineage(**used.as_data)
    return MadeFrom(Line(row.contract, row.major), Line(row.upstream, row.upstream_major), paths, mappings)


def upstreams_of(connection: Connection, line: Line) -> list[MadeFrom]:
    """Return what a line is derived from, by upstream."""
    statement = select(upstreams).where(_in_line(line), _is_live()).order_by(_U.upstream, _U.upstream_major)
    return [made for row in connection.execute(statement) if (made := made_from_row(row)) is not None]


def made_from(connection: Connection, line: Line) -> list[MadeFrom]:
    """Return the dependencies of the lines that are derived from a line."""
    here = (_U.upstream == line.contract) & (_U.upstream_major == line.major)
    rows = connection.execute(select(upstreams).where(here, _is_live()).order_by(_U.contract, _U.major))
    return [made for row in rows if (made := made_from_row(row)) is not None]


def all_edges(connection: Connection) -> list[Edge]:
    """Return every line with each line that it is derived from, and the fields of the latter that it uses."""
    rows = connection.execute(select(upstreams).where(_is_live()))
    made = [one for row in rows if (one := made_from_row(row)) is not None]
    return [Edge(one.line, one.upstream, frozenset(map(str, one.used_fields))) for one in made]


def rows_between(connection: Connection, revision: int, newest: int) -> list[UpstreamRow]:
    """Return the rows that changed after a revision, up to another one."""
    return list(connection.execute(select(upstreams).where(_U.revision > revision, _U.revision <= newest)))


def replace_upstreams(transaction: Transaction, line: Line, declared: Iterable[Upstream], revision: int) -> None:
    """Store the upstreams of a line as its newest version declares them."""
    before = _read_upstreams(transaction, line)
    after = _resolved(transaction, declared)
    if any(major == NO_LINE for _, major in after):
        transaction.forget(WAITING_UPSTREAMS)
    for key in sorted(before.keys() | after.keys()):
        used = after.get(key, UsedFields()).as_data
        values = {"fields": used["fields"], "mappings": used["mappings"] or None, "active": key in after}
        there = before.get(key)
        if there is None or any(there._mapping[name] != value for name, value in values.items()):
            _write_upstream(transaction, line, key, there, {**values, "revision": revision})


def find_upstreams_of_newcomer(transaction: Transaction, line: Line, revision: int) -> None:
    """Resolve upstreams that were named before the contract was registered."""
    if not transaction.has_waiting_upstreams:
        return
    for row in transaction.read(_WAITING, {"upstream": line.contract}).all():
        declared = [_declared(row, str(line))]
        derived = Line(row.contract, row.major)
        for other in transaction.read(select(upstreams).where(_in_line(derived), _U.active)):
            if (other.upstream, other.upstream_major) != (line.contract, NO_LINE):
                declared.append(_declared(other, _named(other)))
        replace_upstreams(transaction, derived, declared, revision)


def unseen(connection: Connection, line: Line, observed: Mapping[Line, UsedFields]) -> dict[tuple[str, int], Any]:
    """Return what differs from the lineage that was observed before: the new data by upstream, None if it is gone."""
    rows = connection.execute(select(upstreams).where(_in_line(line), _U.observed.is_not(None)))
    before = {(row.upstream, row.upstream_major): row.observed for row in rows}
    after = {(upstream.contract, upstream.major): used.as_data for upstream, used in observed.items()}
    return {key: after.get(key) for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)}


def observed_upstreams(connection: Connection, line: Line) -> dict[Line, UsedFields]:
    """Return the fields that runs and events observed a line to use, by upstream."""
    rows = connection.execute(select(upstreams).where(_in_line(line), _U.observed.is_not(None)))
    return {
        Line(row.upstream, row.upstream_major): _used(row.observed["fields"], row.observed["mappings"]) for row in rows
    }


def put_observed(transaction: Transaction, line: Line, changes: Mapping[tuple[str, int], Any], revision: int) -> None:
    """Store what a run observed, as `unseen` returns it."""
    before = _read_upstreams(transaction, line)
    for key, observed in changes.items():
        there = before.get(key)
        new = {} if there is not None else {"fields": [], "active": False}
        _write_upstream(transaction, line, key, there, {**new, "observed": observed, "revision": revision})


def is_observed(connection: Connection, line: Line) -> bool:
    """Return whether a run recorded what a line is derived from."""
    statement = select(_U.upstream).where(_in_line(line), _U.observed.is_not(None)).limit(1)
    return connection.execute(statement).first() is not None


def find_contract(connection: Connection, name: str) -> Contract | None:
    """Return the highest version of a line or contract, by its name; None if it is not registered."""
    highest = versions.highest(connection, name)
    if highest is None:
        try:
            members = versions.versions_in_line(connection, parse_line(name))
        except InvalidDocument:
            return None
        highest = members[0] if members else None
    return None if highest is None else versions.contract_of(connection, highest)


def layer_of(connection: Connection, line: Line) -> DataLayer | None:
    """Return the layer that runs recorded for a line."""
    found = connection.execute(select(_L.layer).where(_L.contract == line.contract, _L.major == line.major)).scalar()
    return None if found is None else DataLayer(found)


def put_layer(transaction: Transaction, line: Line, layer: DataLayer) -> None:
    """Store the layer of a line."""
    key = {"contract": line.contract, "major": line.major}
    if layer_of(transaction.connection, line) is None:
        transaction.insert(line_layers, {**key, "layer": layer.value})
    else:
        transaction.update(line_layers, key, {"layer": layer.value})


def _read_upstreams(transaction: Transaction, line: Line) -> dict[tuple[str, int], UpstreamRow]:
    rows = transaction.read(select(upstreams).where(_in_line(line)))
    return {(row.upstream, row.upstream_major): row for row in rows}


def _write_upstream(
    transaction: Transaction, line: Line, key: tuple[str, int], there: UpstreamRow | None, values: dict[str, Any]
) -> None:
    place = {"contract": line.contract, "major": line.major, "upstream": key[0], "upstream_major": key[1]}
    if there is None:
        transaction.insert(upstreams, {**place, **values})
    else:
        transaction.update(upstreams, place, values)


def _resolved(transaction: Transaction, declared: Iterable[Upstream]) -> dict[tuple[str, int], UsedFields]:
    """Resolve each upstream to a line: the one it names, else the highest of the contract."""
    result: dict[tuple[str, int], UsedFields] = {}
    for upstream in declared:
        if upstream.contract is None:
            continue
        line = _line_named(transaction, upstream.contract)
        used = _used(upstream.fields, upstream.mappings)
        result[line] = result[line] | used if line in result else used
    return result


def _used(fields: Iterable[str], mappings: Mapping[str, Iterable[str]] | None) -> UsedFields:
    return UsedFields(frozenset(fields), {name: frozenset((mappings or {})[name]) for name in sorted(mappings or {})})


def _declared(row: UpstreamRow, name: str) -> Upstream:
    return Upstream(name, None, tuple(row.fields), FrozenMap(row.mappings or {}))


def _line_named(transaction: Transaction, text: str) -> tuple[str, int]:
    highest = versions.highest(transaction.connection, text)
    if highest is not None:
        return text, highest.major
    try:
        line = parse_line(text)
    except InvalidDocument:
        return text, NO_LINE
    return line.contract, line.major


def _named(row: UpstreamRow) -> str:
    return str(row.upstream) if row.upstream_major == NO_LINE else str(Line(row.upstream, row.upstream_major))


def _in_line(line: Line) -> ColumnElement[bool]:
    return (_U.contract == line.contract) & (_U.major == line.major)


def _is_live() -> ColumnElement[bool]:
    return or_(_U.active, _U.observed.is_not(None))
