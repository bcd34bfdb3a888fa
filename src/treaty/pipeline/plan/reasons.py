"""Reasons for a step to run, and how much of it would be computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from treaty.pipeline.plan.steps import DigestPart, Mode, Step
from treaty.pipeline.project.declarations import Form, Layer, Publication

if TYPE_CHECKING:
    from treaty.pipeline.tables import Stamp


REBUILT = "rebuilt"
"""The key in a stamp of the last run that rebuilt the table in full."""
VISIBLE_AT = "visible_at"
"""The key in a stamp of the time, in microseconds since 1970, when a delayed row becomes visible; "" if none does."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Cause(StrEnum):
    """What makes a step run."""

    NEVER_BUILT = "never built"
    DECLARATION = "changed declaration"
    SQL = "changed SQL"
    CONTRACT = "changed contract"
    EDITION = "new version of Treaty"
    NEW_DATA = "new data"
    UPSTREAM = "upstream"
    TIME = "time"
    NOT_CHECKED = "look"


_CHANGED = {
    DigestPart.DECLARATION: Cause.DECLARATION,
    DigestPart.SQL: Cause.SQL,
    DigestPart.CONTRACT: Cause.CONTRACT,
    DigestPart.EDITION: Cause.EDITION,
}
_REBUILDING = frozenset({Cause.NEVER_BUILT, *_CHANGED.values()})


@dataclass(frozen=True)
class Reason:
    """A reason for a step to run."""

    cause: Cause
    text: str


@dataclass(frozen=True)
class PlannedStep:
    """A step with the reasons to run it and how it would be computed; without a reason it would not run."""

    step: Step
    reasons: tuple[Reason, ...]
    mode: Mode

    @property
    def would_run(self) -> bool:
        """Whether there is a reason to run the step."""
        return bool(self.reasons)

    @property
    def is_known(self) -> bool:
        """Whether the tables and sources were checked."""
        return all(reason.cause is not Cause.NOT_CHECKED for reason in self.reasons)


def plan_step(
    step: Step,
    states: Mapping[str, Stamp | None] | None,
    arriving: Mapping[str, str | None] | None,
    running: Sequence[str],
    now: datetime | None = None,
) -> PlannedStep:
    """Plan one step; `running` are the tables whose steps run before it.

    `arriving` describes what is new in each source, None for nothing. Without `arriving` or `states` it is not known
    whether the step would run.
    """
    if states is None:
        return PlannedStep(step, (Reason(Cause.NOT_CHECKED, "its table was not checked"),), step.mode)
    stamp = states.get(step.table)
    if step.layer is Layer.RAW:
        return PlannedStep(step, _arrival_reasons(step, stamp, arriving), Mode.APPEND)
    reasons = (*_definition_changes(step, stamp), *_new_data(step, stamp, states, running, now))
    rebuilt = any(reason.cause in _REBUILDING for reason in reasons)
    return PlannedStep(
        step, reasons, Mode.FULL if rebuilt or _affects_all_keys(step, stamp, states, running) else step.mode
    )


def _arrival_reasons(step: Step, stamp: Stamp | None, arriving: Mapping[str, str | None] | None) -> tuple[Reason, ...]:
    if arriving is None:
        return (Reason(Cause.NOT_CHECKED, "its source was not checked for new data"),)
    text = arriving.get(step.name)
    if text:
        return (Reason(Cause.NEW_DATA, text),)
    return (Reason(Cause.NEVER_BUILT, "it was never built"),) if stamp is None else ()


def _definition_changes(step: Step, stamp: Stamp | None) -> list[Reason]:
    if stamp is None:
        return [Reason(Cause.NEVER_BUILT, "it was never built")]
    causes = [_CHANGED[part] for part in step.parts.changed_since(stamp.digest)]
    return [Reason(cause, _text(cause, step, stamp)) for cause in causes]


def _text(cause: Cause, step: Step, stamp: Stamp) -> str:
    if cause is Cause.CONTRACT:
        now = f"{step.contract.id} {step.contract.version}"
        return f"contract {stamp.contract} became {now}" if stamp.contract != now else f"contract {now} changed"
    return {Cause.SQL: "its SQL changed", Cause.DECLARATION: "its declaration changed"}.get(
        cause, "it was built by another version of Treaty"
    )


def _new_data(
    step: Step,
    stamp: Stamp | None,
    states: Mapping[str, Stamp | None],
    running: Sequence[str],
    now: datetime | None,
) -> list[Reason]:
    if stamp is None:
        return []
    reasons = []
    for table in step.reads:
        state = states.get(table)
        if state is not None and _is_newer(state, stamp, table):
            reasons.append(Reason(Cause.NEW_DATA, f"{table} has new rows"))
        elif table in running:
            reasons.append(Reason(Cause.UPSTREAM, f"{table} would change"))
    is_delayed = isinstance(step.declared, Publication) and step.declared.delay is not None and not _is_view(step)
    if is_delayed and not reasons and has_new_visible_rows(stamp, now):
        reasons.append(Reason(Cause.TIME, "delayed rows may have become visible"))
    return reasons


def has_new_visible_rows(stamp: Stamp, now: datetime | None) -> bool:
    """Tell whether delayed rows of a publication may have become visible since it was published."""
    next_at = stamp.extra.get(VISIBLE_AT)
    if next_at is None or now is None:  # a table of an earlier release has no such time
        return True
    return next_at != "" and _EPOCH + timedelta(microseconds=int(next_at)) <= now


def _affects_all_keys(
    step: Step, stamp: Stamp | None, states: Mapping[str, Stamp | None], running: Sequence[str]
) -> bool:
    """Tell whether all keys are affected: by an input without the key, or by an input that was rebuilt."""
    if stamp is None:
        return False
    newer = {table: state for table in step.reads if (state := states.get(table)) and _is_newer(state, stamp, table)}
    if any(int(state.extra.get(REBUILT) or -1) > stamp.reflects.get(table, -1) for table, state in newer.items()):
        return True
    others = [table for table in step.reads if step.key is not None and table not in step.key.inputs]
    return any(table in running or table in newer for table in others)


def _is_newer(state: Stamp, stamp: Stamp, table: str) -> bool:
    return state.run > stamp.reflects.get(table, -1)


def _is_view(step: Step) -> bool:
    return isinstance(step.declared, Publication) and step.declared.form is Form.VIEW
