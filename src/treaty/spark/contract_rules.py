"""Collect the rules of an object from its fields, quality rules, relationships and service levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from pyspark.sql import Column
from pyspark.sql import types as spark

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.errors import InvalidDocument
from treaty.spark.checks import Check, Kind
from treaty.spark.freshness import freshness_rules
from treaty.spark.input_layout import InputLayout
from treaty.spark.quality_rules import quality_rules
from treaty.spark.references import reference_rules
from treaty.spark.rules import AnyRule, Policy, ReferenceRule, RowRule, Rule, RuleSet, Scope, Unchecked, UniqueRule
from treaty.spark.schema import column_name, is_classified, spark_type
from treaty.spark.value_checks import contains_map, unchecked_options

_ALWAYS_ERRORS = frozenset({Kind.REQUIRED, Kind.TYPE, Kind.MALFORMED})
"""Rules of these kinds are always errors; otherwise valid rows would not match the schema of the contract."""


def collect_rules(
    contract: Contract,
    schema: SchemaObject,
    prepared: InputLayout,
    policy: Policy,
    given: frozenset[str],
    *,
    is_streaming: bool,
) -> RuleSet:
    """Collect the rules; what cannot be checked is listed with the reason."""
    collected: list[AnyRule | Unchecked] = [_row_rule(check, value) for check, value in prepared.checks]
    collected += _unique(schema)
    collected += quality_rules(contract, schema, prepared)
    collected += reference_rules(contract, schema, given)
    collected += freshness_rules(contract, schema)
    collected += _unchecked_options(schema)
    collected = [
        _unchecked_on_stream(item)
        if is_streaming and not isinstance(item, RowRule | ReferenceRule | Unchecked)
        else item
        for item in collected
    ]
    numbered = _number_duplicates([item for item in collected if not isinstance(item, Unchecked)])
    graded = [replace(item, rule=_with_severity(item.rule, policy)) for item in numbered]
    _refuse_unknown_severities(policy, [item.rule for item in graded])
    in_scope = tuple(item for item in graded if _is_in(item, policy.scope))
    return RuleSet(in_scope, tuple(item for item in collected if isinstance(item, Unchecked)))


def _is_in(item: AnyRule, scope: Scope) -> bool:
    return scope is Scope.ALL or isinstance(item, RowRule) is (scope is Scope.ROWS)


def _row_rule(check: Check, value: Column) -> RowRule:
    path = str(check.path)
    where = "#".join(part for part in (path, check.name) if part)
    rule_id = f"{check.kind}:{where}" if where else check.kind.value
    rule = Rule(rule_id, check.kind, path, check.says, check.severity, check.allows)
    return RowRule(rule, partial(check.broken, value), partial(check.shown, value), check.is_secret)


def _unique(schema: SchemaObject) -> Iterator[UniqueRule | Unchecked]:
    by_name = {field.name: field for field in schema.fields}
    if schema.primary_key:
        key = tuple(by_name[name] for name in schema.primary_key)
        yield _unique_rule(key, ", ".join(schema.primary_key), "must be a key that no other row has")
    for field in schema.fields:
        if field.unique and schema.primary_key != (field.name,):
            yield _unique_rule((field,), field.name or "", "must be a value that no other row has")


def _unique_rule(fields: tuple[Field, ...], where: str, says: str) -> UniqueRule | Unchecked:
    if any(contains_map(spark_type(field) or spark.NullType()) for field in fields):
        return Unchecked(f"unique:{where}", "maps cannot be compared")
    columns = tuple(column_name(field) for field in fields)
    secret = any(map(is_classified, fields))
    return UniqueRule(Rule(f"unique:{where}", Kind.UNIQUE, where, says), columns, secret)


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


def _unchecked_on_stream(item: AnyRule | Unchecked) -> AnyRule | Unchecked:
    if isinstance(item, Unchecked):
        return item
    return Unchecked(item.rule.id, "a rule on the entire dataset cannot be checked on a stream; use each_batch")


def _number_duplicates(rules: list[AnyRule]) -> list[AnyRule]:
    """Number rules that share an id, in the order of the contract."""
    taken: Counter[str] = Counter()
    apart = []
    for item in rules:
        taken[item.rule.id] += 1
        count = taken[item.rule.id]
        apart.append(replace(item, rule=replace(item.rule, id=f"{item.rule.id}~{count}")) if count > 1 else item)
    return apart


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
