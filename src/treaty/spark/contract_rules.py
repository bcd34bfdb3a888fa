"""Collect the rules of an object from its fields, quality rules, relationships and service levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pyspark.sql import Column
from pyspark.sql import types as spark

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.quantities import parse_seconds
from treaty.errors import InvalidDocument
from treaty.spark.input_layout import InputLayout
from treaty.spark.quality_rules import quality_rules
from treaty.spark.rules import (
    AnyRule,
    Check,
    FreshnessRule,
    Kind,
    MeasureSql,
    Policy,
    ReferenceRule,
    RowRule,
    Rule,
    RuleSet,
    Scope,
    Unchecked,
    UniqueRule,
)
from treaty.spark.schema import column_name, is_classified, spark_type
from treaty.spark.semantic_measures import collect_measures
from treaty.spark.value_checks import contains_map, unchecked_options

_ALWAYS_ERRORS = frozenset({Kind.REQUIRED, Kind.TYPE, Kind.MALFORMED})
"""Rules of these kinds are always errors; otherwise valid rows would not match the schema of the contract."""


def collect_rules(
    contract: Contract,
    schema: SchemaObject,
    layout: InputLayout,
    policy: Policy,
    given: frozenset[str],
    *,
    is_streaming: bool,
) -> RuleSet:
    """Collect the rules; what cannot be checked is listed with the reason."""
    collected: list[AnyRule | Unchecked] = [_row_rule(check, value) for check, value in layout.checks]
    collected += _unique(schema)
    collected += quality_rules(contract, schema, layout)
    collected += reference_rules(contract, schema, given)
    collected += freshness_rules(contract, schema)
    collected += _unchecked_options(schema)
    is_whole = not is_streaming and policy.scope is not Scope.ROWS
    measures = list(collect_measures(contract, schema, layout)) if is_whole else []
    collected += [measure for measure in measures if isinstance(measure, Unchecked)]
    collected = [
        _unchecked_on_stream(rule)
        if is_streaming and not isinstance(rule, RowRule | ReferenceRule | Unchecked)
        else rule
        for rule in collected
    ]
    numbered = _number_duplicates([rule for rule in collected if not isinstance(rule, Unchecked)])
    graded = [replace(rule, definition=_with_severity(rule.definition, policy)) for rule in numbered]
    _refuse_unknown_severities(policy, [rule.definition for rule in graded])
    in_scope = tuple(rule for rule in graded if _is_in_scope(rule, policy.scope))
    return RuleSet(
        in_scope,
        tuple(term for term in collected if isinstance(term, Unchecked)),
        tuple(measure for measure in measures if isinstance(measure, MeasureSql)),
    )


def _is_in_scope(rule: AnyRule, scope: Scope) -> bool:
    return scope is Scope.ALL or isinstance(rule, RowRule) is (scope is Scope.ROWS)


def _row_rule(check: Check, value: Column) -> RowRule:
    path = str(check.path)
    where = "#".join(part for part in (path, check.name) if part)
    rule_id = f"{check.kind}:{where}" if where else check.kind.value
    rule = Rule(rule_id, check.kind, path, check.requirement, check.severity, check.threshold)
    return RowRule(rule, partial(check.violated, value), partial(check.shown_value, value), check.is_secret)


def _unique(schema: SchemaObject) -> Iterator[UniqueRule | Unchecked]:
    by_name = {field.name: field for field in schema.fields}
    if schema.primary_key:
        key = tuple(by_name[name] for name in schema.primary_key)
        yield _unique_rule(key, ", ".join(schema.primary_key))
    for field in schema.fields:
        if field.unique and schema.primary_key != (field.name,):
            yield _unique_rule((field,), field.name or "")


def _unique_rule(fields: tuple[Field, ...], where: str) -> UniqueRule | Unchecked:
    if any(contains_map(spark_type(field) or spark.NullType()) for field in fields):
        return Unchecked(f"unique:{where}", "maps cannot be compared")
    columns = tuple(column_name(field) for field in fields)
    secret = any(map(is_classified, fields))
    return UniqueRule(Rule(f"unique:{where}", Kind.UNIQUE, where, "must be unique"), columns, secret)


def _unchecked_options(schema: SchemaObject) -> Iterator[Unchecked]:
    """Yield options of fields at any depth that no check covers."""

    def walk(fields: tuple[Field, ...], path: FieldPath) -> Iterator[Unchecked]:
        for field in fields:
            here = path.field(field.name or "")
            yield from (Unchecked(str(here), why) for why in unchecked_options(field))
            yield from walk(field.properties or (), here)
            for mark, child in field.children:
                yield from (Unchecked(str(here.into(mark)), why) for why in unchecked_options(child))
                yield from walk(child.properties or (), here.into(mark))

    yield from walk(schema.fields, FieldPath())


def _unchecked_on_stream(rule: AnyRule | Unchecked) -> AnyRule | Unchecked:
    if isinstance(rule, Unchecked):
        return rule
    return Unchecked(rule.definition.id, "a rule on the entire dataset cannot be checked on a stream; use each_batch")


def _number_duplicates(rules: list[AnyRule]) -> list[AnyRule]:
    """Number rules that share an id, in the order of the contract."""
    taken: Counter[str] = Counter()
    numbered = []
    for rule in rules:
        taken[rule.definition.id] += 1
        count = taken[rule.definition.id]
        numbered.append(
            replace(rule, definition=replace(rule.definition, id=f"{rule.definition.id}~{count}"))
            if count > 1
            else rule
        )
    return numbered


def _with_severity(rule: Rule, policy: Policy) -> Rule:
    severity = policy.severity.get(rule.id, policy.severity.get(rule.kind, rule.severity))
    if severity is not Severity.ERROR and rule.kind in _ALWAYS_ERRORS:
        if rule.id in policy.severity or rule.kind in policy.severity:
            raise InvalidDocument(
                f"rule {rule.id} must be an error, otherwise valid rows would not match the schema of the contract; "
                "change the contract if the field may be missing or have another type"
            )
        return rule
    return replace(rule, severity=severity)


def _refuse_unknown_severities(policy: Policy, rules: list[Rule]) -> None:
    known = {rule.id for rule in rules} | set(Kind)
    unknown = [name for name in policy.severity if name not in known]
    if unknown:
        listed = ", ".join(sorted(rule.id for rule in rules))
        raise InvalidDocument(
            f"cannot change the severity of {unknown[0]!r}: there is no such rule; the rules are: {listed}"
        )


_TIMESTAMP_TYPES = (spark.DateType, spark.TimestampType, spark.TimestampNTZType)


def freshness_rules(contract: Contract, schema: SchemaObject) -> Iterator[FreshnessRule | Unchecked]:
    """Yield a rule for each freshness level that names a timestamp to measure it by."""
    for level in contract.sla or ():
        if str(level.get("property", "")).lower() == "freshness":
            rule = _freshness_rule(level, contract, schema)
            if rule is not None:
                yield rule


def _freshness_rule(
    level: Mapping[str, Any], contract: Contract, schema: SchemaObject
) -> FreshnessRule | Unchecked | None:
    promised = parse_seconds(level.get("value"), level.get("unit"))
    what = f"freshness of {level.get('value')} {level.get('unit') or ''}".strip()
    if promised is None:
        return Unchecked(what, "its value is not a duration such as 4 h")
    element = level.get("element")
    if not element:
        return Unchecked(
            what, "it has no element; set it to the timestamp to measure, such as element: orders.updated_at"
        )
    owner, _, name = str(element).strip().rpartition(".")
    if owner and owner not in (schema.name, schema.physical_name) and len(contract.schema) > 1:
        return None
    field = _field(schema, name)
    if field is None or not isinstance(spark_type(field), _TIMESTAMP_TYPES):
        return Unchecked(what, f"its element {element!r} is not a top-level date or timestamp of {schema.name}")
    requirement = f"the newest row must be at most {level.get('value')} {level.get('unit') or 's'} old"
    rule = Rule(f"freshness:{field.name}", Kind.FRESHNESS, field.name or "", requirement, counts_rows=False)
    return FreshnessRule(rule, column_name(field), float(promised))


def _field(schema: SchemaObject, name: str) -> Field | None:
    return next((field for field in schema.fields if name in (field.name, field.physical_name)), None)


def reference_rules(
    contract: Contract, schema: SchemaObject, given: frozenset[str]
) -> Iterator[ReferenceRule | Unchecked]:
    """Yield a rule for each relationship whose target is given or is the object itself."""
    for field in schema.fields:
        for entry in field.relationships or ():
            yield _reference_rule(contract, schema, given, (field.name or "",), entry)
    for entry in schema.relationships or ():
        yield _reference_rule(
            contract, schema, given, tuple(_last_part(reference) for reference in _as_tuple(entry.get("from"))), entry
        )


def _reference_rule(
    contract: Contract, schema: SchemaObject, given: frozenset[str], names: tuple[str, ...], entry: Mapping[str, Any]
) -> ReferenceRule | Unchecked:
    targets = [_target(contract, reference) for reference in _as_tuple(entry.get("to"))]
    where = ", ".join(names)
    target_names = ", ".join(map(str, _as_tuple(entry.get("to"))))
    by_name = {field.name: field for field in schema.fields}
    unknown = [name for name in names if name not in by_name]
    owners = {owner for owner, _ in targets}
    if unknown or len(owners) != 1 or len(targets) != len(names):
        return Unchecked(
            f"reference:{where} -> {target_names}",
            "it does not relate fields of this object to fields of one other object",
        )
    owner = owners.pop()
    if owner not in given and owner != schema.name:
        return Unchecked(f"reference:{where} -> {target_names}", f"no data was given for {owner!r}")
    fields = [by_name[name] for name in names]
    rule = Rule(f"reference:{where}", Kind.REFERENCE, where, f"must exist in {target_names}")
    columns = tuple(column_name(field) for field in fields)
    target_columns = tuple(_column_in(contract, owner, name) for _, name in targets)
    return ReferenceRule(rule, columns, owner, target_columns, any(map(is_classified, fields)))


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _last_part(reference: Any) -> str:
    return str(reference).replace("/", ".").rpartition(".")[2]


def _target(contract: Contract, reference: Any) -> tuple[str, str]:
    """Return the names of object and field in `object.field` or `/schema/<id>/properties/<id>`."""
    text = str(reference).rpartition("#")[2]
    if "/" not in text:
        owner, _, name = text.rpartition(".")
        return owner, name
    parts = [part for part in text.split("/") if part]
    owner_id, field_id = (parts[1] if len(parts) > 1 else ""), parts[-1]
    schema = next((candidate for candidate in contract.schema if candidate.id == owner_id), None)
    field = next((child for child in schema.fields if child.id == field_id), None) if schema else None
    return (schema.name if schema else owner_id), ((field.name or "") if field else field_id)


def _column_in(contract: Contract, owner: str, name: str) -> str:
    schema = next((candidate for candidate in contract.schema if candidate.name == owner), None)
    field: Field | None = next((child for child in schema.fields if child.name == name), None) if schema else None
    return column_name(field) if field else name
