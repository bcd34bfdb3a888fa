"""What Spark and the catalog say when tables cannot be read or written, in words for the person who asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from treaty.errors import Conflict, InvalidDocument, NotFound, TreatyError, Unavailable
from treaty.spark.readers.read_errors import error_causes

_MEANINGS: tuple[tuple[str, type[TreatyError], str], ...] = (
    (
        "No space left on device|Disk quota exceeded|DiskErrorException",
        Unavailable,
        "the disk is full: {table} was not written and nothing was published; free some space and run again",
    ),
    (
        "File too large|EFBIG",
        Unavailable,
        "a file of {table} may not be as large as it has to be: File too large; nothing was published. Raise the limit "
        "(ulimit -f) or use another file system, and run again",
    ),
    (
        "Permission denied|AccessControlException|Read-only file system|AccessDenied",
        Unavailable,
        "{table} may not be written here: {reason}; nothing was published",
    ),
    (
        r"Cannot fast-forward|CommitFailedException|CommitStateUnknownException|Cannot commit|conflicting (?:files|"
        r"deletes)|Cannot use branch \(does not exist\)|Ref \S+ already exists",
        Conflict,
        "{table} was changed by somebody else meanwhile, and nothing was published; run again, one run at a time",
    ),
    (
        "TABLE_OR_VIEW_NOT_FOUND|NoSuchTableException|NoSuchNamespaceException|SCHEMA_NOT_FOUND",
        NotFound,
        "there is no table {table}; `treaty run` makes it",
    ),
    (
        "REQUIRES_SINGLE_PART_NAMESPACE|CATALOG_NOT_FOUND|Cannot find catalog plugin",
        Unavailable,
        "Spark does not know the catalog of {table}; set spark.iceberg.uri and spark.iceberg.warehouse",
    ),
    (
        r"Cannot find snapshot|Snapshot \d+ (?:does not exist|not found)",
        NotFound,
        "that state of {table} is not kept any more; read a later one",
    ),
    (
        "FileNotFoundException|NotFoundException|FAILED_READ_FILE.FILE_NOT_EXIST",
        Unavailable,
        "a file of {table} is missing: {reason}; restore it, or drop the table and build it again with treaty replay",
    ),
    (
        "UncheckedSQLException|SQLException|SQLTransient|PSQLException|SQLiteException|JdbcCatalog|Connection refused",
        Unavailable,
        "the catalog does not answer for {table}: {reason}; nothing was published",
    ),
    (
        r"NULL value appeared in non-nullable field:\s*(?P<column>\S+)",
        InvalidDocument,
        "a row for {table} has no {column}, which must have a value; nothing was published",
    ),
    (
        "OutOfMemoryError|Java heap space|GC overhead",
        Unavailable,
        "Spark has too little memory for {table}, and nothing was published; give it more with spark.memory",
    ),
)
"""What a message holds, which error it is, and what is said of it: the first that fits."""


@contextmanager
def told_of(table: str) -> Iterator[None]:
    """Turn what Spark raises while it works on a table into an error that says what, and what next."""
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        yield
    except (ConnectionError, Py4JNetworkError) as error:
        raise Unavailable(
            f"Spark ended while it worked on {table}, and nothing was published; give it more memory with spark.memory"
        ) from error
    except (PySparkException, Py4JError) as error:
        raise failure(_whole(error), table) from error


def _whole(error: BaseException) -> str:
    """Return what an error says, and what it says of its causes."""
    cause = getattr(error, "_cause", None)
    return str(error) if cause is None else f"{error}\nCaused by: {_whole(cause)}"


def failure(message: str, table: str) -> TreatyError:
    """Return the error that stands for a message about a table."""
    reason = error_causes(message)[-1]
    for mark, kind, says in _MEANINGS:
        if found := re.search(mark, message):
            return kind(says.format(table=table, reason=reason, **found.groupdict()))
    return InvalidDocument(f"{table} cannot be made: {reason}")
