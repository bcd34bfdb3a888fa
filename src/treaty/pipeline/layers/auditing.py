"""Auditing a whole table before anybody sees it: the rules that no row can keep or break by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from pyspark.sql import DataFrame

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract, SchemaObject
from treaty.pipeline.layers.audits import Audit
from treaty.spark.columns import named
from treaty.spark.enforcement import Enforcement, enforce
from treaty.spark.report.samples import Sample, collect_samples
from treaty.spark.rules import AnyRule, ReferenceRule, RowRule, RuleSet, UniqueRule
from treaty.spark.schema import child_of, column_name, the_object

SAMPLES = 10


class Keys(StrEnum):
    """Whether two rows can have one primary key."""

    CHECKED = "checked"
    REPLACED = "replaced"
    """Rows are replaced by their key, so that no two have one."""


@dataclass(frozen=True)
class Written:
    """The rows of this run, which took the place of every row that had their values in some columns."""

    rows: DataFrame
    by: tuple[str, ...]


def is_row_rule(item: AnyRule) -> bool:
    """Tell whether a rule is judged row by row as rows are written; a share of all rows is judged on the whole."""
    return isinstance(item, RowRule) and (item.rule.quarantines or item.rule.severity is not Severity.ERROR)


def audit(
    staged: DataFrame,
    contract: Contract,
    now: datetime,
    *,
    keys: Keys = Keys.CHECKED,
    written: Written | None = None,
) -> Audit:
    """Audit the whole table by the rules on sets of rows, reading only the columns that they need.

    Give `written` where the table was audited before and rows were replaced by some columns: a key that contains
    those columns can be doubled among the rows written only, and is looked for nowhere else.
    """
    schema = the_object(contract)
    key = frozenset(_columns_of_key(schema))

    def local(item: AnyRule) -> bool:
        return written is not None and isinstance(item, UniqueRule) and set(item.columns) >= set(written.by)

    def asked(item: AnyRule) -> bool:
        certain = keys is Keys.REPLACED and isinstance(item, UniqueRule) and bool(key) and key <= set(item.columns)
        return not is_row_rule(item) and not certain

    found = _measured(staged, contract, now, lambda item: asked(item) and not local(item))
    if written is None:
        return found
    near = _measured(written.rows, contract, now, lambda item: asked(item) and local(item))
    return near.joined(found) if near.results else found


def _measured(frame: DataFrame, contract: Contract, now: datetime, asked: Callable[[AnyRule], bool]) -> Audit:
    """Measure some rules; where there are none, nothing runs."""
    held = enforce(_own_columns(frame, the_object(contract)), contract)
    chosen = tuple(item for item in held.book.all if asked(item))
    held = replace(held, book=RuleSet(chosen, held.book.unchecked))
    empty = Audit(contract.id, contract.version, 0, (), held.unchecked)
    if not chosen:
        return empty
    measures = held.measures(now)
    found = replace(empty, rows=measures.rows, results=measures.results, bad_rows=measures.quarantined)
    return found if found.passed else replace(found, samples=_samples(held, found))


def _samples(held: Enforcement, found: Audit) -> tuple[Sample, ...]:
    """Collect examples of rows that stand in each other's way, or point nowhere; a number of the whole has none."""
    of_rows = [item for item in held.book.all if isinstance(item, UniqueRule | ReferenceRule) and item.rule.quarantines]
    if not of_rows or not found.bad_rows:
        return ()
    return collect_samples(held.quarantined, held.schema, SAMPLES)


def _own_columns(frame: DataFrame, schema: SchemaObject) -> DataFrame:
    """Leave out the columns that belong to the platform."""
    have = frame.schema
    there = [found.name for field in schema.fields if (found := child_of(have, column_name(field)))]
    return frame.select(*map(named, there))


def _columns_of_key(schema: SchemaObject) -> list[str]:
    by_name = {field.name: field for field in schema.fields}
    return [column_name(by_name[name]) for name in schema.primary_key]
