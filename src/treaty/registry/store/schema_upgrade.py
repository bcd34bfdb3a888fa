"""Upgrade of the database schema, step by step with the statements of each step, for real or as a dry run."""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, event

from treaty.errors import Unavailable
from treaty.registry.model import AuditCheckAnswer, UpgradeAnswer, UpgradeStepAnswer
from treaty.registry.store.audit_check import verify
from treaty.registry.store.database import (
    HEAD,
    Clock,
    Database,
    current_revision,
    database_url,
    migration_config,
    refuse_later_revision,
    run_migrations,
    steps_after,
    utc_now,
)
from treaty.registry.store.writer import reachable

_BOOKKEEPING = re.compile(r"\s*(?:SELECT|PRAGMA|BEGIN)\b|.*\balembic_version\b", re.IGNORECASE | re.DOTALL)
"""Statements that change nothing but the revision itself."""


def upgrade(reference: str, clock: Clock = utc_now) -> UpgradeAnswer:
    """Bring the tables of a database up to date in one transaction, and verify the audit log."""
    database = Database(database_url(reference), clock)
    try:
        with database.migrating() as connection:
            before, steps = _run_steps(connection, clock)
        with database.snapshot() as connection:
            audit = verify(connection)
    finally:
        database.close()
    return UpgradeAnswer(before=before, after=HEAD, dry_run=False, steps=steps, audit=audit)


def try_upgrade(reference: str, clock: Clock = utc_now) -> UpgradeAnswer:
    """Do what `upgrade` does, and change nothing: on a copy of a SQLite file, or in a transaction that is rolled back.

    On PostgreSQL the transaction holds the locks of the upgrade for as long as it takes; writers wait.
    """
    url = database_url(reference)
    if url.get_backend_name() == "sqlite":
        with _copy_of(Path(str(url.database))) as copy:
            return upgrade(str(copy), clock).model_copy(update={"dry_run": True})
    database = Database(url, clock)
    try:
        with database.migrating() as connection:
            before, steps = _run_steps(connection, clock)
            audit: AuditCheckAnswer = verify(connection)
            connection.rollback()
    finally:
        database.close()
    return UpgradeAnswer(before=before, after=HEAD, dry_run=True, steps=steps, audit=audit)


def _run_steps(connection: Connection, clock: Clock) -> tuple[str | None, list[UpgradeStepAnswer]]:
    """Run the missing migrations one by one, and return the revision before and the steps."""
    before = current_revision(connection)
    refuse_later_revision(before)
    steps = []
    for revision, summary in _pending(before):
        with _recorded(connection) as statements:
            run_migrations(connection, revision)
        steps.append(UpgradeStepAnswer(revision=revision, summary=summary, statements=statements))
    for summary, step in steps_after(before):
        with _recorded(connection) as statements:
            step(connection, clock())
        steps.append(UpgradeStepAnswer(revision=HEAD, summary=summary, statements=statements))
    return before, steps


def _pending(before: str | None) -> list[tuple[str, str]]:
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(migration_config()).iterate_revisions(HEAD, before or "base")
    return [(script.revision, (script.doc or "").splitlines()[0]) for script in reversed([*scripts])]


@contextmanager
def _recorded(connection: Connection) -> Iterator[list[str]]:
    """Collect the statements that change something, without their values."""
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if not _BOOKKEEPING.match(statement):
            statements.append(statement.strip())

    event.listen(connection, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(connection, "before_cursor_execute", note)


@contextmanager
def _copy_of(file: Path) -> Iterator[Path]:
    """Copy a database to a folder that only its owner can read; the copy is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="treaty-upgrade-") as folder:
        copy = Path(folder) / "registry.db"
        try:
            source = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
            with closing(source), closing(sqlite3.connect(copy)) as target:
                source.backup(target)
        except sqlite3.Error as error:
            raise Unavailable(f"cannot copy {file}: {error}") from None
        with reachable(str(file)):
            yield copy
