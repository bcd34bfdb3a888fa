"""The context that a step runs in: the run it belongs to, its plan, and how it reports progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from treaty.contracts import Contract
from treaty.contracts.versions import Line
from treaty.errors import Unavailable
from treaty.pipeline.plan.steps import Key, Mode, Step
from treaty.pipeline.project.declarations import Declared, Project
from treaty.pipeline.run.summary import Counts, Outcome, StepSummary
from treaty.pipeline.sinks import SinkEnvironment
from treaty.pipeline.sources import Ledger
from treaty.pipeline.tables import NewStamp, Stamp, Tables
from treaty.tracing import current_span

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from treaty.pipeline.run.writer_schemas import SchemaResolver


class Phase(StrEnum):
    """The boundaries of a step, in the order in which it reports them."""

    STARTED = "started"
    STAGED = "staged"
    WRITTEN = "written"
    AUDITED = "audited"
    PUBLISHED = "published"
    ENDED = "ended"


@dataclass(frozen=True)
class StepProgress:
    """A phase that a step has reached; the step is `number` of `total`."""

    step: str
    layer: str
    phase: Phase
    number: int
    total: int
    detail: str = ""


ProgressListener: TypeAlias = Callable[[StepProgress], None]


def ignore_progress(progress: StepProgress) -> None:
    """Listen to progress and do nothing."""


@dataclass(frozen=True)
class Run:
    """One run of a project."""

    number: int
    now: datetime
    project: Project
    contracts: Mapping[Line, Contract]
    tables: Tables
    ledger: Ledger
    """The files of all sources that this run and earlier ones have seen."""
    on_progress: ProgressListener = ignore_progress
    jdbc_password: str | None = field(default=None, repr=False)
    hash_secret: str | None = field(default=None, repr=False)
    """The key of hashed fields: one secret, or several with ids."""
    sinks: SinkEnvironment = field(default_factory=SinkEnvironment)
    stamps: dict[str, Stamp | None] = field(default_factory=dict)
    """Published stamps by table, as far as they were read; the run lock keeps other runs from publishing meanwhile."""
    opened: float = field(default_factory=time.monotonic)
    schema_resolver: SchemaResolver | None = field(default=None, repr=False)

    def resolver(self) -> SchemaResolver:
        """Return what resolves the schema ids of topics."""
        if self.schema_resolver is None:
            raise Unavailable("this run has no schema registry, which the values of its topics need")
        return self.schema_resolver

    def clock(self) -> datetime:
        """Return the current time by the clock of the run, which started at `now`."""
        return self.now + timedelta(seconds=time.monotonic() - self.opened)

    def stamp(self, table: str) -> Stamp | None:
        """Return the stamp of the published state of a table."""
        if table not in self.stamps:
            self.stamps[table] = self.tables.stamp(table)
        return self.stamps[table]

    @property
    def spark(self) -> SparkSession:
        """The Spark session of the tables."""
        return self.tables.spark

    def contract(self, declared: Declared) -> Contract:
        """Return the contract of a declaration."""
        return self.contracts[declared.line]


@dataclass(frozen=True)
class StepContext:
    """One planned step within a run; it is step `number` of `total`."""

    run: Run
    step: Step
    tables_by_name: Mapping[str, str]
    """The table of each declaration, by the declaration's name."""
    is_rebuild: bool = False
    """Whether the user asked for a full rebuild."""
    number: int = 1
    total: int = 1

    @property
    def table(self) -> str:
        """The table that the step writes."""
        return self.step.table

    @property
    def contract(self) -> Contract:
        """The contract of the rows that the step writes."""
        return self.step.contract

    @property
    def key(self) -> Key | None:
        """The key by which the step is computed incrementally; None if it is not computed by key."""
        return self.step.key if self.step.mode is Mode.KEYED else None

    def report(self, phase: Phase, detail: str = "") -> None:
        """Report that the step has reached a phase."""
        current_span().add_event(phase)
        self.run.on_progress(StepProgress(self.step.name, self.step.layer, phase, self.number, self.total, detail))

    def new_stamp(self, reflects: Mapping[str, int], extra: Mapping[str, str]) -> NewStamp:
        """Return the stamp for the snapshot that the step is about to publish."""
        contract = f"{self.contract.id} {self.contract.version}"
        return NewStamp(self.run.number, reflects, contract, self.step.digest, {}, extra)

    def summary(self, outcome: Outcome, counts: Counts | None = None, **more: Any) -> StepSummary:
        """Return the summary of the step."""
        summary = StepSummary(self.step.name, self.step.layer, outcome, table=self.table, counts=counts or Counts())
        return replace(summary, contract=self.contract.id, line=self.contract.line or "", **more)
