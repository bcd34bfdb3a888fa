"""Migration paths between two versions of a contract, with a view of each table and a guide for each consumer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from treaty.compatibility.migration import MigrationPath, migration_path, path_as_data, pyspark_text, view_sql
from treaty.consumers.migration_guides import build_guides, line_table
from treaty.contracts.model import Contract
from treaty.contracts.paths import FieldPath
from treaty.errors import InvalidDocument, Refused
from treaty.registry.model import MigrationPathAnswer
from treaty.registry.rules import RegistryRules
from treaty.registry.store import Connection, migration_records, subscriptions, versions
from treaty.registry.store.visibility import Sight, check_visible

_MAX_GUIDES = 500


def path_answer(
    connection: Connection, sight: Sight, rules: RegistryRules, contract: str, before: str, after: str
) -> MigrationPathAnswer:
    """Compute the migration path between two versions."""
    check_visible(sight, contract)
    old, new = (versions.get_version(connection, contract, version) for version in (before, after))
    path = migration_path(versions.contract_of(connection, old), versions.contract_of(connection, new), rules.guard)
    subscribed = [subscriber.subscription for subscriber in subscriptions.subscribers(connection, old.line)]
    readers = [subscription for subscription in subscribed if sight.sees(subscription.consumer)]
    known = migration_records.between(connection, contract, before, after)
    ends = known.ends_on if known else None
    return MigrationPathAnswer(
        contract=contract,
        before=before,
        after=after,
        path=path_as_data(path),
        views=list(_describe_views(path)),
        guides=[guide.as_data() for guide in build_guides(path, readers[:_MAX_GUIDES], ends)],
    )


def fields_in_new_line(
    contracts: tuple[Contract, Contract], rules: RegistryRules, fields: tuple[FieldPath, ...]
) -> tuple[FieldPath, ...]:
    """Return the fields of the new line that fields of the old line became."""
    path = migration_path(*contracts, rules.guard)
    result: set[FieldPath] = set()
    for step in (step for table in path.objects for step in table.back.walk() if not step.inside):
        if any(field.touches(step.target) for field in fields):
            result.update(step.sources)
    return tuple(sorted(result, key=str))


def _describe_views(path: MigrationPath) -> Iterator[dict[str, Any]]:
    for table in path.objects:
        old, new = line_table(path.before, table.before), line_table(path.after, table.after)
        for shim, name, source in ((table.back, old, new), (table.forward, new, old)):
            result: dict[str, Any] = {"way": shim.way.value, "view": ".".join(name), "source": ".".join(source)}
            try:
                sql, code = view_sql(shim, name, source), pyspark_text(shim, name[0], source)
                yield {**result, "sql": sql, "pyspark": code, "refused": None}
            except (Refused, InvalidDocument) as error:
                yield {**result, "sql": None, "pyspark": None, "refused": str(error)}
