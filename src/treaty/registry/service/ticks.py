"""Ticks: what is due on a day, as a list and as notices. The status itself follows from the dates, without a tick."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby
from typing import Any

from treaty.governance.lifecycle import Status
from treaty.registry.access.actors import CALENDAR
from treaty.registry.access.permissions import Action, authorize
from treaty.registry.model import StepAnswer
from treaty.registry.rules import RegistryRules
from treaty.registry.service import governance, incident_evaluation, migration_start
from treaty.registry.service.context import EVERYTHING, Context
from treaty.registry.service.lifecycle import days_from, periods_of, record_step
from treaty.registry.service.lifecycle_notices import notify_of_step
from treaty.registry.store import Connection, governance_records, migration_records, subscriptions, versions
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import StoredVersion
from treaty.registry.store.visibility import Visibility

_MAX_WAIVERS = 1_000


def tick(context: Context) -> list[StepAnswer]:
    """Record and announce everything that is due, in batches: steps of versions, reminders, waivers and incidents."""
    authorize(context.actor, Action.TICK, EVERYTHING)
    steps: list[StepAnswer] = []
    while _is_due(context):
        steps += context.write(lambda transaction: announce_steps(transaction, context.rules))
        steps += context.write(lambda transaction: migration_start.remind(transaction, context.rules))
        steps += context.write(governance.end_waivers)
    while _has_incidents_due(context) and context.write(
        lambda transaction: incident_evaluation.sweep(transaction, context.rules)
    ):
        pass
    return steps


def due(context: Context) -> list[StepAnswer]:
    """Return what a tick would announce and the actor may read, without announcing it."""

    def find(connection: Connection, visibility: Visibility) -> list[StepAnswer]:
        steps = upcoming_steps(connection, context.today)
        steps += migration_start.due_reminders(connection, visibility, context.rules, context.today)
        ended = governance_records.waivers_to_end(connection, context.today, _MAX_WAIVERS)
        steps += [governance.waiver_step(waiver) for waiver in ended]
        return [step for step in steps if visibility.sees(step.contract)]

    return context.read(find, Action.TICK)


def _is_due(context: Context) -> bool:
    with context.database.read() as connection:
        return bool(
            versions.versions_due(connection, context.today, limit=1)
            or migration_records.due(connection, context.today, limit=1)
            or governance_records.waivers_to_end(connection, context.today, limit=1)
        )


def _has_incidents_due(context: Context) -> bool:
    with context.database.read() as connection:
        return incident_evaluation.is_due(connection, context.rules, context.now)


@dataclass(frozen=True, slots=True)
class DueStep:
    """A step that a version has taken by date and that was not announced yet."""

    version: StoredVersion
    before: Status
    after: Status
    reason: str

    @property
    def answer(self) -> StepAnswer:
        """The API model of the step."""
        return StepAnswer(
            contract=self.version.contract,
            version=self.version.version,
            before=self.before.value,
            after=self.after.value,
            reason=self.reason,
        )


def due_steps(version: StoredVersion) -> Iterator[DueStep]:
    """Return the steps between the status that was recorded last and the status of the day."""
    if version.recorded_status is Status.ACTIVE and version.status is not Status.ACTIVE:
        start = version.announced_on
        expired = version.expires_on is not None and (start is None or version.expires_on <= start)
        reason = f"expired on {version.expires_on}" if expired else "the day its document announced"
        yield DueStep(version, Status.ACTIVE, Status.DEPRECATED, reason)
    if version.status is Status.SUNSET and version.recorded_status is not Status.SUNSET:
        yield DueStep(version, Status.DEPRECATED, Status.SUNSET, "its sunset was due")


def upcoming_steps(connection: Connection, today: date, limit: int = 10_000) -> list[StepAnswer]:
    """Return the steps that a tick on the day of the connection would announce, without taking them."""
    waiting = versions.versions_due(connection, today, limit=limit)
    return [step.answer for version in waiting for step in due_steps(version)]


def announce_steps(transaction: Transaction, rules: RegistryRules, limit: int = 500) -> list[StepAnswer]:
    """Record and announce the steps of a batch of versions; an empty result means that none is left.

    Consumers of a line receive one notice, also where several of its versions took the step.
    """
    today = transaction.now.date()
    answers: list[StepAnswer] = []
    waiting = versions.versions_due(transaction.connection, today, limit=limit)
    for _, members in groupby(_by_line(waiting), key=lambda version: (version.line, version.status)):
        answers += _announce_line(transaction, rules, list(members), today)
    return answers


def _by_line(waiting: Iterable[StoredVersion]) -> list[StoredVersion]:
    return sorted(waiting, key=lambda version: (str(version.line), version.status, version.minor, version.patch))


def _announce_line(
    transaction: Transaction, rules: RegistryRules, members: list[StoredVersion], today: date
) -> Iterator[StepAnswer]:
    after: list[StoredVersion] = []
    for version in members:
        values = _days(transaction.connection, rules, version, today)
        current = version
        for step in due_steps(version):
            before = replace(current, status=step.before)
            current = record_step(transaction, CALENDAR, before, step.after, step.reason, **values)
            yield step.answer
        after.append(current)
    *_, last = due_steps(members[-1])
    notify_of_step(transaction, after, last.before, last.reason if last.reason.startswith("expired") else "")


def _days(connection: Connection, rules: RegistryRules, version: StoredVersion, today: date) -> dict[str, Any]:
    """Return the days that a late notice moves, so that consumers have the full period after it."""
    if not subscriptions.subscribers(connection, version.line) and version.sunset_on is not None:
        return {}
    if version.status is Status.SUNSET and version.retire_on is not None:
        return {"retire_on": max(version.retire_on, today + rules.periods.sunset)}
    if version.status is Status.DEPRECATED and version.announced_on in (None, version.expires_on):
        own = periods_of(connection, rules, version, today)
        sunset = max(version.sunset_on or today, today + own.deprecation)
        return dict(days_from(own, version.expires_on or today, sunset))
    return {}
