"""Lint rules for SQL and links: what could harm those who run a rule or follow a link.

Registries apply the errors among them too, so they can be neither re-graded nor waived.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.contracts.findings import Pointer, Severity
from treaty.contracts.links import unsafe_links
from treaty.contracts.model import Contract, Field, SchemaObject, locate_fields
from treaty.contracts.paths import FieldPath
from treaty.contracts.values import abbreviate
from treaty.errors import InvalidDocument
from treaty.governance.lint.rule_table import FieldContext, Remark, contract_rule
from treaty.sql.hostile_sql import find_hostile_sql
from treaty.suggestions import choose

_ALLOWED_SQL = "write one SELECT over the objects of the contract, or one condition on a row"
_ALLOWED_MEASURE = "write one aggregate over the fields of the contract, or one SELECT"
_MAX_NAME_LENGTH = 60


@contract_rule(Severity.ERROR, is_required=True)
def quality_sql_hostile(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """A quality rule, a measure or a migration has SQL that does more than read the data of the contract.

    Why: the SQL of a contract is run by tools that check the data. It must not change data or settings, run other code
    (`reflect`, `ADD JAR`, `TRANSFORM … USING`), read files or variables, or contain a second statement. Registries
    refuse the document. SQL of other dialects that only reads is no error.

    Fix: write one SELECT over the objects of the contract, or one condition on a row, such as `amount > 0`.
    """
    for rule in _sql_rules(contract):
        if what := find_hostile_sql(rule.sql):
            yield Remark(f"the SQL of {rule.name} {what}", _ALLOWED_SQL, rule.pointer, rule.path)
    for index, measure in enumerate(contract.treaty.measures):
        if measure.expression and (what := find_hostile_sql(measure.expression)):
            yield Remark(f"the SQL of measure {measure.name!r} {what}", _ALLOWED_MEASURE, _expression_at(index))
    plan = contract.treaty.migration
    for index, move in enumerate(plan.fields if plan else ()):
        for key, text in (("sql", move.sql), ("back", move.back)):
            if text and (what := find_hostile_sql(text)):
                hint = "write one expression over the fields of a row"
                yield Remark(f"the SQL of migration.fields[{index}] {what}", hint, ("migration", "fields", index, key))


@contract_rule(Severity.WARNING)
def quality_sql_unsupported(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """Treaty cannot check a quality rule, because its SQL is not on the allow-list.

    Why: `treaty test` and the pipeline refuse a contract with such a rule. It may use the functions of another
    database, read a table outside the contract, or have a mistake.

    Fix: write it in Spark SQL with plain functions. If another tool checks it, make it `type: custom` and name the
    `engine`, or waive the finding.
    """
    for rule in _sql_rules(contract):
        from treaty.sql.checked_sql import RuleTarget
        from treaty.sql.rules import parse_rule  # loads sqlglot, which only documents with SQL need

        if find_hostile_sql(rule.sql):
            continue
        try:
            parse_rule(rule.sql, RuleTarget.of(contract, rule.schema, rule.field))
        except InvalidDocument as error:
            message, _, hint = str(error).replace("the SQL of the rule", f"the SQL of {rule.name}", 1).rpartition("; ")
            yield Remark(message, hint, rule.pointer, rule.path)


@contract_rule(Severity.WARNING)
def measure_unmeasurable(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """A semantic measure cannot be taken: its SQL is not on the allow-list, or there is no such quality rule.

    Why: runs and tests leave the measure out, so its target is never checked.

    Fix: write an aggregate over the fields of the contract in Spark SQL, such as
    `100.0 * count_if(state = 'open') / count(*)`, or name a quality rule by its id or name.
    """
    if not contract.schema:
        return
    rules = {name for schema in contract.schema for name in _rule_names(schema)}
    for index, measure in enumerate(contract.treaty.measures):
        if measure.rule is not None and measure.rule not in rules:
            message = f"measure {measure.name!r} names the rule {measure.rule!r}, which the contract does not have"
            yield Remark(message, choose(measure.rule, sorted(rules)), ("measures", index, "rule"))
        if measure.expression is None or find_hostile_sql(measure.expression):
            continue
        from treaty.sql.checked_sql import RuleTarget
        from treaty.sql.rules import parse_measure

        measured = [schema for schema in contract.schema if schema.name == measure.object] or [contract.schema[0]]
        try:
            parse_measure(measure.expression, RuleTarget.of(contract, measured[0]))
        except InvalidDocument as error:
            text = str(error).replace("the SQL of the rule", f"the SQL of measure {measure.name!r}", 1)
            message, _, hint = text.rpartition("; ")
            yield Remark(message, hint, _expression_at(index))


@contract_rule(Severity.ERROR, is_required=True)
def link_unsafe(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """A link has a scheme that runs code in a browser or leads to the reader's own files.

    Why: migration guides, support channels, definitions and servers are shown in the catalog and sent in notices. An
    address such as `javascript:…`, `data:…` or `file:…` attacks its reader. Registries refuse the document.
    Migration guides (`deprecation_uri`, `migration_guide`, `guide`) that are addresses have to be http or https.

    Fix: link a page by its https address.
    """
    for link in unsafe_links(contract):
        where = ".".join(str(step) for step in link.pointer if isinstance(step, str))
        yield Remark(f"the link {where} {link.problem}", "link a page by its https address", link.pointer, link.field)


def _expression_at(index: int) -> Pointer:
    return ("measures", index, "expression")


def _rule_names(schema: SchemaObject) -> Iterator[str]:
    """Yield the ids and names of the quality rules of an object and its fields, at any depth."""
    pending: list[SchemaObject | Field] = [schema]
    while pending:
        part = pending.pop()
        for rule in part.quality or ():
            yield from (str(rule[key]) for key in ("id", "name") if rule.get(key))
        pending += part.properties or ()
        pending += [child for _, child in part.children] if isinstance(part, Field) else []


@dataclass(frozen=True)
class _SqlRule:
    """A quality rule with SQL: its text, where it is and what it is about."""

    name: str
    sql: str
    schema: SchemaObject
    pointer: Pointer
    field: FieldPath | None = None
    path: str | None = None


def _sql_rules(contract: Contract) -> Iterator[_SqlRule]:
    for index, schema in enumerate(contract.schema):
        for number, rule in enumerate(schema.quality or ()):
            if (sql := _sql_of(rule)) is not None:
                yield _SqlRule(_name(rule), sql, schema, ("schema", index, "quality", number, "query"))
    if not any(_has_quality(field) for schema in contract.schema for field in schema.fields):
        return
    for path, field, pointer in locate_fields(contract):
        for number, rule in enumerate(field.quality or ()):
            if (sql := _sql_of(rule)) is not None:
                schema = contract.schema[int(pointer[1])]
                place = (*pointer, "quality", number, "query")
                yield _SqlRule(_name(rule), sql, schema, place, FieldPath(path.steps), str(path))


def _sql_of(rule: Mapping[str, Any]) -> str | None:
    """Return the SQL of a rule; a rule of another engine or in words may have a query too, and it counts."""
    query = rule.get("query")
    return str(query) if query is not None else None


def _name(rule: Mapping[str, Any]) -> str:
    name = rule.get("id") or rule.get("name")
    return f"rule {abbreviate(name, _MAX_NAME_LENGTH)!r}" if name else "a rule"


def _has_quality(field: Field) -> bool:
    """Return whether a field or one inside it has rules; paths are built only if there are any."""
    if field.quality:
        return True
    return any(map(_has_quality, field.properties or ())) or any(_has_quality(child) for _, child in field.children)
