"""What Spark says when data cannot be read, in words for the person who asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from treaty.errors import InvalidDocument, NotFound, TreatyError, Unavailable

_CAUSE = re.compile(r"^(?:Caused by)?: ?(?:[\w.$]+(?:Exception|Error): )?(.+)$", re.MULTILINE)
_STATE = re.compile(r"\s*SQLSTATE: \w+.*$", re.DOTALL)
_SECRET = re.compile(r"(password|token|secret)=[^&;\s]+", re.IGNORECASE)
_LONGEST = 300

_MEANINGS: tuple[tuple[str, type[TreatyError], str], ...] = (
    ("PATH_NOT_FOUND", NotFound, "there is nothing at {what}; check the path"),
    ("TABLE_OR_VIEW_NOT_FOUND", NotFound, "there is no {what}; write catalog.namespace.table"),
    ("SCHEMA_NOT_FOUND", NotFound, "there is no {what}; write catalog.namespace.table"),
    ("REQUIRES_SINGLE_PART_NAMESPACE", NotFound, "there is no {what}: its catalog is not known; set spark.iceberg"),
    ("CATALOG_NOT_FOUND", NotFound, "there is no {what}: its catalog is not known; set spark.iceberg"),
    ("no such table", NotFound, "there is no {what}"),
    (r'relation ".*" does not exist', NotFound, "there is no {what}"),
    ("No suitable driver", Unavailable, "no driver for {what}; add its jar with spark.conf: spark.jars"),
    ("Failed to find data source", Unavailable, "Spark lacks a package for {what}: {reason}"),
    ("SQLException|SQLTransient|PSQLException|SQLiteException", Unavailable, "cannot read {what}: {first}"),
    ("CSV header does not conform", InvalidDocument, "the files of {what} have different headers: {reason}"),
    ("CANNOT_MERGE_SCHEMAS|Failed to merge", InvalidDocument, "the files of {what} do not fit together: {reason}"),
)
"""What a message holds, which error it is, and what is said of it: the first that fits."""


@contextmanager
def explain_errors(what: object) -> Iterator[None]:
    """Turn what Spark raises while it reads into an error that says what and where; everything is read lazily, so this
    goes around the actions too.
    """
    from py4j.protocol import Py4JJavaError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        raise explain_error(str(error), what) from error
    except (ConnectionError, Py4JNetworkError) as error:
        raise Unavailable(f"Spark ended while it read {what}; give it more memory with spark.memory") from error


def explain_error(message: str, what: object) -> TreatyError:
    """Return the error that stands for a message of Spark."""
    told = error_causes(message)
    for mark, kind, says in _MEANINGS:
        if re.search(mark, message):
            return kind(says.format(what=what, reason=told[-1], first=told[0]))
    return InvalidDocument(f"cannot read {what}: {told[-1]}")


def error_causes(message: str) -> list[str]:
    """Return the causes from the outermost to the innermost; a message without any speaks for itself."""
    found = [_STATE.sub("", cause).strip() for cause in _CAUSE.findall(message)]
    told = [cause for cause in found if cause] or [_STATE.sub("", message.strip().split("\n")[0])]
    return [_SECRET.sub(r"\1=…", cause)[:_LONGEST] for cause in told]
