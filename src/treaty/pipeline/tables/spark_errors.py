"""Errors of Spark and the catalog, translated into messages that name the table and say what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from treaty.errors import Conflict, InvalidDocument, NotFound, TreatyError, Unavailable
from treaty.spark.readers.read_errors import error_causes

_TRANSLATIONS: tuple[tuple[str, type[TreatyError], str], ...] = (
    (
        "No space left on device|Disk quota exceeded|DiskErrorException",
        Unavailable,
        "the disk is full: {table} was not written and nothing was published; free some space and run again",
    ),
    (
        "File too large|EFBIG",
        Unavailable,
        "a file of {table} exceeds the file size limit (File too large); nothing was published. Raise the limit "
        "(ulimit -f) or use another file system, and run again",
    ),
    (
        "Permission denied|AccessControlException|Read-only file system|AccessDenied",
        Unavailable,
        "no permission to write {table}: {reason}; nothing was published",
    ),
    (
        r"Cannot fast-forward|CommitFailedException|CommitStateUnknownException|Cannot commit|conflicting (?:files|"
        r"deletes)|Cannot use branch \(does not exist\)|Ref \S+ already exists",
        Conflict,
        "another process changed {table} at the same time, and nothing was published; run again, one run at a time",
    ),
    (
        "TABLE_OR_VIEW_NOT_FOUND|NoSuchTableException|NoSuchNamespaceException|SCHEMA_NOT_FOUND",
        NotFound,
        "there is no table {table}; create it with: treaty run",
    ),
    (
        "REQUIRES_SINGLE_PART_NAMESPACE|CATALOG_NOT_FOUND|Cannot find catalog plugin",
        Unavailable,
        "Spark does not know the catalog of {table}; set spark.iceberg.uri and spark.iceberg.warehouse",
    ),
    (
        r"Cannot find snapshot|Snapshot \d+ (?:does not exist|not found)",
        NotFound,
        "this snapshot of {table} has expired; read a later one",
    ),
    (
        "FileNotFoundException|NotFoundException|FAILED_READ_FILE.FILE_NOT_EXIST",
        Unavailable,
        "a file of {table} is missing: {reason}; restore it, or drop the table and rebuild it with treaty replay",
    ),
    (
        "UncheckedSQLException|SQLException|SQLTransient|PSQLException|SQLiteException|JdbcCatalog|Connection refused",
        Unavailable,
        "the catalog did not respond for {table}: {reason}; nothing was published",
    ),
    (
        r"NULL value appeared in non-nullable field:\s*(?P<column>\S+)",
        InvalidDocument,
        "a row for {table} has no value for the required column {column}; nothing was published",
    ),
    (
        "OutOfMemoryError|Java heap space|GC overhead",
        Unavailable,
        "Spark ran out of memory for {table}, and nothing was published; raise spark.memory",
    ),
)
"""Pattern of a message, the error that it stands for, and its text; the first match counts."""


@contextmanager
def translate_errors(table: str) -> Iterator[None]:
    """Translate what Spark raises while it works on a table into an error of Treaty."""
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        yield
    except (ConnectionError, Py4JNetworkError) as error:
        raise Unavailable(
            f"Spark ended while it worked on {table}, and nothing was published; raise spark.memory if it ran "
            "out of memory"
        ) from error
    except (PySparkException, Py4JError) as error:
        raise error_for(_full_message(error), table) from error


def _full_message(error: BaseException) -> str:
    """Return the message of an error with those of its causes."""
    cause = getattr(error, "_cause", None)
    return str(error) if cause is None else f"{error}\nCaused by: {_full_message(cause)}"


def error_for(message: str, table: str) -> TreatyError:
    """Return the error for a message about a table."""
    reason = error_causes(message)[-1]
    for pattern, error_type, text in _TRANSLATIONS:
        if match := re.search(pattern, message):
            return error_type(text.format(table=table, reason=reason, **match.groupdict()))
    return InvalidDocument(f"{table} cannot be computed: {reason}")
