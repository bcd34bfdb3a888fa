"""The project's SQL on frames: every input goes by its own name, and no name is left behind in the session."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from pyspark.errors import AnalysisException
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession
from sqlglot import tokenize
from sqlglot.errors import TokenError

from treaty.errors import InvalidDocument
from treaty.pipeline.project.declarations import Sql

_LINE = re.compile(r"\bline (\d+),? pos")
_STATE = re.compile(r"\s*SQLSTATE: \w+.*$", re.DOTALL)
_CONDITION = re.compile(r"^\[[A-Z0-9_.]+\] ")
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_OUR_LINES = 1
"""How many lines stand before those of the project."""


def run_sql(spark: SparkSession, sql: Sql, frames: Mapping[str, DataFrame]) -> DataFrame:
    """Return what a query says of the frames that it reads by name; only its meaning is looked at, nothing runs."""
    text = without_end(sql.text)
    given = {f"frame_{place}": frame for place, frame in enumerate(frames.values())}
    query = _beside(frames, text.replace("{", "{{").replace("}", "}}"))
    with understood(str(sql.path), _OUR_LINES, text.count("\n") + 1):
        answer = spark.sql(query, None, **given) if given else spark.sql(query.format())
        answer.schema  # noqa: B018  over Connect, a query is understood only when something is asked of it
    return answer


@contextmanager
def understood(where: str, lines_before: int = 0, lines: int | None = None) -> Iterator[None]:
    """Turn what Spark says of SQL that it does not understand into an error with the file and the line in it.

    Lines that stand before those of the file are not counted, and none is told beyond its last.
    """
    try:
        with _unlogged():
            yield
    except AnalysisException as error:
        message = str(error).strip()
        told = _CONDITION.sub("", _STATE.sub("", message.split("\n")[0]))
        found = _LINE.search(message)
        line = max(1, int(found[1]) - lines_before) if found else None
        at = where if line is None else f"{where}:{min(line, lines or line)}"
        raise InvalidDocument(f"{at}: {told}") from error


def _beside(names: Iterable[str], text: str) -> str:
    """Return a query under a WITH that names its inputs: such names hide tables of the session, and end with it."""
    inputs = ", ".join(f"`{name}` AS (FROM {{frame_{place}}})" for place, name in enumerate(names))
    return f"{f'WITH {inputs} ' if inputs else ''}FROM (\n{text}\n)"


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep PySpark from printing what is raised anyway, with the whole trace of the JVM."""
    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was in zip(loggers, before, strict=True):
            logger.disabled = was


def without_end(text: str) -> str:
    """Return a query without the semicolon that may end it; a comment may follow that."""
    try:
        tokens = tokenize(text, read="spark")
    except TokenError:
        return text  # Spark says what is wrong with it
    if tokens and tokens[-1].text == ";":
        return text[: tokens[-1].start]
    return text
