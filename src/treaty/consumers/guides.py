"""Guides: for each consumer of a line, the way over to the next, with only the fields it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from treaty.compatibility import Verdict, diff, judge
from treaty.compatibility.migration.path import Fidelity, MigrationPath, Step
from treaty.consumers.guide import Guide, GuideField
from treaty.consumers.guide_examples import example, line_of
from treaty.consumers.impact import URGENCY, BreakingChanges
from treaty.consumers.subscriptions import Subscription
from treaty.contracts.locating import locate_fields
from treaty.contracts.model import Field
from treaty.contracts.paths import FieldPath, parse_path


def guides(
    path: MigrationPath, subscriptions: Iterable[Subscription], by: date | None = None, verdict: Verdict | None = None
) -> tuple[Guide, ...]:
    """Write a guide for each subscription, those who must act first; `by` is the day the old line ends."""
    judged = verdict or judge(diff(path.before, path.after))
    changes = BreakingChanges(judged)
    made = [_Writing(path, changes, by).guide(subscription) for subscription in subscriptions]
    return tuple(sorted(made, key=lambda one: (URGENCY[one.effect], one.consumer)))


class _Writing:
    """Writes the guides of one path."""

    def __init__(self, path: MigrationPath, changes: BreakingChanges, by: date | None) -> None:
        self.path = path
        self.changes = changes
        self.by = by
        self.after: Mapping[FieldPath, Field] = {at: field for at, field, _ in locate_fields(path.after)}

    def guide(self, subscription: Subscription) -> Guide:
        """Write the guide of one subscription."""
        effect, _ = self.changes.effect_on(subscription.fields)
        leaves = [(item, step) for item in self.path.objects for step in _leaves(item.back.walk())]
        read = [(item, step) for item, step in leaves if _is_read(step, subscription.fields)]
        fields = [self._field(step) for _, step in read]
        plan = self.path.after.treaty.migration
        examples = [
            found
            for item in self.path.objects
            if (found := example(self.path, item, [step.target for owner, step in read if owner is item])) is not None
        ]
        known = [step.target for _, step in leaves]
        return Guide(
            subscription,
            effect,
            subscription.line,
            line_of(self.path.after),
            tuple(one for one in fields if one.todo),
            tuple(one.before for one in fields if not one.todo),
            tuple(str(one) for one in subscription.fields if not any(_touch(one, path) for path in known)),
            tuple(item.message for item in self.changes.all if item.change.field is None),
            tuple(examples),
            self.by,
            plan.window if plan else None,
            plan.owner if plan else None,
            plan.guide if plan else None,
        )

    def _field(self, step: Step) -> GuideField:
        changes = tuple(item.message for item in self.changes.all if self._concerns(item.change.field, step.target))
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
        """Say what to do about a field; nothing where it is as it was."""
        if step.declared is not None:
            yield f"make it from {', '.join(map(str, step.sources)) or 'the new fields'} as in the example"
        elif not step.sources and step.fidelity is Fidelity.IMPOSSIBLE:
            yield "it is gone: stop reading it"
        elif not step.sources:
            yield f"it is gone: stop reading it; the view serves {step.sql}"
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
            yield f"expect {after}, not {before}"
        elif not step.is_kept:
            yield "translate its values as in the example"
        elif step.reasons or (changes and not moved):
            yield f"mind that {'; '.join(changes) or step.reason}"


def _leaves(steps: Iterable[Step]) -> Iterator[Step]:
    return (step for step in steps if not step.inside)


def _is_read(step: Step, fields: tuple[FieldPath, ...]) -> bool:
    return not fields or any(_touch(field, step.target) for field in fields)


def _touch(field: FieldPath, target: FieldPath) -> bool:
    return field.covers(target) or target.covers(field)


def _type(field: Field) -> str:
    return str(field.type) if field.type else "untyped"
