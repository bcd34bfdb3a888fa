"""The tables and columns that SQL of any dialect reads, as far as its text tells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from treaty.contracts.values import EMPTY

MAX_SQL_CHARACTERS = 200_000
ALL_COLUMNS = "*"

_DIALECTS = ("spark", "postgres", "snowflake", "bigquery", "tsql", "oracle")
"""The dialects that are tried in turn; most SQL of warehouses is valid in the first."""

_JINJA_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_JINJA_REF = re.compile(r"\{\{\s*ref\(\s*(?:['\"]\w+['\"]\s*,\s*)?['\"]([\w.]+)['\"][^}]*\)\s*\}\}")
_JINJA_SOURCE = re.compile(r"\{\{\s*source\(\s*['\"](\w+)['\"]\s*,\s*['\"](\w+)['\"]\s*\)\s*\}\}")
_JINJA_STATEMENT = re.compile(r"\{%.*?%\}", re.DOTALL)
_JINJA_VALUE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_QUOTED_JINJA_VALUE = re.compile(r"'[^'\n]*\{\{.*?\}\}[^'\n]*'")


@dataclass(frozen=True, slots=True)
class SqlReads:
    """What SQL reads and writes: tables by their lower-case names, with the columns that are read of each."""

    reads: Mapping[str, frozenset[str]] = EMPTY
    """By table: its columns, or `*` if the text does not tell which."""
    writes: frozenset[str] = frozenset()
    parsed: Mapping[str, frozenset[str]] = EMPTY
    """By table: the columns whose texts are taken apart, such as by split(), substring() or LIKE with a pattern."""


def find_sql_reads(text: str) -> SqlReads | None:
    """Return what some statements read and write, without temporary tables of their own; None if nothing can be read.

    Templates of Jinja, as dbt and Airflow use them, are replaced by names and values before.
    """
    if len(text) > MAX_SQL_CHARACTERS or not text.strip():
        return None
    statements = _parse(_without_jinja(text))
    if statements is None:
        return None
    reads: dict[str, set[str]] = {}
    parsed: dict[str, set[str]] = {}
    writes: set[str] = set()
    for statement in statements:
        target = _target(statement)
        if target is not None:
            writes.add(table_name(target))
        for name, columns, taken_apart in _reads_of(statement, target):
            reads.setdefault(name, set()).update(columns)
            parsed.setdefault(name, set()).update(taken_apart)
    temporary = {table_name(target) for statement in statements if (target := _temporary(statement)) is not None}
    return SqlReads(
        {name: frozenset(columns) for name, columns in sorted(reads.items()) if name not in temporary},
        frozenset(writes - temporary),
        {name: frozenset(columns) for name, columns in sorted(parsed.items()) if columns and name not in temporary},
    )


def table_name(table: exp.Table) -> str:
    """Return the full name of a table in lower case."""
    return ".".join(part.name for part in table.parts if part.name).lower()


def _without_jinja(text: str) -> str:
    if "{" not in text:
        return text
    text = _JINJA_COMMENT.sub(" ", text)
    text = _JINJA_REF.sub(r"\1", text)
    text = _JINJA_SOURCE.sub(r"\1.\2", text)
    text = _JINJA_STATEMENT.sub(" ", text)
    return _JINJA_VALUE.sub("1", _QUOTED_JINJA_VALUE.sub("'1'", text))


def _parse(text: str) -> list[exp.Expression] | None:
    for dialect in _DIALECTS:
        try:
            parsed = [statement for statement in sqlglot.parse(text, read=dialect) if statement is not None]
        except (SqlglotError, RecursionError):
            continue
        if parsed and not any(isinstance(statement, exp.Command) for statement in parsed):
            return [statement for statement in parsed if isinstance(statement, exp.Expression)]
    return None


def _target(statement: exp.Expression) -> exp.Table | None:
    """Return the table that a statement writes."""
    if not isinstance(statement, (exp.Insert, exp.Create, exp.Merge, exp.Update, exp.Delete)):
        return None
    target = statement.this
    return target if isinstance(target, exp.Table) else target.find(exp.Table) if target is not None else None


def _temporary(statement: exp.Expression) -> exp.Table | None:
    is_temporary = isinstance(statement, exp.Create) and statement.find(exp.TemporaryProperty) is not None
    return _target(statement) if is_temporary else None


def _reads_of(statement: exp.Expression, target: exp.Table | None) -> Iterator[tuple[str, set[str], set[str]]]:
    """Yield each table that a statement reads with its columns, and those of them that are taken apart.

    Every table outside of a query is read as a whole.
    """
    seen: set[int] = set() if target is None else {id(target)}
    names_of_ctes = {cte.alias.lower() for cte in statement.find_all(exp.CTE)}
    for query in _outer_queries(statement):
        try:
            scopes = traverse_scope(query)
        except (SqlglotError, RecursionError):
            continue
        for scope in scopes:
            for table, columns, parsed in _tables_of(scope):
                seen.add(id(table))
                if table_name(table) not in names_of_ctes:
                    yield table_name(table), columns, parsed
    for table in statement.find_all(exp.Table):
        if id(table) not in seen and table.name and table_name(table) not in names_of_ctes:
            yield table_name(table), {ALL_COLUMNS}, set()


@cache
def _query_types() -> tuple[type[exp.Expression], ...]:
    return (exp.Select, exp.SetOperation)


def _outer_queries(statement: exp.Expression) -> Iterator[exp.Expression]:
    if isinstance(statement, _query_types()):
        yield statement
        return
    for query in statement.find_all(*_query_types()):
        if query.find_ancestor(*_query_types()) is None:
            yield query


def _tables_of(scope: Scope) -> Iterator[tuple[exp.Table, set[str], set[str]]]:
    tables = {name: source for name, source in scope.sources.items() if isinstance(source, exp.Table)}
    used = {name: table for name, table in tables.items() if name in scope.selected_sources}
    columns: dict[str, set[str]] = {name: set() for name in used}
    parsed: dict[str, set[str]] = {name: set() for name in used}
    is_only_source = len(scope.selected_sources) == 1
    for column in scope.columns:
        name = column.table or (next(iter(used), "") if is_only_source else "")
        if name in columns:
            columns[name].add(column.name.lower())
            if _is_taken_apart(column):
                parsed[name].add(column.name.lower())
        elif not column.table:  # it may belong to any of them
            for others in columns.values():
                others.add(ALL_COLUMNS)
    for star in scope.find_all(exp.Star):
        parent = star.parent
        if isinstance(parent, exp.Count):
            continue
        names = [parent.table] if isinstance(parent, exp.Column) and parent.table else list(columns)
        for name in names:
            if name in columns:
                columns[name].add(ALL_COLUMNS)
    for name, table in used.items():
        found = {column for column in columns[name] if column}
        yield table, found or {ALL_COLUMNS} if ALL_COLUMNS in found else found, parsed[name]


@cache
def _text_wrappers() -> tuple[type[exp.Expression], ...]:
    return (exp.Cast, exp.Coalesce, exp.Lower, exp.Paren, exp.Trim, exp.TryCast, exp.Upper)


@cache
def _text_parsers() -> tuple[type[exp.Expression], ...]:
    return (
        *(exp.JSONExtract, exp.JSONExtractScalar, exp.Left, exp.ParseJSON, exp.RegexpExtract, exp.RegexpExtractAll),
        *(exp.RegexpSplit, exp.Right, exp.Split, exp.SplitPart, exp.StrPosition, exp.Substring, exp.SubstringIndex),
    )


_PARSING_FUNCTIONS = frozenset(
    ["from_json", "get_json_object", "parse_json", "regexp_substr", "split_to_array", "strtok", "substring_index"]
)
_WILDCARDS = re.compile(r"[%_]")


def _is_taken_apart(column: exp.Expression) -> bool:
    """Return whether an expression reads parts of the text of a column."""
    inside: exp.Expr = column
    outer: exp.Expr | None = column.parent
    while isinstance(outer, _text_wrappers()):
        inside, outer = outer, outer.parent
    if isinstance(outer, (exp.Like, exp.ILike)):
        return outer.this is inside and _WILDCARDS.search(outer.expression.name) is not None
    if isinstance(outer, exp.Anonymous):
        first = outer.expressions[0] if outer.expressions else None
        return first is inside and str(outer.this).lower() in _PARSING_FUNCTIONS
    is_parser = isinstance(outer, (*_text_parsers(), exp.RegexpLike))
    return outer is not None and is_parser and outer.this is inside
