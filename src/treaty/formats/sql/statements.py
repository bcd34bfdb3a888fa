"""Split SQL files into statements and parse those that describe tables.

Files of databases contain much else: procedures, data, commands of a shell. Only statements about tables are parsed,
each on its own, so that the rest of a file cannot make it unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

SQL_DIALECTS = (
    *("postgres", "mysql", "tsql", "oracle", "snowflake", "bigquery", "spark", "databricks", "redshift", "sqlite"),
    *("duckdb", "clickhouse", "trino"),
)
"""The dialects that are read; if a statement is not valid in the detected one, the others are tried in this order."""


@dataclass(frozen=True, slots=True)
class Statement:
    """The text of a statement and the line of its first character."""

    text: str
    line: int


_TOKEN = re.compile(
    r"""
    (?P<comment> --[^\n]* | ^[ \t]*(?:\#|REM\b)[^\n]* )
    | (?P<quoted> '(?:[^'\\]|\\(?:.|\Z)|'')*+(?:'|\Z) | "(?:[^"]|"")*+(?:"|\Z) | `[^`]*+(?:`|\Z)
        | \[[A-Za-z_][^\[\]\n']*\] )
    | (?P<block> /\* | \$[A-Za-z_]{0,60}\$ | ^COPY\b[^;\n]{1,5000}\bFROM[ ]stdin[^\n]*$ )
    | (?P<end> ; | ^[ \t]*(?:GO|/)[ \t]*$ | ^[ \t]*DELIMITER\b[^\n]*$ | ^\\[a-z][^\n]*$ )
    | (?P<open> \( ) | (?P<close> \) )
    | (?P<start> ^[ \t]*(?=(?:CREATE|ALTER|DROP|INSERT\s+INTO|COMMENT\s+ON|GRANT|EXEC|EXECUTE|USE|SET)\s) )
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_COPIED_ROWS_END = "\n\\."
_DESCRIBES_TABLES = re.compile(
    r"""\s*(?:
        CREATE\s+(?:OR\s+(?:REPLACE|REFRESH|ALTER)\s+)?(?:[a-z]+\s+){0,4}?TABLE\b
        | CREATE\s+TYPE\b.*\bENUM\b
        | ALTER\s+TABLE\b
        | COMMENT\s+ON\s+(?:TABLE|COLUMN)\b
    )""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_LEADING_COMMENTS = re.compile(r"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*+", re.DOTALL)


def table_statements(text: str) -> Iterator[Statement]:
    """Yield the statements of a file that describe tables, in order."""
    line, counted = 1, 0
    for begin, end in _spans(text):
        comments = _LEADING_COMMENTS.match(text, begin, end)
        start = comments.end() if comments else begin
        if _DESCRIBES_TABLES.match(text, start, end):
            line, counted = line + text.count("\n", counted, start), start
            yield Statement(text[start:end].strip(), line)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where statements start and end: at a terminator, or where a line starts another statement."""
    start = depth = position = 0
    while token := _TOKEN.search(text, position):
        kind, position = token.lastgroup, max(token.end(), position + 1)
        if kind == "block":
            position = _end_of_block(text, token[0], token.end())
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "end" and (depth == 0 or token[0] != ";"):
            yield start, token.start()
            start, depth = token.end(), 0
        elif kind == "start" and depth == 0:
            yield start, token.start()
            start = token.start()
    yield start, len(text)


def _end_of_block(text: str, opening: str, position: int) -> int:
    """Return where a comment, a body in dollar quotes or the rows of COPY end; at the end of the text if nowhere."""
    closing = "*/" if opening == "/*" else opening if opening.startswith("$") else _COPIED_ROWS_END
    end = text.find(closing, position)
    return len(text) if end < 0 else end + len(closing)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed statement, the dialect that read it, and the words that had to be left out."""

    expression: exp.Expr
    dialect: str
    left_out: tuple[str, ...] = ()


def parse_statement(text: str, dialect: str) -> Parsed:
    """Parse a statement in a dialect; if that fails, without words about storage, and then in other dialects."""
    shorter, left_out = _without_storage(text, dialect)
    attempts: list[tuple[str, str, tuple[str, ...]]] = [(text, dialect, ()), (shorter, dialect, left_out)]
    attempts += [(text, one, ()) for one in SQL_DIALECTS if one != dialect and text[:6].upper() == "CREATE"]
    first_error: Exception | None = None
    for candidate, name, words in attempts:
        try:
            expression = sqlglot.parse_one(candidate, read=name)
        except (SqlglotError, RecursionError, ValueError) as error:
            first_error = first_error or error
            continue
        if not isinstance(expression, exp.Command):  # sqlglot keeps what it does not understand as a command
            return Parsed(expression, name, words)
    raise first_error or ValueError("the statement is not understood")


_QUOTED = r"""'(?:[^'\\]|\\(?:.|\Z)|'')*+(?:'|\Z)|"(?:[^"]|"")*+(?:"|\Z)|`[^`]*+(?:`|\Z)|--[^\n]*"""
_NAME = r"(?:\[[^\]\n]+\]|\"[^\"\n]+\"|\w+)"
_STORAGE_WORDS = {
    "oracle": (
        rf"\bUSING\s+INDEX(?:\s+TABLESPACE\s+{_NAME})?",
        r"\b(?:ENABLE|DISABLE)(?:\s+(?:NO)?VALIDATE)?\b",
    ),
    "tsql": (
        r"\bROWGUIDCOL\b|\bNOT\s+FOR\s+REPLICATION\b|\bSPARSE\b|\bPERSISTED\b|\b(?:NON)?CLUSTERED\b",
        rf"\bCOLLATE\s+{_NAME}",
        r"\bWITH\s*\([^()]*\)",
        rf"\bON\s+\[?PRIMARY\]?|\bTEXTIMAGE_ON\s+{_NAME}",
        rf",\s*INDEX\s+{_NAME}\s*(?:(?:NON)?CLUSTERED\s*)?\([^()]*\)",
        r"\bFOREIGN\s+KEY(?=\s+REFERENCES)",
    ),
}
"""Words that sqlglot does not read and that describe how rows are stored, by dialect."""
_KEY_COLUMN = re.compile(r"([(,]\s*)key(?=\s+(?:text|varchar|char|string|int|integer|bigint|uuid|blob|json)\b)", re.I)
_BACKTICKS = frozenset({"mysql", "spark", "databricks", "bigquery", "clickhouse"})


def _without_storage(text: str, dialect: str) -> tuple[str, tuple[str, ...]]:
    """Return a statement without words about storage and without what follows the list of columns, and those words."""
    left_out: list[str] = []

    def blank(match: re.Match[str]) -> str:
        if match["quoted"] is not None:
            return match[0]
        left_out.append(" ".join(match[0].lstrip(",").split()))
        return re.sub(r"[^\n]", " ", match[0])

    words = "|".join(_STORAGE_WORDS.get(dialect, ("(?!)",)))
    shorter = re.sub(rf"(?P<quoted>{_QUOTED})|{words}", blank, text, flags=re.IGNORECASE)
    quote = "`" if dialect in _BACKTICKS else '"'
    shorter = _KEY_COLUMN.sub(rf"\1{quote}key{quote}", shorter)
    end = _end_of_columns(shorter)
    if end is not None and shorter[:6].upper() == "CREATE" and shorter[end:].strip():
        left_out.append(" ".join(shorter[end:].split()))
        shorter = shorter[:end]
    return shorter, tuple(left_out)


def _end_of_columns(text: str) -> int | None:
    """Return the position after the first group of parentheses."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += (token.lastgroup == "open") - (token.lastgroup == "close")
        if token.lastgroup == "close" and depth == 0:
            return token.end()
    return None
