"""Why a step would run, and how much it would compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from treaty.pipeline.plan.steps import Layer, Mode, Part, Step
from treaty.pipeline.project.declarations import Form, Publication

if TYPE_CHECKING:
    from treaty.pipeline.tables import Stamp


REBUILT = "rebuilt"
"""What a stamp says of the last run that wrote the table anew."""


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
    LOOK = "look"


_CHANGED = {
    Part.DECLARATION: Cause.DECLARATION,
    Part.SQL: Cause.SQL,
    Part.CONTRACT: Cause.CONTRACT,
    Part.EDITION: Cause.EDITION,
}
_REBUILDING = frozenset({Cause.NEVER_BUILT, *_CHANGED.values()})


@dataclass(frozen=True)
class Why:
    """One reason for a step to run, in words."""

    cause: Cause
    words: str


@dataclass(frozen=True)
class Planned:
    """A step, why it would run, and how much it would compute; without a reason it would not."""

    step: Step
    whys: tuple[Why, ...]
    mode: Mode

    @property
    def would_run(self) -> bool:
        """Whether there is anything to do, as far as is known."""
        return bool(self.whys)

    @property
    def is_known(self) -> bool:
        """Whether somebody looked."""
        return all(why.cause is not Cause.LOOK for why in self.whys)


def planned(
    step: Step,
    states: Mapping[str, Stamp | None] | None,
    arriving: Mapping[str, str | None] | None,
    running: Sequence[str],
) -> Planned:
    """Return what is to do for a step; `running` are the tables whose steps run before it.

    `arriving` says by source what is new in it, None for nothing; without it, or without states, nobody has looked.
    """
    if states is None:
        return Planned(step, (Why(Cause.LOOK, "its table was not looked at"),), step.mode)
    stamp = states.get(step.table)
    if step.layer is Layer.RAW:
        return Planned(step, _arriving(step, stamp, arriving), Mode.APPEND)
    whys = (*_changes(step, stamp), *_news(step, stamp, states, running))
    rebuilt = any(why.cause in _REBUILDING for why in whys)
    return Planned(step, whys, Mode.FULL if rebuilt or _touches_all(step, stamp, states, running) else step.mode)


def _arriving(step: Step, stamp: Stamp | None, arriving: Mapping[str, str | None] | None) -> tuple[Why, ...]:
    if arriving is None:
        return (Why(Cause.LOOK, "its source is looked at for what is new"),)
    words = arriving.get(step.name)
    if words:
        return (Why(Cause.NEW_DATA, words),)
    return (Why(Cause.NEVER_BUILT, "it was never built"),) if stamp is None else ()


def _changes(step: Step, stamp: Stamp | None) -> list[Why]:
    if stamp is None:
        return [Why(Cause.NEVER_BUILT, "it was never built")]
    causes = [_CHANGED[part] for part in step.parts.changed_since(stamp.digest)]
    return [Why(cause, _words(cause, step, stamp)) for cause in causes]


def _words(cause: Cause, step: Step, stamp: Stamp) -> str:
    if cause is Cause.CONTRACT:
        now = f"{step.contract.id} {step.contract.version}"
        return f"contract {stamp.contract} became {now}" if stamp.contract != now else f"contract {now} changed"
    return {Cause.SQL: "its SQL changed", Cause.DECLARATION: "its declaration changed"}.get(
        cause, "it was built by another version of Treaty"
    )


def _news(step: Step, stamp: Stamp | None, states: Mapping[str, Stamp | None], running: Sequence[str]) -> list[Why]:
    if _is_view(step) or stamp is None:
        return []
    found = []
    for table in step.reads:
        state = states.get(table)
        if state is not None and _is_newer(state, stamp, table):
            found.append(Why(Cause.NEW_DATA, f"{table} has new rows"))
        elif table in running:
            found.append(Why(Cause.UPSTREAM, f"{table} comes before it and has something to do"))
    if isinstance(step.declared, Publication) and step.declared.delay is not None and not found:
        found.append(Why(Cause.TIME, "rows may have come due"))
    return found


def _touches_all(step: Step, stamp: Stamp | None, states: Mapping[str, Stamp | None], running: Sequence[str]) -> bool:
    """Tell whether something changes that is not known key by key: an enrichment, or an input that was built anew."""
    if stamp is None:
        return False
    news = {table: state for table in step.reads if (state := states.get(table)) and _is_newer(state, stamp, table)}
    if any(int(state.extra.get(REBUILT) or -1) > stamp.reflects.get(table, -1) for table, state in news.items()):
        return True
    others = [table for table in step.reads if step.key is not None and table not in step.key.inputs]
    return any(table in running or table in news for table in others)


def _is_newer(state: Stamp, stamp: Stamp, table: str) -> bool:
    return state.run > stamp.reflects.get(table, -1)


def _is_view(step: Step) -> bool:
    return isinstance(step.declared, Publication) and step.declared.form is Form.VIEW
