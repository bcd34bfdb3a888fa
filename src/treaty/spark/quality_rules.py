"""Quality rules on more than one value: row counts, duplicates and SQL, by how they are evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.compatibility.terms.quality_rules import normalize_rule, rule_name
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.values import EMPTY, abbreviate
from treaty.errors import InvalidDocument
from treaty.spark.columns import quoted_col
from treaty.spark.input_layout import InputLayout
from treaty.spark.rules import (
    NO_VIOLATIONS,
    AnyRule,
    Kind,
    MetricRule,
    RowRule,
    Rule,
    Threshold,
    Unchecked,
    UniqueRule,
    read_threshold,
)
from treaty.spark.schema import column_name, is_classified, spark_type
from treaty.spark.value_checks import VALUE_METRICS, contains_map, rule_severity
from treaty.sql.checked_sql import AggregateMetric, RowCondition, RowCount, RuleTarget
from treaty.sql.rules import parse_rule

_TOP = FieldPath()


@dataclass(frozen=True)
class Site:
    """The location of a quality rule: an object, or one of its fields."""

    contract: Contract
    schema: SchemaObject
    layout: InputLayout
    field: Field | None = None
    path: FieldPath = _TOP

    @property
    def is_top(self) -> bool:
        """Whether the rule is on a top-level field."""
        return len(self.path.steps) == 1


def quality_rules(contract: Contract, schema: SchemaObject, layout: InputLayout) -> Iterator[AnyRule | Unchecked]:
    """Yield the rules of the object and its fields, except metrics on single values, which are field checks."""
    for site, rule in _rules(Site(contract, schema, layout)):
        yield _read(site, rule)


def _rules(top: Site) -> Iterator[tuple[Site, Mapping[str, Any]]]:
    for rule in top.schema.quality or ():
        yield top, rule
    yield from _in_fields(top, top.schema.fields, FieldPath())


def _in_fields(top: Site, fields: tuple[Field, ...], path: FieldPath) -> Iterator[tuple[Site, Mapping[str, Any]]]:
    for field in fields:
        yield from _in_field(top, field, path.field(field.name or ""))


def _in_field(top: Site, field: Field, here: FieldPath) -> Iterator[tuple[Site, Mapping[str, Any]]]:
    site = Site(top.contract, top.schema, top.layout, field, here)
    for rule in field.quality or ():
        if normalize_rule(rule).get("metric") not in VALUE_METRICS:
            yield site, rule
    yield from _in_fields(top, field.properties or (), here)
    for mark, child in field.children:
        yield from _in_field(top, child, here.into(mark))


def _read(site: Site, rule: Mapping[str, Any]) -> AnyRule | Unchecked:
    terms = normalize_rule(rule)
    metric, kind = terms.get("metric"), terms.get("type")
    if metric == "rowCount":
        result = _make_rule(site, rule, Kind.ROW_COUNT, "number of rows", read_threshold(rule) or NO_VIOLATIONS)
        return MetricRule(replace(result, counts_rows=False), aggregate="count(1)")
    if metric in ("duplicateValues", "duplicateCount", "duplicates"):
        return _duplicates(site, rule)
    if kind == "sql" or (kind is None and "query" in terms):
        return _sql(site, rule)
    why = {
        "text": "it is a description in words",
        "custom": f"it is meant for {terms.get('engine')}",
    }.get(str(kind), f"metric {metric!r} is not an ODCS metric")
    return Unchecked(_id(site, rule, Kind.SQL).removeprefix("sql:"), why)


def _id(site: Site, rule: Mapping[str, Any], kind: Kind) -> str:
    where = "#".join(part for part in (str(site.path), rule_name(rule)) if part)
    return f"{kind}:{where}"


def _make_rule(site: Site, rule: Mapping[str, Any], kind: Kind, requirement: str, threshold: Threshold) -> Rule:
    description = str(rule.get("description") or requirement)
    return Rule(
        _id(site, rule, kind), kind, str(site.path), abbreviate(description, 200), rule_severity(rule), threshold
    )


def _duplicates(site: Site, rule: Mapping[str, Any]) -> AnyRule | Unchecked:
    arguments = rule.get("arguments")
    properties = (arguments if isinstance(arguments, Mapping) else EMPTY).get("properties") or ()
    names = (
        properties
        if isinstance(properties, tuple) and properties
        else ((site.field.name,) if site.field and site.is_top else ())
    )
    by_name = {field.name: field for field in site.schema.fields}
    fields = [by_name[name] for name in names if name in by_name]
    rule_id = _id(site, rule, Kind.UNIQUE)
    if not names or len(fields) != len(names):
        return Unchecked(rule_id, "it does not name the top-level fields that must be unique (arguments: properties)")
    if any(contains_map(spark_type(field) or spark.NullType()) for field in fields):
        return Unchecked(rule_id, "maps cannot be compared")
    requirement = f"{', '.join(map(str, names))} must be unique"
    result = _make_rule(site, rule, Kind.UNIQUE, requirement, read_threshold(rule) or NO_VIOLATIONS)
    return UniqueRule(result, tuple(column_name(field) for field in fields), any(map(is_classified, fields)))


def _row_rule(site: Site, result: Rule, violated: Column, fields: tuple[str, ...]) -> RowRule:
    return RowRule(result, lambda: violated, lambda: _shown_row(site, fields), _reads_classified(site, fields))


def _sql(site: Site, rule: Mapping[str, Any]) -> AnyRule | Unchecked:
    query = str(rule.get("query") or "")
    rule_id = _id(site, rule, Kind.SQL)
    try:
        rule_sql = parse_rule(query, _scope(site))
    except InvalidDocument as error:
        raise InvalidDocument(f"rule {rule_id} of {site.contract.id} {site.contract.version}: {error}") from None
    threshold = read_threshold(rule)
    if isinstance(rule_sql, RowCondition):
        return _row_condition(site, rule, rule_sql, threshold)
    if isinstance(rule_sql, RowCount) and threshold is not None and threshold.holds(0, 1):
        violated = _analysed(site, rule_id, rule_sql.condition)
        result = _make_rule(site, rule, Kind.SQL, f"must not satisfy {rule_sql.condition}", threshold)
        return _row_rule(site, result, violated, rule_sql.fields)
    if isinstance(rule_sql, RowCount):
        _analysed(site, rule_id, rule_sql.condition)
        aggregate = f"count_if({rule_sql.condition})"
    elif isinstance(rule_sql, AggregateMetric):
        _analysed(site, rule_id, rule_sql.expression, boolean=False)
        aggregate = rule_sql.expression
    else:
        result = _make_rule(site, rule, Kind.SQL, query, threshold or NO_VIOLATIONS)
        return MetricRule(replace(result, counts_rows=False), query=rule_sql)
    result = _make_rule(site, rule, Kind.SQL, query, threshold or NO_VIOLATIONS)
    return MetricRule(replace(result, counts_rows=False), aggregate=aggregate)


def _row_condition(site: Site, rule: Mapping[str, Any], rule_sql: RowCondition, threshold: Threshold | None) -> RowRule:
    """Read a condition on a row. It must be true (or false, if the rule requirement so) within the threshold."""
    holds = _analysed(site, _id(site, rule, Kind.SQL), rule_sql.condition)
    violated, requirement = ~holds, f"must satisfy {rule_sql.condition}"
    if threshold is not None and isinstance(threshold.value, bool):
        wanted = threshold.value == (threshold.operator == "mustBe")
        violated, requirement = (violated, requirement) if wanted else (holds, f"must not satisfy {rule_sql.condition}")
        threshold = NO_VIOLATIONS
    result = _make_rule(site, rule, Kind.SQL, requirement, threshold or NO_VIOLATIONS)
    return _row_rule(site, result, violated, rule_sql.fields)


def _scope(site: Site) -> RuleTarget:
    return RuleTarget.of(site.contract, site.schema, site.path if site.field is not None else None)


def _analysed(site: Site, rule_id: str, sql: str, *, boolean: bool = True) -> Column:
    """Return the column of an expression; refuse one that Spark rejects or that is not a condition."""
    column = F.expr(sql)
    try:
        kind = site.layout.frame.select(column.alias("answer")).schema["answer"].dataType
    except PySparkException as error:
        raise InvalidDocument(f"rule {rule_id} cannot be evaluated: {str(error).splitlines()[0]}") from None
    if boolean and not isinstance(kind, spark.BooleanType):
        raise InvalidDocument(f"rule {rule_id} must be a boolean condition, but its type is {kind.simpleString()}")
    return column


def _shown_row(site: Site, fields: tuple[str, ...]) -> Column:
    tops = list(dict.fromkeys(name.partition(".")[0] for name in fields))
    known = [name for name in tops if name in site.layout.typed]
    return F.to_json(F.struct(*map(quoted_col, known))) if known else F.lit(None)


def _reads_classified(site: Site, fields: tuple[str, ...]) -> bool:
    tops = {name.partition(".")[0] for name in fields}
    return any(_holds_classified(field) for field in site.schema.fields if column_name(field) in tops)


def _holds_classified(field: Field) -> bool:
    inside = (*(field.properties or ()), *(child for _, child in field.children))
    return is_classified(field) or any(map(_holds_classified, inside))
