"""Running the SQL of a project on DataFrames: inputs are visible by name, and the session is left unchanged."""

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
_LINES_BEFORE = 1
"""Number of lines before the first line of the project's query."""


def run_sql(spark: SparkSession, sql: Sql, frames: Mapping[str, DataFrame]) -> DataFrame:
    """Return the result of a query over frames that it reads by name. The query is analysed, not executed."""
    text = without_semicolon(sql.text)
    inputs = {f"frame_{position}": frame for position, frame in enumerate(frames.values())}
    query = _with_inputs(frames, text.replace("{", "{{").replace("}", "}}"))
    with located_sql_errors(str(sql.path), _LINES_BEFORE, text.count("\n") + 1):
        result = spark.sql(query, None, **inputs) if inputs else spark.sql(query.format())
        result.schema  # noqa: B018  Spark Connect analyses a query only when its schema is needed
    return result


@contextmanager
def located_sql_errors(where: str, lines_before: int = 0, lines: int | None = None) -> Iterator[None]:
    """Turn an analysis error of Spark into an error with the file and line of the query.

    `lines_before` lines precede those of the file; a line number beyond the last line is reduced to it.
    """
    try:
        with _logging_disabled():
            yield
    except AnalysisException as error:
        message = str(error).strip()
        text = _CONDITION.sub("", _STATE.sub("", message.split("\n")[0]))
        match = _LINE.search(message)
        line = max(1, int(match[1]) - lines_before) if match else None
        at = where if line is None else f"{where}:{min(line, lines or line)}"
        raise InvalidDocument(f"{at}: {text}") from error


def _with_inputs(names: Iterable[str], text: str) -> str:
    """Return a query under a WITH clause that names its inputs; these names hide tables of the session."""
    inputs = ", ".join(f"`{name}` AS (FROM {{frame_{place}}})" for place, name in enumerate(names))
    return f"{f'WITH {inputs} ' if inputs else ''}FROM (\n{text}\n)"


@contextmanager
def _logging_disabled() -> Iterator[None]:
    """Keep PySpark from logging the error that is raised anyway, with a full JVM stack trace."""
    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was in zip(loggers, before, strict=True):
            logger.disabled = was


def without_semicolon(text: str) -> str:
    """Return a query without its final semicolon, which a comment may follow."""
    try:
        tokens = tokenize(text, read="spark")
    except TokenError:
        return text  # Spark reports the error
    if tokens and tokens[-1].text == ";":
        return text[: tokens[-1].start]
    return text
