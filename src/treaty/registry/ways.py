"""The way over between two registered versions: its shims, and a guide for each consumer of the old line."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from sqlalchemy import Connection

from treaty.compatibility.migration import MigrationPath, migration_path, path_as_data, pyspark_text, view_sql
from treaty.consumers.migration_guides import guides, line_table
from treaty.contracts.model import Contract
from treaty.contracts.paths import FieldPath
from treaty.errors import InvalidDocument, Refused
from treaty.registry.answers import MigrationPathAnswer
from treaty.registry.ground_rules import GroundRules
from treaty.registry.store import dependence, kept, moving

_MOST_GUIDES = 500


def path_answer(
    connection: Connection, rules: GroundRules, contract: str, before: str, after: str, today: date
) -> MigrationPathAnswer:
    """Work out the way over between two versions."""
    old, new = (kept.version_of(connection, contract, one) for one in (before, after))
    path = migration_path(kept.contract_of(connection, old), kept.contract_of(connection, new), rules.guard)
    readers = [one.subscription for one in dependence.subscribers(connection, old.line)]
    known = moving.between(connection, contract, before, after)
    ends = known.ends_on if known else None
    return MigrationPathAnswer(
        contract=contract,
        before=before,
        after=after,
        path=path_as_data(path),
        views=list(_views(path)),
        guides=[one.as_data() for one in guides(path, readers[:_MOST_GUIDES], ends)],
    )


def followed(
    contracts: tuple[Contract, Contract], rules: GroundRules, fields: tuple[FieldPath, ...]
) -> tuple[FieldPath, ...]:
    """Return the fields of the new line that fields of the old one became."""
    path = migration_path(*contracts, rules.guard)
    found: set[FieldPath] = set()
    for step in (one for item in path.objects for one in item.back.walk() if not one.inside):
        if any(field.covers(step.target) or step.target.covers(field) for field in fields):
            found.update(step.sources)
    return tuple(sorted(found, key=str))


def _views(path: MigrationPath) -> Iterator[dict[str, Any]]:
    for item in path.objects:
        old, new = line_table(path.before, item.before), line_table(path.after, item.after)
        for shim, name, source in ((item.back, old, new), (item.forward, new, old)):
            told: dict[str, Any] = {"way": shim.way.value, "view": ".".join(name), "source": ".".join(source)}
            try:
                sql, code = view_sql(shim, name, source), pyspark_text(shim, name[0], source)
                yield {**told, "sql": sql, "pyspark": code, "refused": None}
            except (Refused, InvalidDocument) as error:
                yield {**told, "sql": None, "pyspark": None, "refused": str(error)}
