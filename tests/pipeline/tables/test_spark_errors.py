"""Translation of Spark errors into messages."""

from __future__ import annotations

import pytest

from treaty.errors import Conflict, InvalidDocument, NotFound, TreatyError, Unavailable
from treaty.pipeline.tables.spark_errors import error_for

MESSAGES: dict[str, tuple[type[TreatyError], str]] = {
    "An error occurred while calling o1.append.\n: org.apache.spark.SparkException: Job aborted\nCaused by: "
    "java.io.IOException: No space left on device\n\tat java.base/java.io": (
        Unavailable,
        "the disk is full: products.orders was not written and nothing was published; free some space and run again",
    ),
    "An error occurred while calling o1.append.\n: org.apache.spark.SparkException: Job aborted\nCaused by: "
    "java.io.IOException: File too large\n\tat java.base/java.io": (
        Unavailable,
        "a file of products.orders exceeds the file size limit (File too large); nothing was published. Raise "
        "the limit (ulimit -f) or use another file system, and run again",
    ),
    "[TABLE_OR_VIEW_NOT_FOUND] The table or view `lake`.`products`.`orders` cannot be found. SQLSTATE: 42P01": (
        NotFound,
        "there is no table products.orders; create it with: treaty run",
    ),
    "Cannot fast-forward: main is not an ancestor of run_3": (
        Conflict,
        "another process changed products.orders at the same time, and nothing was published; run again, one run at "
        "a time",
    ),
    "An error occurred while calling o1.sql.\n: org.apache.iceberg.jdbc.UncheckedSQLException: Failed to connect to "
    "jdbc:postgresql://db/lake?password=secret\n\tat x\nCaused by: org.postgresql.util.PSQLException: Connection to db "
    "refused\n\tat y": (
        Unavailable,
        "the catalog did not respond for products.orders: Connection to db refused; nothing was published",
    ),
    "java.lang.OutOfMemoryError: Java heap space": (
        Unavailable,
        "Spark ran out of memory for products.orders, and nothing was published; raise spark.memory",
    ),
    "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== DataFrame ==": (
        InvalidDocument,
        "products.orders cannot be computed: [DIVIDE_BY_ZERO] Division by zero.",
    ),
}


@pytest.mark.parametrize("message", MESSAGES)
def test_spark_errors_are_translated(message: str) -> None:
    kind, words = MESSAGES[message]
    error = error_for(message, "products.orders")
    assert (type(error), str(error)) == (kind, words)
