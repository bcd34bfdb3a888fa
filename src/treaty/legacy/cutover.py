"""Cut-over of the consumers of a legacy feed: states, steps, and the gate that a feed declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

from treaty.contracts.values import EMPTY

MAX_CLEAN_RUNS = 100
_CENT = Decimal("0.01")


class CutoverState(StrEnum):
    """How far a consumer is on its way from a legacy feed to the publication that replaces it."""

    LEGACY = "legacy"  # no parallel run has been recorded
    PARALLEL = "parallel"
    READY = "ready"  # the gate is open
    CUT_OVER = "cut_over"
    RETIRED = "retired"  # the feed is retired

    @property
    def has_left(self) -> bool:
        """Whether the consumer no longer reads the legacy feed."""
        return self in (CutoverState.CUT_OVER, CutoverState.RETIRED)


class Step(StrEnum):
    """What people do with a consumer of a feed."""

    ACKNOWLEDGE = "acknowledge"  # by the consumer
    APPROVE = "approve"  # by the owner of a critical consumer
    CUT_OVER = "cut_over"
    ROLL_BACK = "roll_back"
    RETIRE = "retire"


TRANSITIONS: Mapping[tuple[CutoverState, Step], CutoverState] = {
    (CutoverState.LEGACY, Step.ACKNOWLEDGE): CutoverState.LEGACY,
    (CutoverState.PARALLEL, Step.ACKNOWLEDGE): CutoverState.PARALLEL,
    (CutoverState.READY, Step.ACKNOWLEDGE): CutoverState.READY,
    (CutoverState.LEGACY, Step.APPROVE): CutoverState.LEGACY,
    (CutoverState.PARALLEL, Step.APPROVE): CutoverState.PARALLEL,
    (CutoverState.READY, Step.APPROVE): CutoverState.READY,
    (CutoverState.READY, Step.CUT_OVER): CutoverState.CUT_OVER,
    (CutoverState.CUT_OVER, Step.ROLL_BACK): CutoverState.PARALLEL,
    (CutoverState.CUT_OVER, Step.RETIRE): CutoverState.RETIRED,
}
"""The state after a step, for every step that is possible. Runs and decisions about findings alone lead from `legacy`
to `parallel`, to `ready`, and back."""


@dataclass(frozen=True, slots=True)
class Gate:
    """What a feed requires before a consumer may leave it."""

    clean_runs: int = 3
    """How many of the newest parallel runs must be clean."""
    absolute: float = 0.0
    """How far the sums of money may differ, beyond what decided findings explain: by a number …"""
    relative: float = 0.0
    """… or by a share of the legacy sum."""


DEFAULT_GATE = Gate()


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What the gate needs to know of a parallel run."""

    as_of: date
    recorded_at: datetime
    undisposed: int = 0
    defects_in_new: int = 0
    legacy_sums: Mapping[str, Decimal] = EMPTY
    new_sums: Mapping[str, Decimal] = EMPTY
    explained: Mapping[str, Decimal] = EMPTY
    """By money column: the sum of new minus legacy of the findings that are decided, defects in new excepted."""
    findings: int = 0


@dataclass(frozen=True, slots=True)
class StepTaken:
    """A step of a consumer, by whom and when."""

    step: Step
    at: datetime
    by: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ConsumerFacts:
    """What is known of a consumer of a feed."""

    name: str
    is_critical: bool
    is_subscribed: bool
    """Whether it is subscribed to the publication."""
    steps: tuple[StepTaken, ...] = ()
    """In the order in which they were taken."""
    last_legacy_read: datetime | None = None
    """When a scan or a lineage event last showed a read of the legacy feed."""


@dataclass(frozen=True, slots=True)
class Cutover:
    """The state of a consumer, with what is missing for the next step."""

    state: CutoverState
    reasons: tuple[str, ...] = ()
    """Why it may not cut over yet; after the cut-over: why the feed cannot be retired because of it."""
    clean_runs: int = 0
    """The number of clean runs in a row, the newest last, since the consumer began or was rolled back."""
    acknowledged: StepTaken | None = None
    approved: StepTaken | None = None
    since: datetime | None = None
    """When it cut over, or was rolled back."""


def judge_run(run: RunFigures, gate: Gate) -> tuple[str, ...]:
    """Return why a run is not clean; nothing if it is."""
    reasons = []
    if run.undisposed:
        reasons.append(f"{_count(run.undisposed, 'finding')} undecided")
    if run.defects_in_new:
        reasons.append(f"{_count(run.defects_in_new, 'defect')} in new, not fixed yet")
    for name, legacy in run.legacy_sums.items():
        new = run.new_sums.get(name, Decimal(0))
        unexplained = abs(new - legacy - run.explained.get(name, Decimal(0)))
        allowed = max(Decimal(str(gate.absolute)), Decimal(str(gate.relative)) * abs(legacy))
        if unexplained > allowed + _CENT * (run.findings + 1):  # sums are rounded to cents
            beyond = f"{unexplained:,.2f} beyond what decided findings explain"
            reasons.append(f"{name} differs by {beyond}; {allowed:,.2f} is allowed")
    return tuple(reasons)


def judge_cutover(consumer: ConsumerFacts, runs: Iterable[RunFigures], gate: Gate, line: str) -> Cutover:
    """Return the state of a consumer by its steps, and by the runs of the feed.

    After a rollback only later runs and acknowledgements count.
    """
    steps = _since_rollback(consumer.steps)
    start = next((taken.at for taken in steps if taken.step is Step.ROLL_BACK), None)
    acknowledged, approved = _last(steps, Step.ACKNOWLEDGE), _last(steps, Step.APPROVE)
    counted = sorted((run for run in runs if start is None or run.recorded_at > start), key=lambda run: run.as_of)
    clean = _clean_in_row(counted, gate)
    cut_over, retired = _last(steps, Step.CUT_OVER), _last(steps, Step.RETIRE)
    if cut_over is not None:
        state = CutoverState.CUT_OVER if retired is None else CutoverState.RETIRED
        reasons = _reasons_against_retirement(consumer, cut_over.at) if retired is None else ()
        return Cutover(state, reasons, clean, acknowledged, approved, cut_over.at)
    reasons = (
        *_reasons_of_runs(counted, clean, gate),
        *_reasons_of_people(consumer, acknowledged, approved, line),
    )
    has_runs = bool(counted) or start is not None
    state = (CutoverState.PARALLEL if has_runs else CutoverState.LEGACY) if reasons else CutoverState.READY
    return Cutover(state, reasons, clean, acknowledged, approved, start)


def state_after(state: CutoverState, step: Step) -> CutoverState | None:
    """Return the state after a step; None if the step is not possible."""
    return TRANSITIONS.get((state, step))


def reasons_against_retiring(cutovers: Mapping[str, Cutover]) -> tuple[str, ...]:
    """Return why a feed cannot be retired: consumers that have not left, or that were seen reading it since."""
    reasons = [
        f"{name} has not cut over; its state is {cutover.state.replace('_', ' ')}"
        for name, cutover in cutovers.items()
        if not cutover.state.has_left
    ]
    for cutover in cutovers.values():
        if cutover.state.has_left:
            reasons += cutover.reasons
    return tuple(reasons)


def reads_feed(source: str, names: Iterable[str]) -> bool:
    """Return whether a table is the feed by its name: one of the names, with or without a catalog or schema before."""
    parts = source.lower().split(".")
    for name in names:
        wanted = name.lower().split(".")
        if parts == wanted or (len(parts) > len(wanted) and parts[-len(wanted) :] == wanted):
            return True
        if len(wanted) > 2 and parts == wanted[-2:]:
            return True
    return False


def _since_rollback(steps: Sequence[StepTaken]) -> Sequence[StepTaken]:
    """Return the steps since the last rollback, which is the first of them."""
    places = [place for place, taken in enumerate(steps) if taken.step is Step.ROLL_BACK]
    return steps[places[-1] :] if places else steps


def _last(steps: Sequence[StepTaken], step: Step) -> StepTaken | None:
    return next((taken for taken in reversed(steps) if taken.step is step), None)


def _clean_in_row(runs: Sequence[RunFigures], gate: Gate) -> int:
    count = 0
    for run in reversed(runs):
        if judge_run(run, gate):
            break
        count += 1
    return count


def _reasons_of_runs(runs: Sequence[RunFigures], clean: int, gate: Gate) -> tuple[str, ...]:
    if clean >= gate.clean_runs:
        return ()
    missing = gate.clean_runs - clean
    needed = f"{clean} of {_count(gate.clean_runs, 'clean run')} in a row; {missing} more needed"
    failed = [run for run in runs if judge_run(run, gate)]
    if not failed:
        return (needed,)
    return (needed, f"the run up to {failed[-1].as_of} is not clean: {'; '.join(judge_run(failed[-1], gate))}")


def _reasons_of_people(
    consumer: ConsumerFacts, acknowledged: StepTaken | None, approved: StepTaken | None, line: str
) -> tuple[str, ...]:
    reasons = []
    if not consumer.is_subscribed:
        reasons.append(f"{consumer.name} is not subscribed to {line}")
    if acknowledged is None:
        reasons.append(f"{consumer.name} has not acknowledged the cut-over")
    if consumer.is_critical and approved is None:
        reasons.append(f"{consumer.name} is critical, and its owner has not approved the cut-over")
    return tuple(reasons)


def _reasons_against_retirement(consumer: ConsumerFacts, cut_over_at: datetime) -> tuple[str, ...]:
    last = consumer.last_legacy_read
    if last is None or last <= cut_over_at:
        return ()
    return (f"{consumer.name} was seen reading the legacy feed on {last:%Y-%m-%d}, after its cut-over",)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
