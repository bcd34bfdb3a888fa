"""Backup and restore of the database of a registry, while the registry is in use."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess  # nosec B404
from contextlib import closing
from pathlib import Path

from sqlalchemy import delete, inspect, select, table, text
from sqlalchemy.engine import URL

from treaty.errors import Conflict, InvalidDocument, NotFound, Unavailable
from treaty.registry.store import audit_log
from treaty.registry.store.audit_check import Head
from treaty.registry.store.audit_log import NOTHING_BEFORE
from treaty.registry.store.database import HEAD, Database, create_file, database_url, redacted_url
from treaty.registry.store.tables import METADATA, sessions

_TIMEOUT_S = 30
_SIGNATURES = {b"SQLite format 3\x00": "sqlite", b"PGDMP": "postgresql"}
"""The first bytes of a backup, and the database that it is of."""

_NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
_REVISION = re.compile(r"^[0-9]{4}$", re.MULTILINE)
_DUMP = ("--format=custom", "--no-owner", "--no-privileges")
_RESTORE = ("--single-transaction", "--exit-on-error", "--clean", "--if-exists", "--no-owner", "--no-privileges")


def back_up(database: Database, file: Path) -> Head:
    """Write one consistent state of the database to a file, and return the head of its audit log.

    Other processes may go on writing. The file appears only when it is complete, and only its owner can read it.
    """
    partial = file.with_name(f"{file.name}.partial")
    try:
        partial.unlink(missing_ok=True)
        partial.touch(mode=0o600)
        head = _back_up_sqlite(database, partial) if database.on_sqlite else _back_up_postgresql(database, partial)
        _flush(partial)
        partial.replace(file)
    except OSError as error:
        raise Unavailable(f"cannot write {file}: {error.strerror}") from None
    except sqlite3.Error as error:
        raise Unavailable(f"cannot back up {database.name}: {error}") from None
    finally:
        partial.unlink(missing_ok=True)
    return head


def restore(reference: str, file: Path, *, overwrite: bool) -> None:
    """Replace the contents of a database by a backup, completely or not at all.

    Raises Conflict if the database contains anything, unless it is to be overwritten.
    """
    url = database_url(reference)
    _check_kind(file, url)
    if not overwrite and _has_rows(url):
        raise Conflict(f"{redacted_url(url)} is not empty; restore into another registry, or replace it with --force")
    if url.get_backend_name() == "sqlite":
        _restore_sqlite(Path(str(url.database)), file)
    else:
        _restore_postgresql(url, file)
    _end_sessions(url)


def _end_sessions(url: URL) -> None:
    """Delete the browser sessions of a backup: one that ended since must not come back."""
    if sessions.name in _table_names(url):
        database = Database(url)
        try:
            database.change(lambda connection: connection.execute(delete(sessions)))
        finally:
            database.close()


def _back_up_sqlite(database: Database, file: Path) -> Head:
    with (
        closing(sqlite3.connect(str(database.url.database), timeout=_TIMEOUT_S)) as source,
        closing(sqlite3.connect(file)) as copy,
    ):
        source.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")  # so that the copy is one file
        row = copy.execute("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
    return Head(*row) if row else Head(0, NOTHING_BEFORE)


def _back_up_postgresql(database: Database, file: Path) -> Head:
    """Run pg_dump on the snapshot in which the head was read."""
    with database.snapshot() as connection:
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))  # it waits for pg_dump
        newest = audit_log.newest_entry(connection)
        snapshot = connection.execute(text("SELECT pg_export_snapshot()")).scalar_one()
        _run("pg_dump", database.url, *_DUMP, f"--snapshot={snapshot}", f"--file={file}")
    return Head(newest.seq, newest.hash) if newest else Head(0, NOTHING_BEFORE)


def _restore_sqlite(target: Path, file: Path) -> None:
    create_file(target)
    try:
        with (
            closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(target, timeout=_TIMEOUT_S)) as database,
        ):
            problem = source.execute("PRAGMA quick_check(1)").fetchone()[0]
            if problem != "ok":
                raise InvalidDocument(f"{file} is damaged: {problem}")
            if not source.execute("SELECT 1 FROM sqlite_master WHERE name = 'audit'").fetchone():
                raise InvalidDocument(f"{file} is not a backup of a registry; make one with: treaty admin backup FILE")
            _check_revision(file, source.execute("SELECT version_num FROM alembic_version").fetchone()[0])
            source.backup(database)
    except sqlite3.Error as error:
        raise Unavailable(f"cannot restore {file} to {target}: {error}") from None


def _restore_postgresql(url: URL, file: Path) -> None:
    listed = {
        line.split()[5] for line in _run("pg_restore", None, "--list", str(file)).splitlines() if " TABLE " in line
    }
    if "audit" not in listed:
        raise InvalidDocument(f"{file} is not a backup of a registry; make one with: treaty admin backup FILE")
    revision = _run("pg_restore", None, "--data-only", "--table=alembic_version", "--file=-", str(file))
    _check_revision(file, *_REVISION.findall(revision))
    if newer := sorted((_table_names(url) & METADATA.tables.keys()) - listed):
        raise Conflict(
            f"{redacted_url(url)} has tables that are newer than the backup ({', '.join(newer)}); "
            "restore into an empty database"
        )
    _run("pg_restore", url, *_RESTORE, str(file))


def _check_revision(file: Path, revision: str) -> None:
    """Refuse a backup of a later version of Treaty before it replaces anything."""
    if revision > HEAD:
        raise Unavailable(f"{file} was made by a later version of Treaty; install that version")


def _check_kind(file: Path, url: URL) -> None:
    try:
        with file.open("rb") as content:
            start = content.read(16)
    except FileNotFoundError:
        raise NotFound(f"there is no backup {file}; check the path") from None
    except OSError as error:
        raise Unavailable(f"cannot read {file}: {error.strerror}") from None
    kind = next((kind for signature, kind in _SIGNATURES.items() if start.startswith(signature)), None)
    if kind is None:
        raise InvalidDocument(f"{file} is not a backup of a registry; make one with: treaty admin backup FILE")
    if kind != url.get_backend_name():
        raise InvalidDocument(
            f"{file} is a backup of {_NAMES[kind]}, but {redacted_url(url)} is {_NAMES[url.get_backend_name()]}; "
            "restore it with a --registry of the same kind"
        )


def _has_rows(url: URL) -> bool:
    names = _table_names(url) - {"alembic_version"}
    database = Database(url)
    try:
        with database.read() as connection:
            queries = (select(1).select_from(table(name)).limit(1) for name in sorted(names))
            return any(connection.execute(query).first() is not None for query in queries)
    finally:
        database.close()


def _table_names(url: URL) -> set[str]:
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).exists():
        return set()
    database = Database(url)
    try:
        with database.read() as connection:
            return set(inspect(connection).get_table_names())
    finally:
        database.close()


def _run(program: str, url: URL | None, *arguments: str) -> str:
    """Run a client program of PostgreSQL and return its output; the password is not on its command line."""
    path = shutil.which(program)
    if path is None:
        raise Unavailable(
            f"{program} is not installed; install the client programs of PostgreSQL, of the server's version or later"
        )
    environment = dict(os.environ)
    command = [path, *arguments]
    if url is not None:
        password = url.password or url.query.get("password")
        if password:
            environment["PGPASSWORD"] = str(password)
        query = {name: value for name, value in url.query.items() if name != "password"}
        address = url.set(drivername="postgresql", query=query)._replace(password=None)
        command.insert(1, f"--dbname={address.render_as_string(hide_password=False)}")
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if result.returncode != 0:
        reason = result.stderr.strip().splitlines() or ["no reason given"]
        raise Unavailable(f"{program} failed: {' '.join(line.strip() for line in reason[:3])}")
    return result.stdout


def _flush(file: Path) -> None:
    with file.open("rb") as written:
        os.fsync(written.fileno())
