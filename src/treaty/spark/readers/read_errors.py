"""Turn Spark errors about reading data into clear errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from treaty.errors import InvalidDocument, NotFound, TreatyError, Unavailable

_CAUSE = re.compile(r"^(?:Caused by)?: ?(?:[\w.$]+(?:Exception|Error): )?(.+)$", re.MULTILINE)
_STATE = re.compile(r"\s*SQLSTATE: \w+.*$", re.DOTALL)
_SECRET = re.compile(r"(password|token|secret)=[^&;\s]+", re.IGNORECASE)
_MAX_CAUSE_LENGTH = 300

_ERRORS: tuple[tuple[str, type[TreatyError], str], ...] = (
    ("PATH_NOT_FOUND", NotFound, "{what} does not exist; check the path"),
    ("TABLE_OR_VIEW_NOT_FOUND", NotFound, "there is no {what}; write catalog.namespace.table"),
    ("SCHEMA_NOT_FOUND", NotFound, "there is no {what}; write catalog.namespace.table"),
    ("REQUIRES_SINGLE_PART_NAMESPACE", NotFound, "there is no {what}: its catalog is unknown; set spark.iceberg"),
    ("CATALOG_NOT_FOUND", NotFound, "there is no {what}: its catalog is unknown; set spark.iceberg"),
    ("no such table", NotFound, "there is no {what}"),
    (r'relation ".*" does not exist', NotFound, "there is no {what}"),
    ("No suitable driver", Unavailable, "no JDBC driver for {what}; add its jar with spark.conf: spark.jars"),
    ("Failed to find data source", Unavailable, "Spark lacks a package for {what}: {reason}"),
    ("SQLException|SQLTransient|PSQLException|SQLiteException", Unavailable, "cannot read {what}: {first}"),
    ("CSV header does not conform", InvalidDocument, "the files of {what} have different headers: {reason}"),
    (
        "CANNOT_MERGE_SCHEMAS|Failed to merge",
        InvalidDocument,
        "the files of {what} have incompatible schemas: {reason}",
    ),
)
"""Pattern in Spark's message, type of the error, and its text; the first match applies."""


@contextmanager
def explain_errors(what: object) -> Iterator[None]:
    """Turn errors of Spark into errors that name the source. Spark reads lazily, so this also wraps
    actions.
    """
    from py4j.protocol import Py4JJavaError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        raise explain_error(str(error), what) from error
    except (ConnectionError, Py4JNetworkError) as error:
        raise Unavailable(f"Spark terminated while reading {what}; increase spark.memory") from error


def explain_error(message: str, what: object) -> TreatyError:
    """Return the error for a message of Spark."""
    causes = error_causes(message)
    for pattern, kind, template in _ERRORS:
        if re.search(pattern, message):
            return kind(template.format(what=what, reason=causes[-1], first=causes[0]))
    return InvalidDocument(f"cannot read {what}: {causes[-1]}")


def error_causes(message: str) -> list[str]:
    """Return the causes in a message, outermost first; the first line if it names none."""
    named = [_STATE.sub("", cause).strip() for cause in _CAUSE.findall(message)]
    causes = [cause for cause in named if cause] or [_STATE.sub("", message.strip().split("\n")[0])]
    return [_SECRET.sub(r"\1=…", cause)[:_MAX_CAUSE_LENGTH] for cause in causes]
