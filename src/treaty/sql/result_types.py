"""The Spark types of expressions, as far as they follow from the types of their parts; None where they do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from treaty.sql.functions import words
from treaty.sql.relations import ColumnType

MAX_PRECISION = 38
_MIN_DIVISION_SCALE = 6
_MAX_INTEGER, _MAX_LONG = 2**31, 2**63

Type = ColumnType | None
Types = Sequence[Type]

STRING, BOOLEAN, INTEGER, LONG = (ColumnType(name) for name in ("string", "boolean", "integer", "long"))
DOUBLE, DATE, TIMESTAMP = (ColumnType(name) for name in ("double", "date", "timestamp"))
_DIGITS = {"byte": 3, "short": 5, "integer": 10, "long": 20}
"""Integers, narrowest first, and the digits of the decimals that they become next to decimals."""
_FLOATING_POINT = ("float", "double")
_DATA_TYPES = {
    "BOOLEAN": "boolean",
    "TINYINT": "byte",
    "SMALLINT": "short",
    "INT": "integer",
    "BIGINT": "long",
    "FLOAT": "float",
    "DOUBLE": "double",
    "TEXT": "string",
    "VARCHAR": "string",
    "CHAR": "string",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMPTZ": "timestamp",
    "TIMESTAMPLTZ": "timestamp",
    "TIMESTAMPNTZ": "timestamp_ntz",
    "BINARY": "binary",
}
"""The names of Spark's types, by those of sqlglot."""


def decimal(precision: int, scale: int) -> ColumnType:
    """Return a decimal type, with fewer digits after the point if there would be too many, as Spark does it."""
    if precision > MAX_PRECISION:
        whole = precision - scale
        scale = max(MAX_PRECISION - whole, min(scale, _MIN_DIVISION_SCALE))
        precision = MAX_PRECISION
    return ColumnType("decimal", parameters=(precision, scale))


def cast_type(node: exp.DataType) -> Type:
    """Return the type that a value is cast to."""
    name = node.this.name if isinstance(node.this, exp.DType) else str(node.this)
    if name == "DECIMAL":
        given = [int(parameter.name) for parameter in node.expressions]
        precision, scale = (*given, 0)[:2] if given else (10, 0)
        return ColumnType("decimal", parameters=(precision, scale))
    spark_name = _DATA_TYPES.get(name)
    return ColumnType(spark_name) if spark_name else None


def literal_type(node: exp.Literal) -> Type:
    """Return the type of a literal."""
    if node.is_string:
        return STRING
    text = node.name
    if "e" in text.lower():
        return DOUBLE
    if "." in text:
        whole, _, fraction = text.partition(".")
        return ColumnType("decimal", parameters=(max(len(whole.lstrip("0")) + len(fraction), 1), len(fraction)))
    if not text.isdigit() or int(text) >= _MAX_LONG:
        return None
    return INTEGER if int(text) < _MAX_INTEGER else LONG


def node_type(node: exp.Expr, types: Types) -> Type:
    """Return the type of an operator or literal; `types` are those of its operands in order."""
    if isinstance(node, exp.Literal):
        return literal_type(node)
    if isinstance(node, exp.Cast):
        return cast_type(node.to)
    if isinstance(node, (exp.Boolean, exp.Predicate, exp.Connector, exp.Not)):
        return BOOLEAN
    if isinstance(node, exp.Neg):
        return types[0] if types and _is_number(types[0]) else None
    rule = next((rule for kind, rule in _OPERATORS.items() if isinstance(node, kind)), None)
    return rule(node, types) if rule is not None and len(types) == 2 else None


def case_type(results: Types) -> Type:
    """Return the common type of the results of CASE, coalesce and the like; NULL has no type of its own."""
    if not results or None in results:
        return None
    first = results[0]
    if all(result == first for result in results):
        return first
    if all(result is not None and result.name in _DIGITS for result in results):
        return _widest(results)
    return None


def call_type(name: str, types: Types) -> Type:
    """Return the type of a function call."""
    if name in _FIXED:
        return _FIXED[name]
    if name in _FIRST_ARGUMENT:
        return types[0] if types else None
    if name in _COMMON:
        return case_type(types)
    rule = _AGGREGATES.get(name)
    return rule(types[0]) if rule is not None and types and types[0] is not None else None


def _is_number(value_type: Type) -> bool:
    return value_type is not None and (value_type.name in _DIGITS or value_type.name in (*_FLOATING_POINT, "decimal"))


def _widest(types: Types) -> ColumnType:
    order = list(_DIGITS)
    return ColumnType(order[max(order.index(value_type.name) for value_type in types if value_type is not None)])


def _as_decimal(node: exp.Expr, value_type: ColumnType) -> tuple[int, int]:
    if value_type.name in _DIGITS:
        return len(node.name) if isinstance(node, exp.Literal) else _DIGITS[value_type.name], 0
    precision, scale = value_type.parameters
    return precision, scale


def _arithmetic(
    exact: Callable[[int, int, int, int], ColumnType], of_integers: Callable[[Types], ColumnType]
) -> Callable[[exp.Expr, Types], Type]:
    """Return the rule of an operator: what it makes of decimals, and of integers."""

    def rule(node: exp.Expr, types: Types) -> Type:
        left, right = types
        if left is None or right is None or not (_is_number(left) and _is_number(right)):
            return None
        if left.name in _FLOATING_POINT or right.name in _FLOATING_POINT:
            both_float = left.name == right.name == "float" and of_integers is _widest
            return ColumnType("float") if both_float else DOUBLE
        if "decimal" in (left.name, right.name):
            return exact(*_as_decimal(node.this, left), *_as_decimal(node.expression, right))
        return of_integers(types)

    return rule


def _sum(p1: int, s1: int, p2: int, s2: int) -> ColumnType:
    scale = max(s1, s2)
    return decimal(max(p1 - s1, p2 - s2) + scale + 1, scale)


def _product(p1: int, s1: int, p2: int, s2: int) -> ColumnType:
    return decimal(p1 + p2 + 1, s1 + s2)


def _quotient(p1: int, s1: int, p2: int, s2: int) -> ColumnType:
    scale = max(_MIN_DIVISION_SCALE, s1 + p2 + 1)
    return decimal(p1 - s1 + s2 + scale, scale)


def _remainder(p1: int, s1: int, p2: int, s2: int) -> ColumnType:
    scale = max(s1, s2)
    return decimal(min(p1 - s1, p2 - s2) + scale, scale)


def _text(node: exp.Expr, types: Types) -> Type:
    return STRING if all(value_type == STRING for value_type in types) else None


_OPERATORS: dict[type[exp.Expr], Callable[[exp.Expr, Types], Type]] = {
    exp.Add: _arithmetic(_sum, _widest),
    exp.Sub: _arithmetic(_sum, _widest),
    exp.Mul: _arithmetic(_product, _widest),
    exp.Div: _arithmetic(_quotient, lambda types: DOUBLE),
    exp.Mod: _arithmetic(_remainder, _widest),
    exp.DPipe: _text,
}


def _total(value_type: ColumnType) -> Type:
    if value_type.name == "decimal":
        precision, scale = value_type.parameters
        return ColumnType("decimal", parameters=(min(precision + 10, MAX_PRECISION), scale))
    return LONG if value_type.name in _DIGITS else DOUBLE if value_type.name in _FLOATING_POINT else None


def _average(value_type: ColumnType) -> Type:
    if value_type.name == "decimal":
        precision, scale = value_type.parameters
        return ColumnType("decimal", parameters=(min(precision + 4, MAX_PRECISION), min(scale + 4, MAX_PRECISION)))
    return DOUBLE if _is_number(value_type) else None


_AGGREGATES: dict[str, Callable[[ColumnType], Type]] = {
    "sum": _total,
    "avg": _average,
    "mean": _average,
    "collect_list": lambda value_type: ColumnType("array", element=value_type),
    "collect_set": lambda value_type: ColumnType("array", element=value_type),
}
_FIRST_ARGUMENT = words(
    "max min first last any_value first_value last_value max_by min_by lag lead nth_value mode nullif"
)
"""Functions with the type of their first argument."""
_COMMON = words("coalesce nvl ifnull greatest least")
_RESULTS = {
    LONG: "count count_if approx_count_distinct unix_timestamp unix_millis unix_micros",
    INTEGER: "row_number rank dense_rank ntile length char_length datediff year month day dayofmonth quarter hour "
    "minute second weekofyear",
    STRING: "upper lower trim ltrim rtrim initcap regexp_replace regexp_extract date_format concat_ws md5 sha2 to_json",
    DATE: "current_date to_date last_day add_months next_day make_date",
    TIMESTAMP: "current_timestamp now to_timestamp date_trunc",
    BOOLEAN: "isnull isnotnull bool_and bool_or every some array_contains exists rlike isnan",
    DOUBLE: "stddev variance corr sqrt exp ln log10 percent_rank",
}
_FIXED = {name: result for result, names in _RESULTS.items() for name in words(names)}
"""Functions whose type does not depend on their arguments."""
