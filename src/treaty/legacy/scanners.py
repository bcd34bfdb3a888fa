"""Scanners of files: SQL, Python jobs and Airflow DAGs, notebooks, and manifests of dbt."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from treaty.governance.code_owners import OwnerRule, find_owner, team_name
from treaty.legacy.consumer_guess import guess_class
from treaty.legacy.query_logs import scan_query_log
from treaty.legacy.scanned_reads import Scan, ScannedRead, ScanProblem, merge_reads
from treaty.legacy.sql_reads import ALL_COLUMNS, find_sql_reads

_LOOKS_LIKE_SQL = re.compile(r"\b(select|merge\s+into)\b.*\b(from|using)\b|\binsert\s+into\b.*\bselect\b", re.I | re.S)
_TABLE_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*){0,3}")
_GENERIC_FOLDERS = frozenset(
    {"sql", "dags", "dag", "models", "queries", "notebooks", "jobs", "etl", "src", "reports", "logs", "scripts"}
)
_READERS = {"table", "read_table", "read_sql_table"}
_SCHEDULES = {
    "@hourly": "1h",
    "@daily": "1d",
    "@midnight": "1d",
    "@weekly": "7d",
    "@monthly": "30d",
    "@continuous": "1m",
}


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A file to scan: its path with slashes, relative to the scanned folder, and its text."""

    path: str
    text: str

    @property
    def stem(self) -> str:
        """The path without the suffix."""
        return self.path.rpartition(".")[0] or self.path


@dataclass(frozen=True, slots=True)
class Found:
    """A piece of SQL, or a table that is named outright."""

    sql: str | None
    place: str
    table: str | None = None


def scan_files(files: Iterable[ScannedFile], owners: tuple[OwnerRule, ...] = ()) -> Scan:
    """Scan files by their suffix and content; others are left out."""
    reads: list[ScannedRead] = []
    problems: list[ScanProblem] = []
    count = 0
    for file in files:
        scanner = find_scanner(file.path)
        if scanner is None:
            continue
        count += 1
        for result in scanner(file, owners):
            if isinstance(result, ScanProblem):
                problems.append(result)
            else:
                reads.append(result)
    return Scan(merge_reads(reads), tuple(problems), count)


Results = Iterator["ScannedRead | ScanProblem"]
Scanner = Callable[[ScannedFile, tuple[OwnerRule, ...]], Results]


def find_team(path: str, owners: tuple[OwnerRule, ...]) -> str | None:
    """Return the team of a file: its code owner, else its first folder that does not only name a kind of file."""
    owner = find_owner(owners, path)
    if owner is not None:
        return team_name(owner)
    return next((folder for folder in path.split("/")[:-1] if folder.lower() not in _GENERIC_FOLDERS), None)


def find_scanner(path: str) -> Scanner | None:
    """Return the scanner of a file by its name; None if it is of another kind."""
    return next((scanner for suffix, scanner in _SCANNERS.items() if path.lower().endswith(suffix)), None)


def _scan_sql(file: ScannedFile, owners: tuple[OwnerRule, ...]) -> Results:
    yield from _reads(file.stem, "sql", [Found(file.text, file.path)], find_team(file.path, owners))


def _scan_python(file: ScannedFile, owners: tuple[OwnerRule, ...]) -> Results:
    try:
        tree = ast.parse(file.text)
    except (SyntaxError, ValueError, RecursionError) as error:
        reason = f"{error.msg} in line {error.lineno}" if isinstance(error, SyntaxError) else str(error)
        yield ScanProblem(file.path, f"it is not valid Python: {reason}")
        return
    dag = _find_dag(tree)
    kind, consumer = ("airflow", dag.name or file.stem) if dag else ("python", file.stem)
    found, team = _found_in(tree, file.path), find_team(file.path, owners)
    for result in _reads(consumer, kind, found, team, dag.latency if dag else None):
        if dag is not None and isinstance(result, ScannedRead):
            yield replace(result, decision=dag.description)
        else:
            yield result


def _scan_notebook(file: ScannedFile, owners: tuple[OwnerRule, ...]) -> Results:
    try:
        cells = [cell for cell in json.loads(file.text)["cells"] if cell.get("cell_type") == "code"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        yield ScanProblem(file.path, "it is not a Jupyter notebook: its JSON has no list of cells")
        return
    found: list[Found] = []
    for number, cell in enumerate(cells, 1):
        source = cell.get("source", "")
        text = "".join(source) if isinstance(source, list) else str(source)
        place = f"{file.path}, code cell {number}"
        magic, _, rest = text.lstrip().partition("\n")
        if magic.startswith(("%%sql", "%sql")):
            found.append(Found(rest if magic.startswith("%%") else magic.partition(" ")[2], place))
            continue
        code = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in text.splitlines())
        try:
            found += [Found(one.sql, place, one.table) for one in _found_in(ast.parse(code), place)]
        except (SyntaxError, ValueError, RecursionError):
            yield ScanProblem(place, "it is not valid Python")
    yield from _reads(file.stem, "notebook", found, find_team(file.path, owners))


def _scan_json(file: ScannedFile, owners: tuple[OwnerRule, ...]) -> Results:
    """Scan a dbt manifest, or a query log; other JSON is left out."""
    if '"nodes"' in file.text and '"depends_on"' in file.text:
        yield from _scan_manifest(file, owners)
    else:
        yield from scan_query_log(file.path, file.text)


def _scan_log(file: ScannedFile, owners: tuple[OwnerRule, ...]) -> Results:
    yield from scan_query_log(file.path, file.text)


def _scan_manifest(file: ScannedFile, owners: tuple[OwnerRule, ...]) -> Results:
    """Yield what models and exposures of dbt read, with the columns as far as the compiled SQL tells."""
    try:
        manifest = json.loads(file.text)
        names = {
            key: _relation(node) for part in ("nodes", "sources") for key, node in (manifest.get(part) or {}).items()
        }
        readers = [
            (key, node, "dbt")
            for key, node in manifest["nodes"].items()
            if node.get("resource_type") in ("model", "snapshot", "analysis")
        ]
        readers += [(key, node, "dbt") for key, node in (manifest.get("exposures") or {}).items()]
        for _, node, kind in readers:
            yield from _reads_of_node(node, kind, names, file.path, owners)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        yield ScanProblem(
            file.path, "it is not a dbt manifest: nodes, sources and exposures are not as dbt writes them"
        )


def _reads_of_node(
    node: dict[str, Any], kind: str, names: dict[str, str], path: str, owners: tuple[OwnerRule, ...]
) -> Iterator[ScannedRead]:
    name = str(node["name"])
    own = str(node.get("original_file_path") or path)
    sql = find_sql_reads(str(node.get("compiled_code") or node.get("raw_code") or ""))
    by_last_part = {table.rpartition(".")[2]: columns for table, columns in (sql.reads if sql else {}).items()}
    parsed = {table.rpartition(".")[2]: columns for table, columns in (sql.parsed if sql else {}).items()}
    owner = node.get("owner") or {}
    team = owner.get("name") or (node.get("meta") or {}).get("owner") or find_team(own, owners)
    exposure = node.get("type") if node.get("resource_type") == "exposure" else None
    for key in (node.get("depends_on") or {}).get("nodes") or ():
        source = names.get(key)
        if source is None:
            continue
        last_part = source.rpartition(".")[2]
        columns = by_last_part.get(last_part, frozenset({ALL_COLUMNS}))
        decision = str(node.get("description") or "").strip().partition("\n")[0] or None
        guess = guess_class(name, kind, exposure)
        yield ScannedRead(
            name,
            source,
            columns,
            kind,
            guess,
            team,
            decision=decision if exposure else None,
            places=(f"{path}: {own}",),
            parsed=parsed.get(last_part, frozenset()),
        )


def _relation(node: dict[str, Any]) -> str:
    """Return the table of a node of dbt, without the database."""
    return f"{node.get('schema', '')}.{node.get('alias') or node.get('identifier') or node['name']}".lower().lstrip(".")


@dataclass(frozen=True, slots=True)
class _Dag:
    name: str | None
    latency: str | None
    description: str | None = None


def _find_dag(tree: ast.AST) -> _Dag | None:
    """Return the DAG of a module: a call of `DAG(…)` or the decorator `@dag`."""
    decorated: dict[int, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            decorated |= {id(one): node.name for one in node.decorator_list}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) in ("DAG", "dag"):
            options = {option.arg: option.value for option in node.keywords}
            named = options.get("dag_id") or (node.args[0] if node.args else None)
            name = _constant(named) or decorated.get(id(node))
            latency = _latency(_constant(options.get("schedule") or options.get("schedule_interval")))
            return _Dag(name, latency, (_constant(options.get("description")) or "").strip() or None)
    return None


def _latency(schedule: str | None) -> str | None:
    """Return how often a schedule runs: a preset, or a simple cron expression."""
    if schedule is None:
        return None
    if schedule in _SCHEDULES:
        return _SCHEDULES[schedule]
    parts = schedule.split()
    if len(parts) != 5:
        return None
    minute, hour, day, _, weekday = parts
    if minute.startswith("*/") and minute[2:].isdecimal() and hour == "*":
        return f"{minute[2:]}m"
    if hour == "*":
        return "1h"
    if hour.startswith("*/") and hour[2:].isdecimal():
        return f"{hour[2:]}h"
    if day == "*" and weekday in ("*", "?"):
        return "1d"
    return "7d" if day in ("*", "?") else "30d"


def _found_in(tree: ast.AST, path: str) -> list[Found]:
    """Return the SQL in the texts of Python code, and the tables that are read by name."""
    found: list[Found] = []
    parts = {id(value) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for value in node.values}
    for node in ast.walk(tree):
        place = f"{path}:{getattr(node, 'lineno', 1)}"
        text = _text(node) if id(node) not in parts else None
        if text is not None and _LOOKS_LIKE_SQL.search(text):
            found.append(Found(text, place))
        elif isinstance(node, ast.Call) and _called(node) in _READERS and node.args:
            name = _constant(node.args[0])
            if name and _TABLE_NAME.fullmatch(name):
                found.append(Found(None, place, name.lower()))
    return found


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.JoinedStr):  # values that are filled in are read as the name or number 1
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "1" for part in node.values)
    return _constant(node)


def _constant(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _reads(consumer: str, kind: str, found: Iterable[Found], team: str | None, latency: str | None = None) -> Results:
    """Yield the reads of a consumer. Tables that it wrote itself before are steps on its way, not sources."""
    written: set[str] = set()
    results: list[ScannedRead] = []
    guess = guess_class(consumer, kind)
    for one in found:
        if one.sql is None:
            tables, parsed = {one.table or "": frozenset({ALL_COLUMNS})}, {}
        else:
            sql = find_sql_reads(one.sql)
            if sql is None:
                yield ScanProblem(one.place, "its SQL could not be read in any known dialect")
                continue
            written |= sql.writes
            tables, parsed = dict(sql.reads), dict(sql.parsed)
        results += [
            ScannedRead(
                consumer,
                table,
                columns,
                kind,
                guess,
                team,
                latency,
                places=(one.place,),
                parsed=parsed.get(table, frozenset()),
            )
            for table, columns in tables.items()
        ]
    yield from (read for read in results if read.source not in written)


_SCANNERS: dict[str, Scanner] = {
    ".sql": _scan_sql,
    ".py": _scan_python,
    ".ipynb": _scan_notebook,
    ".json": _scan_json,
    ".jsonl": _scan_log,
    ".csv": _scan_log,
}
"""The scanner of each suffix."""
