"""What a step has at hand: the tables, the contracts, the run, and what its inputs have that is new."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from treaty.contracts import Contract
from treaty.pipeline.plan.reasons import REBUILT
from treaty.pipeline.plan.steps import Key, Mode, Step
from treaty.pipeline.project.declarations import Declared, Line, Project
from treaty.pipeline.run.summary import Counts, Outcome, StepSummary
from treaty.pipeline.tables import NewStamp, Stamp, Tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Moment(StrEnum):
    """The boundaries of a step; between two of them lies the work."""

    STARTED = "started"
    STAGED = "staged"
    WRITTEN = "written"
    AUDITED = "audited"
    PUBLISHED = "published"
    ENDED = "ended"


@dataclass(frozen=True)
class Happening:
    """A step that crosses a boundary, as one of so many."""

    step: str
    layer: str
    moment: Moment
    number: int
    of: int
    words: str = ""


Teller: TypeAlias = Callable[[Happening], None]


def nobody(happening: Happening) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Run:
    """One run of a project."""

    number: int
    now: datetime
    project: Project
    contracts: Mapping[Line, Contract]
    tables: Tables
    tell: Teller = nobody
    jdbc_password: str | None = field(default=None, repr=False)
    secret: str | None = field(default=None, repr=False)
    """What hashes are salted with."""
    stamps: dict[str, Stamp | None] = field(default_factory=dict)
    """What readers see of tables, as far as it was looked up; nobody else publishes during a run."""

    def stamp(self, table: str) -> Stamp | None:
        """Return the stamp of what readers see of a table."""
        if table not in self.stamps:
            self.stamps[table] = self.tables.stamp(table)
        return self.stamps[table]

    @property
    def spark(self) -> SparkSession:
        """The session that works."""
        return self.tables.spark

    def contract(self, declared: Declared) -> Contract:
        """Return the contract of a declaration."""
        return self.contracts[declared.line]


@dataclass(frozen=True)
class Work:
    """One step of a run, as one of so many."""

    run: Run
    step: Step
    tables_of: Mapping[str, str]
    """The tables of what is declared, by name."""
    is_forced: bool = False
    """Whether it is built anew whatever the tables say."""
    number: int = 1
    of: int = 1

    @property
    def table(self) -> str:
        """The table that the step fills."""
        return self.step.table

    @property
    def contract(self) -> Contract:
        """The contract that its rows are held to."""
        return self.step.contract

    @property
    def key(self) -> Key | None:
        """By what the step is computed key by key, if it can be."""
        return self.step.key if self.step.mode is Mode.KEYED else None

    def tell(self, moment: Moment, words: str = "") -> None:
        """Say that the step crosses a boundary."""
        self.run.tell(Happening(self.step.name, self.step.layer, moment, self.number, self.of, words))

    def stamp(self, reflects: Mapping[str, int], extra: Mapping[str, str]) -> NewStamp:
        """Return the stamp for what the step is about to publish."""
        contract = f"{self.contract.id} {self.contract.version}"
        return NewStamp(self.run.number, reflects, contract, self.step.digest, {}, extra)

    def ended(self, outcome: Outcome, counts: Counts | None = None, **more: Any) -> StepSummary:
        """Return the summary of the step."""
        summary = StepSummary(self.step.name, self.step.layer, outcome, table=self.table, counts=counts or Counts())
        return replace(summary, contract=self.contract.id, **more)


@dataclass(frozen=True)
class News:
    """What is new for a step: its inputs as they are pinned, and what it reflects already."""

    before: Stamp | None
    inputs: Mapping[str, Stamp]
    is_whole: bool
    """Whether everything is computed anew."""
    why: str

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to do."""
        return not self.why

    @property
    def mode(self) -> str:
        """How the step is computed, in words."""
        return "whole" if self.is_whole else "new"

    def since(self, table: str) -> int:
        """Return the run of an input that is reflected already."""
        return -1 if self.before is None or self.is_whole else self.before.reflects.get(table, -1)

    @property
    def reflects(self) -> dict[str, int]:
        """Return what will be reflected once the step is published."""
        return {table: stamp.run for table, stamp in self.inputs.items()}

    def noted(self, run: int) -> dict[str, str]:
        """Return what the stamp says of the last rebuild."""
        last = str(run) if self.is_whole else (self.before.extra.get(REBUILT, "") if self.before else "")
        return {REBUILT: last} if last else {}


def news(work: Work, before: Stamp | None = None, besides: tuple[str, ...] = ()) -> News:
    """Look at what a step's inputs have published since it last ran; `besides` are inputs that need not be there."""
    run, step = work.run, work.step
    before = before or run.stamp(work.table)
    found = {table: stamp for table in (*step.reads, *besides) if (stamp := run.stamp(table)) is not None}
    if before is None:
        return News(before, found, is_whole=True, why="never built")
    if work.is_forced:
        return News(before, found, is_whole=True, why="asked for")
    if changed := step.parts.changed_since(before.digest):
        return News(before, found, is_whole=True, why=f"changed {', '.join(changed)}")
    newer = [table for table, stamp in found.items() if stamp.run > before.reflects.get(table, -1)]
    if not newer:
        return News(before, found, is_whole=False, why="")
    rebuilt = [table for table in newer if int(found[table].extra.get(REBUILT) or -1) > before.reflects.get(table, -1)]
    by_key = set(step.key.inputs) | set(besides) if step.key else set(newer)
    whole = bool(rebuilt) or step.mode is Mode.FULL or not set(newer) <= by_key
    why = f"{rebuilt[0]} was built anew" if rebuilt else f"new in {', '.join(newer)}"
    return News(before, found, is_whole=whole, why=why)
