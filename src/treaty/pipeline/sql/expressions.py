"""Reading expressions: every name in them gets its meaning, and what has none is a finding."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pyspark.sql.types import DataType
from sqlglot import exp

from treaty.contracts.findings import Finding
from treaty.pipeline.sql.frames import Ambiguous, Frame, type_at
from treaty.pipeline.sql.functions import KNOWN, words
from treaty.pipeline.sql.parsing import Text
from treaty.pipeline.sql.relations import Names, Output, Reference, Relation
from treaty.pipeline.sql.types import NoSuchField, element, step

_UNITS = words(
    "year years quarter month months week weeks day days dayofyear hour hours minute minutes second seconds "
    "millisecond microsecond"
)
_WITH_A_UNIT = frozenset({"date_add", "date_diff", "dateadd", "datediff", "timestampadd", "timestampdiff"})
_GRAMMAR = frozenset({"timestampadd", "timestampdiff"})
"""Functions that Spark's grammar knows and its list of functions does not."""
_SAME_TYPE = (exp.Paren, exp.Alias)
_ELEMENTS = frozenset({"explode", "explode_outer"})


@dataclass(eq=False)
class Reading:
    """One text being read: what it may read, what was understood, and what is wrong with it."""

    text: Text
    tables: Mapping[str, Relation]
    read_query: Callable[[Reading, exp.Expr, Frame], Relation]
    names: Names = field(default_factory=Names)
    problems: list[Finding] = field(default_factory=list)
    used: dict[str, None] = field(default_factory=dict)

    def problem(self, finding: str, message: str, hint: str, node: exp.Expr | None) -> None:
        """Note what is wrong, and where."""
        self.problems.append(self.text.found(finding, message, hint, node))


def read(reading: Reading, node: exp.Expr, frame: Frame, variables: frozenset[str] = frozenset()) -> DataType | None:
    """Give every name in an expression its meaning; return the type where a plain path gives it."""
    if isinstance(node, exp.Query):
        reading.names.queries[id(node)] = found = reading.read_query(reading, node, frame)
        return found.columns[0].type if len(found.columns) == 1 else None
    if isinstance(node, exp.Column):
        return _column(reading, node, frame, variables)
    if isinstance(node, exp.Lambda):
        names = frozenset(item.name.lower() for item in node.expressions)
        read(reading, node.this, frame, variables | names)
        return None
    if isinstance(node, exp.Anonymous):
        return _call(reading, node, frame, variables)
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Anonymous):
        hint = "use Spark's own functions"
        reading.problem("sql-function", f"Spark has no function {node.sql(dialect='spark')}", hint, node)
        return None
    types = [read(reading, child, frame, variables) for child in _children(node)]
    if isinstance(node, exp.Dot):
        held = types[0] if types else None
        return _inside(reading, node, held, (node.expression.name,)) if held is not None else None
    if isinstance(node, exp.Bracket):
        return element(types[0]) if types else None
    return types[0] if isinstance(node, _SAME_TYPE) and types else None


def _children(node: exp.Expr) -> Iterable[exp.Expr]:
    plain = (exp.Identifier, exp.DataType, exp.Var, exp.Star)
    return [child for child in node.iter_expressions() if not isinstance(child, plain)]


def _call(reading: Reading, node: exp.Anonymous, frame: Frame, variables: frozenset[str]) -> DataType | None:
    name = node.name.lower()
    if name not in KNOWN | _GRAMMAR:
        near = nearest(name, KNOWN)
        reading.problem("sql-function", f"Spark has no function {name}", near or "use Spark's own functions", node)
    arguments = list(node.expressions)
    if name in _WITH_A_UNIT and arguments and isinstance(arguments[0], exp.Column):
        is_unit = len(arguments) == 3 and not arguments[0].table and arguments[0].name.lower() in _UNITS
        arguments = arguments[1:] if is_unit else arguments
    types = [
        read(reading, item, frame, variables)
        for item in arguments
        if not isinstance(item, (exp.Star, exp.Identifier, exp.Var))
    ]
    return element(types[0]) if name in _ELEMENTS and types else None


def _column(reading: Reading, node: exp.Column, frame: Frame, variables: frozenset[str]) -> DataType | None:
    if isinstance(node.this, exp.Star):  # as in count(t.*)
        return None
    parts = [node.args[part].name for part in ("catalog", "db", "table", "this") if node.args.get(part)]
    if parts[0].lower() in variables:
        return None
    try:
        found = find(frame, parts)
    except Ambiguous:
        what = f"{'.'.join(parts)} stands in several tables"
        reading.problem("sql-column", what, "put the table's name before it", node)
        return None
    if found is None and not frame.must_have(parts):
        return None
    if found is None:
        known = dict.fromkeys([*frame.names(), *(output.column.name for output in frame.outputs)])
        near = nearest(parts[-1], known) or f"there are: {', '.join(list(known)[:20]) or 'no columns'}"
        reading.problem("sql-column", f"there is no column {'.'.join(parts)}", near, node)
        return None
    reading.names.columns[id(node)] = found
    if isinstance(found, Output):
        return found.column.type
    return _inside(reading, node, type_at(found.places), found.steps)


def find(frame: Frame, parts: list[str]) -> Reference | Output | None:
    """Return what a name means: a column, an output of the same SELECT, or a column of a SELECT around it."""
    if found := frame.find(parts):
        return found
    if len(parts) == 1 and (output := frame.output(parts[0])):
        return output
    return find(frame.outer, parts) if frame.outer is not None else None


def _inside(reading: Reading, node: exp.Expr, held: DataType | None, steps: tuple[str, ...]) -> DataType | None:
    for one in steps:
        try:
            held = step(held, one)
        except NoSuchField as error:
            near = nearest(one, error.known)
            hint = near or (f"there are: {', '.join(error.known)}" if error.known else "it has no fields")
            reading.problem("sql-column", f"there is no field {one} in {node.sql(dialect='spark')}", hint, node)
            return None
    return held


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Ask whether another name was meant."""
    close = difflib.get_close_matches(name.lower(), [one.lower() for one in known], n=1)
    return f"did you mean {close[0]}?" if close else None
