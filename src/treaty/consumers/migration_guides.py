"""Migration guides: what each consumer has to change to read the next line, limited to the fields it reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from treaty.compatibility import Verdict, diff, judge
from treaty.compatibility.migration.path import Fidelity, MigrationPath, ObjectPath, Step
from treaty.compatibility.migration.shim_builder import shim_for_fields
from treaty.compatibility.migration.shim_sql import table_sql
from treaty.compatibility.migration.sql_types import quote_column, stored_name
from treaty.consumers.impact import URGENCY, BreakingChanges, Effect
from treaty.consumers.subscriptions import Subscription
from treaty.contracts.model import Contract, Field, SchemaObject, locate_fields
from treaty.contracts.paths import FieldPath, parse_path
from treaty.contracts.versions import Line


def build_guides(
    path: MigrationPath, subscriptions: Iterable[Subscription], by: date | None = None, verdict: Verdict | None = None
) -> tuple[Guide, ...]:
    """Return a guide for each subscription, affected consumers first; `by` is the last day of the old line."""
    judged = verdict or judge(diff(path.before, path.after))
    changes = BreakingChanges(judged)
    made = [_GuideWriter(path, changes, by).guide(subscription) for subscription in subscriptions]
    return tuple(sorted(made, key=lambda one: (URGENCY[one.effect], one.consumer)))


class _GuideWriter:
    """Writes the guides of one migration path."""

    def __init__(self, path: MigrationPath, changes: BreakingChanges, by: date | None) -> None:
        self.path = path
        self.changes = changes
        self.by = by
        self.after: Mapping[FieldPath, Field] = {at: field for at, field, _ in locate_fields(path.after)}

    def guide(self, subscription: Subscription) -> Guide:
        """Return the guide of one subscription."""
        effect, _ = self.changes.effect_on(subscription.fields, subscription.consumer)
        leaves = [(object_path, step) for object_path in self.path.objects for step in _leaves(object_path.back.walk())]
        read = [(leave, step) for leave, step in leaves if _is_read(step, subscription.fields)]
        fields = [self._field(step) for _, step in read]
        plan = self.path.after.treaty.migration
        examples = [
            example_rows
            for object_path in self.path.objects
            if (
                example_rows := example(
                    self.path, object_path, [step.target for owner, step in read if owner is object_path]
                )
            )
            is not None
        ]
        known = [step.target for _, step in leaves]
        return Guide(
            subscription,
            effect,
            subscription.line,
            line_of(self.path.after),
            tuple(field for field in fields if field.todo),
            tuple(field.before for field in fields if not field.todo),
            tuple(str(field) for field in subscription.fields if not any(field.touches(path) for path in known)),
            tuple(change.message for change in self.changes.all if change.change.field is None),
            tuple(examples),
            self.by,
            plan.window if plan else None,
            plan.owner if plan else None,
            plan.guide if plan else None,
        )

    def _field(self, step: Step) -> GuideField:
        changes = tuple(
            change.message for change in self.changes.all if self._concerns(change.change.field, step.target)
        )
        after = tuple((str(source), self._type(source)) for source in step.sources)
        return GuideField(
            str(step.target),
            _type(step.field),
            after,
            tuple(self._todo(step, changes)),
            changes,
            step.fidelity,
            step.reason or None,
            step.sql,
        )

    def _concerns(self, field: str | None, target: FieldPath) -> bool:
        return field is not None and parse_path(field) == target

    def _type(self, path: FieldPath) -> str:
        return _type(self.after[path]) if path in self.after else ""

    def _todo(self, step: Step, changes: tuple[str, ...]) -> Iterator[str]:
        """Yield the actions for a field; none if it is unchanged."""
        if step.declared is not None:
            yield f"compute it from {', '.join(map(str, step.sources)) or 'the new fields'} as in the example"
        elif not step.sources and step.fidelity is Fidelity.IMPOSSIBLE:
            yield "removed: stop reading it"
        elif not step.sources:
            yield f"removed: stop reading it; the view returns {step.sql}"
        else:
            yield from self._todo_with_source(step, step.sources[0], changes)
        if step.note:
            yield step.note

    def _todo_with_source(self, step: Step, source: FieldPath, changes: tuple[str, ...]) -> Iterator[str]:
        moved = source.steps != step.target.steps
        before, after = _type(step.field), self._type(source)
        if moved:
            yield f"read {source} instead of {step.target}"
        if before != after:
            yield f"expect {after} instead of {before}"
        elif not step.is_kept:
            yield "translate its values as in the example"
        elif step.reasons or (changes and not moved):
            yield f"check: {'; '.join(changes) or step.reason}"


def _leaves(steps: Iterable[Step]) -> Iterator[Step]:
    return (step for step in steps if not step.inside)


def _is_read(step: Step, fields: tuple[FieldPath, ...]) -> bool:
    return not fields or any(field.touches(step.target) for field in fields)


def _type(field: Field) -> str:
    return str(field.type) if field.type else "untyped"


@dataclass(frozen=True, slots=True)
class Example:
    """A query on the old and on the new line, in Spark SQL and PySpark."""

    sql_before: str
    sql_after: str
    pyspark_before: str
    pyspark_after: str


@dataclass(frozen=True, slots=True)
class GuideField:
    """A field that the consumer reads, before and after, with the actions it needs."""

    before: str
    type_before: str
    after: tuple[tuple[str, str], ...]
    todo: tuple[str, ...]
    changes: tuple[str, ...]
    fidelity: Fidelity
    reason: str | None
    sql: str

    @property
    def after_text(self) -> str:
        """The new fields and types as text; `nothing` if the field was removed."""
        return ", ".join(f"{name} {kind}" for name, kind in self.after) or "nothing"


@dataclass(frozen=True, slots=True)
class Guide:
    """What one consumer has to change."""

    subscription: Subscription
    effect: Effect
    before: Line
    after: Line | None
    fields: tuple[GuideField, ...]
    unchanged: tuple[str, ...]
    not_there: tuple[str, ...]
    also: tuple[str, ...]
    examples: tuple[Example, ...]
    by: date | None
    window: str | None
    owner: str | None
    link: str | None

    @property
    def consumer(self) -> str:
        """The name of the consumer."""
        return self.subscription.consumer

    def as_data(self) -> dict[str, Any]:
        """Return the guide as plain data for JSON output."""
        return {
            "consumer": self.consumer,
            "class": self.subscription.consumer_class.value,
            "contact": self.subscription.contact,
            "effect": self.effect.value,
            "fields_known": self.subscription.fields_known,
            "before": str(self.before),
            "after": str(self.after) if self.after else None,
            "by": self.by.isoformat() if self.by else None,
            "window": self.window,
            "owner": self.owner,
            "guide": self.link,
            "fields": [
                {
                    "before": field.before,
                    "type_before": field.type_before,
                    "after": [{"field": name, "type": kind} for name, kind in field.after],
                    "todo": list(field.todo),
                    "changes": list(field.changes),
                    "fidelity": field.fidelity.value,
                    "reason": field.reason,
                    "sql": field.sql,
                }
                for field in self.fields
            ],
            "unchanged": list(self.unchanged),
            "not_there": list(self.not_there),
            "also": list(self.also),
            "examples": [
                {
                    "sql": {"before": one.sql_before, "after": one.sql_after},
                    "pyspark": {"before": one.pyspark_before, "after": one.pyspark_after},
                }
                for one in self.examples
            ],
        }


def line_of(contract: Contract) -> Line | None:
    """Return the line of a contract, or None if its version is not MAJOR.MINOR.PATCH."""
    version = contract.semantic_version
    return Line(contract.id, version.major) if version else None


def line_table(contract: Contract, schema_object: SchemaObject) -> tuple[str, ...]:
    """Return the table name of an object in the namespace of its line."""
    line = line_of(contract)
    name = schema_object.physical_name or schema_object.name
    return (line.namespace, name) if line else (name,)


def example(path: MigrationPath, object_path: ObjectPath, fields: Collection[FieldPath]) -> Example | None:
    """Return the query for some fields before and after; removed fields are left out of the new one."""
    columns = shim_for_fields(path, object_path, fields).steps
    if not columns:
        return None
    old, new = line_table(path.before, object_path.before), line_table(path.after, object_path.after)
    names = [quote_column(stored_name(step.field)) for step in columns]
    made = [
        step.sql if step.sql == name else f"{step.sql} AS {name}"
        for step, name in zip(columns, names, strict=True)
        if step.fidelity is not Fidelity.IMPOSSIBLE or step.inside
    ]
    return Example(_select(names, old), _select(made, new), _frame(names, old), _frame(made, new))


def _select(columns: Sequence[str], table: Sequence[str]) -> str:
    listed = ",\n".join(f"  {column}" for column in columns) or "  1 -- no fields left to read"
    return f"SELECT\n{listed}\nFROM {table_sql(table)}"


def _frame(columns: Sequence[str], table: Sequence[str]) -> str:
    listed = "".join(f"    {column!r},\n" for column in columns) or "    '1',  # no fields left to read\n"
    return f"spark.table({table_sql(table)!r}).selectExpr(\n{listed})"
