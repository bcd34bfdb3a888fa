"""The life cycle of versions: activate, deprecate, sunset, retire, archive; by request or by date."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

from treaty.consumers.subscriptions import Subscription
from treaty.contracts.blocks import Deprecation
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument, Refused
from treaty.governance.inheritance import is_policy
from treaty.governance.lifecycle import Periods, Status, Timetable, check_step, due_status, line_status, timetable
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.model import StepAnswer
from treaty.registry.not_found import no_line
from treaty.registry.rules import RegistryRules
from treaty.registry.store import Connection, migration_records, subscriptions, versions
from treaty.registry.store.migration_records import ConsumerState, MigrationState, StoredConsumer
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import StoredVersion

SERVING = frozenset({Status.ACTIVE, Status.DEPRECATED, Status.SUNSET})
"""The statuses in which a version can be read."""

_MAX_URI_LENGTH = 2048
_CLOCK = "calendar"
_REASONS = {Status.DEPRECATED: "the day its document announced", Status.SUNSET: "its sunset was due"}


def status_of_line(members: list[StoredVersion]) -> Status:
    """Return the status of a line: that of its best version."""
    return line_status([version.status for version in members])


def activate(
    transaction: Transaction, actor: Actor, rules: RegistryRules, contract: str, version: str
) -> StoredVersion:
    """Activate a draft, or take back a deprecation."""
    before = _get_owned_version(transaction, actor, contract, version)
    if before.status is Status.ACTIVE:
        return before
    check_step(before.status, Status.ACTIVE, f"{contract} {version}")
    if before.status is Status.DRAFT and before.announced_on:  # counted from today, when consumers learn of it
        announced = max(before.announced_on, transaction.now.date())
        sunset = max(before.sunset_on or announced, announced + rules.periods.deprecation)
        days = _days(rules.periods, announced, sunset)
        return _step(transaction, actor.name, before, Status.ACTIVE, "activated", **days)
    cleared = {"deprecation_uri": None, "announced_on": None, "sunset_on": None, "retire_on": None}
    return _step(transaction, actor.name, before, Status.ACTIVE, "activated", **cleared)


def deprecate(
    transaction: Transaction,
    actor: Actor,
    rules: RegistryRules,
    contract: str,
    version: str,
    uri: str,
    sunset: date | None = None,
) -> StoredVersion:
    """Deprecate a version, with the address of the migration plan; consumers get at least the minimum period."""
    if not uri.strip() or len(uri) > _MAX_URI_LENGTH:
        raise InvalidDocument("deprecation_uri must not be blank, or longer than 2,048 characters; link the plan")
    before = _get_owned_version(transaction, actor, contract, version)
    if before.status is Status.DEPRECATED:
        _refuse_if_sooner(transaction, rules.periods, before, sunset)
        days = _days(rules.periods, before.announced_on or transaction.now.date(), sunset or before.sunset_on)
        reason = "deprecated again"
        return _step(transaction, actor.name, before, Status.DEPRECATED, reason, deprecation_uri=uri, **days)
    check_step(before.status, Status.DEPRECATED, f"{contract} {version}")
    days = _days(rules.periods, transaction.now.date(), sunset)
    return _step(transaction, actor.name, before, Status.DEPRECATED, "deprecated", deprecation_uri=uri, **days)


def _refuse_if_sooner(transaction: Transaction, periods: Periods, before: StoredVersion, sunset: date | None) -> None:
    """Refuse to move an announced sunset to less than the minimum period from now."""
    earliest = transaction.now.date() + periods.deprecation
    if sunset and before.sunset_on and sunset < min(before.sunset_on, earliest):
        raise Refused(f"the sunset was announced for {before.sunset_on}; use {earliest} or later")


def archive(
    transaction: Transaction, actor: Actor, contract: str, version: str, override: str | None = None
) -> StoredVersion:
    """Take a version out of use permanently; refused if consumers of the line would have no version left."""
    before = _get_owned_version(transaction, actor, contract, version)
    if before.status is Status.ARCHIVED:
        return before
    check_step(before.status, Status.ARCHIVED, f"{contract} {version}")
    _refuse_if_stranding(transaction, actor, before, "archived", override)
    return _step(transaction, actor.name, before, Status.ARCHIVED, override or "archived")


def retire(
    transaction: Transaction, actor: Actor, contract: str, version: str, override: str | None = None
) -> StoredVersion:
    """Retire a version whose retirement is due and that no consumer reads."""
    before = _get_owned_version(transaction, actor, contract, version)
    if before.status is Status.RETIRED:
        return before
    if override is None:
        obstacles = list(obstacles_to_retiring(transaction.connection, [before], transaction.now.date()))
        if obstacles:
            raise Refused(f"{contract} {version} cannot be retired: " + "; ".join(obstacles))
        check_step(before.status, Status.RETIRED, f"{contract} {version}")
    else:
        authorize(actor, Action.OVERRIDE, _resource(before), override)
        if before.status not in SERVING:
            check_step(before.status, Status.RETIRED, f"{contract} {version}")
    return _step(transaction, actor.name, before, Status.RETIRED, override or "retired")


def retire_line(transaction: Transaction, actor: Actor, line: Line, override: str | None = None) -> list[StoredVersion]:
    """Retire all versions of a line that are in use, in one transaction; a refusal names every obstacle."""
    leaving = step_line(transaction, line, SERVING | {Status.DRAFT})
    _authorize_step(transaction.connection, actor, leaving[0])
    obstacles = list(obstacles_to_retiring(transaction.connection, leaving, transaction.now.date()))
    if obstacles and override is None:
        raise Refused(f"{line} cannot be retired: " + "; ".join(obstacles))
    return [retire(transaction, actor, version.contract, version.version, override) for version in reversed(leaving)]


def step_line(transaction: Transaction, line: Line, of: frozenset[Status]) -> list[StoredVersion]:
    """Return the versions of a line with one of the given statuses; raise Refused if there is none."""
    members = versions.versions_in_line(transaction.connection, line)
    if not members:
        raise no_line(line)
    meant = [version for version in members if version.status in of]
    if not meant:
        raise Refused(f"{line} is {status_of_line(members)}; no version of it is {' or '.join(sorted(of))}")
    return meant


def tick(transaction: Transaction, rules: RegistryRules, limit: int = 500) -> list[StepAnswer]:
    """Advance a batch of versions whose date has come; an empty result means that none is left."""
    today = transaction.now.date()
    due = versions.versions_due(transaction.connection, today, limit=limit)
    return [step for version in due for step in _advance(transaction, rules.periods, version, today)]


def obstacles_to_retiring(connection: Connection, members: list[StoredVersion], today: date) -> Iterator[str]:
    """Return the obstacles to retiring versions of a line: status, dates, and consumers."""
    for version in members:
        name = f"{version.contract} {version.version}"
        if due := _due(version, today):
            step, since = due
            yield f"{name} is {version.status}; its {step} was due on {since}: treaty admin tick"
        elif version.status in (Status.DRAFT, Status.ACTIVE):
            yield f"{name} is {version.status}; deprecate it first"
        elif version.status is Status.DEPRECATED:
            yield f"{name} is deprecated until its sunset on {version.sunset_on}"
        elif version.status is Status.SUNSET and version.retire_on and today < version.retire_on:
            yield f"{name} is in sunset and may be retired on {version.retire_on}, not on {today}"
    excused = waived(connection, members[0].line, today)
    for left in stranded(connection, members):
        if left.consumer not in excused:
            yield f"{left.consumer} still reads {members[0].line}"
    for line in stranded_lines(connection, members):
        yield f"{line} is made from {members[0].line}"


def waived(connection: Connection, line: Line, today: date) -> dict[str, StoredConsumer]:
    """Return the consumers that are waived in a migration from a line."""
    result: dict[str, StoredConsumer] = {}
    for migration in migration_records.live_from(connection, line):
        for name, row in migration_records.consumers_of(connection, migration.id).items():
            if row.state is ConsumerState.WAIVED and (row.until is None or row.until >= today):
                result[name] = row
    return result


def stranded(connection: Connection, leaving: list[StoredVersion]) -> list[Subscription]:
    """Return the subscriptions that would have no version left without these versions."""
    if _is_served_without(connection, leaving):
        return []
    return [subscriber.subscription for subscriber in subscriptions.subscribers(connection, leaving[0].line)]


def stranded_lines(connection: Connection, leaving: list[StoredVersion]) -> list[Line]:
    """Return the lines in use whose upstream line would have no version left without these versions."""
    if _is_served_without(connection, leaving):
        return []
    made = [line for line, _ in subscriptions.made_from(connection, leaving[0].line) if line != leaving[0].line]
    return [
        line
        for line in made
        if any(version.status in SERVING for version in versions.versions_in_line(connection, line))
    ]


def _is_served_without(connection: Connection, leaving: list[StoredVersion]) -> bool:
    gone = {version.seq for version in leaving}
    members = versions.versions_in_line(connection, leaving[0].line)
    return any(version.status in SERVING for version in members if version.seq not in gone)


def _refuse_if_stranding(
    transaction: Transaction, actor: Actor, version: StoredVersion, done: str, override: str | None
) -> None:
    names = [left.consumer for left in stranded(transaction.connection, [version])]
    names += [str(line) for line in stranded_lines(transaction.connection, [version])]
    if names and override is None:
        readers = ", ".join(names)
        needs = "needs" if len(names) == 1 else "need"
        raise Refused(
            f"{version.contract} {version.version} cannot be {done}: {readers} still {needs} {version.line}; "
            "move them first, or override it with a reason"
        )
    if names:
        authorize(actor, Action.OVERRIDE, _resource(version), override)


def _advance(transaction: Transaction, periods: Periods, version: StoredVersion, today: date) -> Iterator[StepAnswer]:
    """Advance a version through every date that has come; an expired version is deprecated today."""
    if version.status is Status.ACTIVE and version.expires_on and today >= version.expires_on:
        days, reason = _days(periods, today, None), f"expired on {version.expires_on}"
        version = _step(transaction, _CLOCK, version, Status.DEPRECATED, reason, **days)
        yield _step_answer(version, Status.ACTIVE, reason)
    while version.announced_on and version.sunset_on and version.retire_on:
        status = due_status(
            version.status, Timetable(version.announced_on, version.sunset_on, version.retire_on), today
        )
        if status is None:
            return
        before, reason = version.status, _REASONS[status]
        version = _step(transaction, _CLOCK, version, status, reason)
        yield _step_answer(version, before, reason)


def _due(version: StoredVersion, today: date) -> tuple[str, date] | None:
    """Return the step that is due for a version, and since when."""
    if version.status is Status.ACTIVE and version.expires_on and today >= version.expires_on:
        return "end", version.expires_on
    if not (version.announced_on and version.sunset_on and version.retire_on):
        return None
    status = due_status(version.status, Timetable(version.announced_on, version.sunset_on, version.retire_on), today)
    if status is None:
        return None
    return ("sunset", version.sunset_on) if status is Status.SUNSET else ("deprecation", version.announced_on)


def _step_answer(version: StoredVersion, before: Status, reason: str) -> StepAnswer:
    return StepAnswer(
        contract=version.contract,
        version=version.version,
        before=before.value,
        after=version.status.value,
        reason=reason,
    )


def _days(periods: Periods, announced: date, sunset: date | None) -> dict[str, date]:
    wanted = Deprecation(announced=announced.isoformat(), sunset_date=sunset.isoformat() if sunset else None)
    days = timetable(wanted, announced, periods)
    return {"announced_on": days.announced, "sunset_on": days.sunset, "retire_on": days.retirement}


def _get_owned_version(transaction: Transaction, actor: Actor, contract: str, version: str) -> StoredVersion:
    stored = versions.get_version(transaction.connection, contract, version)
    _authorize_step(transaction.connection, actor, stored)
    return stored


def _authorize_step(connection: Connection, actor: Actor, version: StoredVersion) -> None:
    """Check the permission for a step; policies need the permission to govern."""
    action = Action.GOVERN if is_policy(versions.contract_of(connection, version)) else Action.ADVANCE
    authorize(actor, action, _resource(version))


def _resource(version: StoredVersion) -> Resource:
    return Resource("contract", version.contract, version.teams)


def _step(
    transaction: Transaction, actor: str, before: StoredVersion, status: Status, reason: str, **values: Any
) -> StoredVersion:
    """Set the status of a version, with an audit entry and a notice to owners and consumers of the line."""
    after = replace(before, status=status, **values)
    transaction.record(
        actor,
        f"contract.{status}",
        f"{before.contract} {before.version}",
        before=_life(before),
        after=_life(after),
        details={"from": before.status.value, "to": status.value, "reason": reason} | _json_values(values),
    )
    versions.update_lifecycle(transaction, before.seq, status, values)
    if status in (Status.RETIRED, Status.ARCHIVED):
        _close_migrations(transaction, actor, before)
    readers = subscriptions.subscribers(transaction.connection, before.line)
    parties = set(before.teams) | {reader.subscription.consumer for reader in readers}
    parties |= {reader.team for reader in readers if reader.team}
    for line, _ in subscriptions.made_from(transaction.connection, before.line):
        parties |= versions.owners_of(transaction.connection, line)
    transaction.notify(
        f"contract.{status}",
        before.contract,
        f"{before.contract} {before.version} is {status}: {reason}",
        version=before.version,
        details={
            "line": str(before.line),
            "deprecation_uri": after.deprecation_uri,
            "sunset_on": str(after.sunset_on) if after.sunset_on else None,
            "retire_on": str(after.retire_on) if after.retire_on else None,
        },
        parties=parties,
    )
    return after


def _life(version: StoredVersion) -> dict[str, Any]:
    """Return the state of a version for the audit log: the columns that change, and its digest."""
    named = ("digest", "status", "deprecation_uri", "announced_on", "sunset_on", "retire_on", "expires_on")
    return {name: getattr(version, name) for name in named}


def _close_migrations(transaction: Transaction, actor: str, gone: StoredVersion) -> None:
    """Close the migrations from a line that is no longer served."""
    if _is_served_without(transaction.connection, [gone]):
        return
    for migration in migration_records.live_from(transaction.connection, gone.line):
        if migration.state is MigrationState.OPEN:
            closed = MigrationState.CLOSED.value
            transaction.record(
                actor,
                "migration.close",
                f"{migration.line} -> {migration.to_line}",
                before={"state": migration.state},
                after={"state": closed},
                details={"migration": migration.id},
            )
            migration_records.change(transaction, migration.id, state=closed, closed_at=transaction.now, remind_on=None)


def _json_values(values: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, date) else value for name, value in values.items()}
