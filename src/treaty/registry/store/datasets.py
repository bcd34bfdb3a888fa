"""The names of datasets in the database: which line a dataset of an OpenLineage event belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, delete, insert, select, tuple_

from treaty.contracts.versions import Line
from treaty.observability.dataset_names import DatasetName, NamedDataset
from treaty.registry.store.tables import datasets, in_batches
from treaty.registry.store.transaction import Transaction

_D = datasets.c

# Statements of every registration: built once, because building one costs more than executing it.
_IN_LINE = (_D.contract == bindparam("line_contract")) & (_D.major == bindparam("line_major"))
_DECLARED: Select[Any] = select(datasets).where(_IN_LINE, _D.declared)
_DELETE_DECLARED = delete(datasets).where(_IN_LINE, _D.declared)
_DELETE_NAMED = delete(datasets).where(_IN_LINE, tuple_(_D.namespace, _D.name).in_(bindparam("names", expanding=True)))


class LineObject(NamedTuple):
    """A line, and the schema object if its contract has several."""

    line: Line
    object: str | None = None


def replace_declared(transaction: Transaction, line: Line, named: Iterable[NamedDataset]) -> None:
    """Store the datasets that the servers of a line's newest version name."""
    after = {one.dataset: one.object for one in named}
    key = {"line_contract": line.contract, "line_major": line.major}
    before = {DatasetName(row.namespace, row.name): row.object for row in transaction.read(_DECLARED, key)}
    if before == after:
        return
    if before:
        transaction.write(_DELETE_DECLARED, key)
    for some in in_batches(sorted(after)):  # a run may have named them before
        transaction.write(_DELETE_NAMED, {**key, "names": [tuple(name) for name in some]})
    rows = [_row(dataset, line, named_object, is_declared=True) for dataset, named_object in after.items()]
    if rows:
        transaction.write(insert(datasets), rows)


def add_named_by_run(transaction: Transaction, line: Line, names: Sequence[DatasetName]) -> list[DatasetName]:
    """Store the names under which a run published a line; return the new ones."""
    known = {
        DatasetName(row.namespace, row.name)
        for row in transaction.read(
            select(_D.namespace, _D.name).where(
                _D.contract == line.contract, _D.major == line.major, tuple_(_D.namespace, _D.name).in_(names)
            )
        )
    }
    new = [name for name in dict.fromkeys(names) if name not in known]
    if new:
        transaction.write(insert(datasets), [_row(name, line, None, is_declared=False) for name in new])
    return new


def find_lines(connection: Connection, names: Iterable[DatasetName]) -> dict[DatasetName, list[LineObject]]:
    """Return the lines of datasets, of each contract the highest; datasets without any are left out."""
    found: dict[DatasetName, dict[str, LineObject]] = {}
    for some in in_batches(sorted(set(names))):
        query = select(datasets).where(tuple_(_D.namespace, _D.name).in_(some)).order_by(_D.contract, _D.major)
        for row in connection.execute(query):
            by_contract = found.setdefault(DatasetName(row.namespace, row.name), {})
            by_contract[row.contract] = LineObject(Line(row.contract, row.major), row.object)
    return {name: list(by_contract.values()) for name, by_contract in found.items()}


def names_of(connection: Connection, line: Line) -> list[DatasetName]:
    """Return the datasets of a line."""
    query = select(_D.namespace, _D.name).where(_D.contract == line.contract, _D.major == line.major)
    return [DatasetName(*row) for row in connection.execute(query.order_by(_D.namespace, _D.name))]


def _row(dataset: DatasetName, line: Line, named_object: str | None, *, is_declared: bool) -> dict[str, Any]:
    return {
        "namespace": dataset.namespace,
        "name": dataset.name,
        "contract": line.contract,
        "major": line.major,
        "object": named_object,
        "declared": is_declared,
    }
