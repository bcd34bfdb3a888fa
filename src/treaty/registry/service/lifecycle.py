"""The life cycle of versions by request: activate and deprecate, and what every step has in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from treaty.contracts.blocks import Deprecation
from treaty.contracts.links import guide_problem
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument, Refused
from treaty.governance.lifecycle import (
    RELEASED,
    Periods,
    Status,
    check_step,
    day_of,
    head_of_line,
    line_status,
    periods_with_notice,
    timetable,
)
from treaty.governance.policy_chain import is_policy
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.not_found import no_line
from treaty.registry.rules import RegistryRules
from treaty.registry.service.lifecycle_notices import notify_of_step
from treaty.registry.service.policies import effective_of
from treaty.registry.store import Connection, migration_records, versions
from treaty.registry.store.migration_records import MigrationState
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import StoredVersion
from treaty.registry.store.visibility import Sight

SERVING = RELEASED
"""The statuses in which a version can be read."""

_DEPRECATED_FROM = frozenset({Status.DRAFT, Status.ACTIVE, Status.DEPRECATED})
_MAX_URI_LENGTH = 2048
_MAX_TEXT_LENGTH = 2_000
_NO_DAYS: dict[str, Any] = {
    "deprecation_uri": None,
    "replacement": None,
    "deprecation_reason": None,
    "announced_on": None,
    "sunset_on": None,
    "retire_on": None,
}


def head_of(members: Sequence[StoredVersion]) -> StoredVersion:
    """Return the version that speaks for a line: the highest that is released; the highest comes first."""
    return members[head_of_line([version.status for version in members])]


def status_of_line(members: Sequence[StoredVersion]) -> Status:
    """Return the status of a line: that of its highest released version."""
    return line_status([version.status for version in members])


def periods_of(connection: Connection, rules: RegistryRules, version: StoredVersion, today: date) -> Periods:
    """Return the minimum periods of a version: those of the registry, or the longer notice that is promised."""
    policy = effective_of(connection, rules, version, today).contract.treaty.change_policy
    return periods_with_notice(rules.periods, policy.notice if policy else None)


def activate(
    transaction: Transaction, actor: Actor, rules: RegistryRules, contract: str, version: str
) -> StoredVersion:
    """Activate a draft, or withdraw a deprecation that was announced or has begun."""
    before = get_owned_version(transaction, actor, contract, version)
    today = transaction.now.date()
    is_planned = before.announced_on is not None and before.announced_on != before.expires_on
    if before.status is Status.ACTIVE and not is_planned:
        return before
    if before.status is not Status.ACTIVE:
        check_step(before.status, Status.ACTIVE, f"{contract} {version}")
    if before.expires_on and before.expires_on <= today:
        raise Refused(f"{contract} {version} expired on {before.expires_on}; register a version with a later expires")
    if before.status is Status.DRAFT and before.announced_on:  # counted from today, when consumers learn of it
        periods = periods_of(transaction.connection, rules, before, today)
        announced = max(before.announced_on, today)
        sunset = max(before.sunset_on or announced, announced + periods.deprecation)
        values: dict[str, Any] = dict(days_from(periods, announced, sunset))
    else:
        values = {**_NO_DAYS, **(days_from(rules.periods, before.expires_on, None) if before.expires_on else {})}
    after = record_step(transaction, actor.name, before, Status.ACTIVE, "activated", **values)
    notify_of_step(transaction, [after], before.status, "activated")
    return after


def deprecate(
    transaction: Transaction, actor: Actor, rules: RegistryRules, contract: str, version: str, notice: Deprecation
) -> StoredVersion:
    """Deprecate a version, now or on a later day; consumers get at least the minimum period."""
    before = get_owned_version(transaction, actor, contract, version)
    return _deprecate_all(transaction, actor, rules, [before], notice)[0]


def deprecate_line(
    transaction: Transaction, actor: Actor, sight: Sight, rules: RegistryRules, line: Line, notice: Deprecation
) -> list[StoredVersion]:
    """Deprecate all versions of a line that are draft, active or deprecated; its consumers get one notice."""
    members = step_line(transaction, sight, line, _DEPRECATED_FROM)
    authorize_step(transaction.connection, actor, members[0])
    return _deprecate_all(transaction, actor, rules, list(reversed(members)), notice)


def _deprecate_all(
    transaction: Transaction, actor: Actor, rules: RegistryRules, members: list[StoredVersion], notice: Deprecation
) -> list[StoredVersion]:
    if not (notice.migration_guide or "").strip() and not (notice.replacement or "").strip():
        raise InvalidDocument("say where consumers go: link the migration plan, or name the replacement")
    steps = [announce(transaction, actor.name, rules, before, _completed(notice, before)) for before in members]
    notify_of_step(transaction, steps, members[-1].status, notice.reason or "deprecated")
    return steps


def _completed(notice: Deprecation, before: StoredVersion) -> Deprecation:
    """Return a notice with what an earlier one stated and this one does not."""
    return replace(
        notice,
        replacement=notice.replacement or before.replacement,
        migration_guide=notice.migration_guide or before.deprecation_uri,
        reason=notice.reason or before.deprecation_reason,
    )


def announce(
    transaction: Transaction, actor: str, rules: RegistryRules, before: StoredVersion, notice: Deprecation
) -> StoredVersion:
    """Record the deprecation of a version; if it is announced for a later day, the status changes on that day."""
    _check_notice(notice)
    today = transaction.now.date()
    periods = periods_of(transaction.connection, rules, before, today)
    sunset = day_of(notice.sunset_date, "sunset_date") if notice.sunset_date else None
    _refuse_if_sooner(before, today, periods, sunset)
    if before.status is Status.DEPRECATED:
        status, reason = Status.DEPRECATED, "deprecated again"
        days = days_from(periods, before.announced_on or today, sunset or before.sunset_on)
    else:
        check_step(before.status, Status.DEPRECATED, f"{before.contract} {before.version}")
        announced = max(day_of(notice.announced, "announced") if notice.announced else today, today)
        days, reason = days_from(periods, announced, sunset), "deprecated"
        status = Status.DEPRECATED if announced <= today else before.status
    texts = {
        "deprecation_uri": notice.migration_guide,
        "replacement": notice.replacement,
        "deprecation_reason": notice.reason,
    }
    return record_step(transaction, actor, before, status, notice.reason or reason, **texts, **days)


def _check_notice(notice: Deprecation) -> None:
    guide = notice.migration_guide
    if guide is not None and (not guide.strip() or len(guide) > _MAX_URI_LENGTH):
        raise InvalidDocument("deprecation_uri must not be blank, or longer than 2,048 characters; link the plan")
    if guide is not None and (problem := guide_problem(guide)):
        raise InvalidDocument(f"deprecation_uri {problem}; link the plan by its https address")
    for name, text in (("replacement", notice.replacement), ("reason", notice.reason)):
        if text is not None and (not text.strip() or len(text) > _MAX_TEXT_LENGTH or "\x00" in text):
            raise InvalidDocument(f"{name} is a text of 1 to {_MAX_TEXT_LENGTH:,} characters, without NUL")


def _refuse_if_sooner(before: StoredVersion, today: date, periods: Periods, sunset: date | None) -> None:
    """Refuse to move an announced sunset to less than the minimum period from now."""
    earliest = today + periods.deprecation
    if sunset and before.sunset_on and sunset < min(before.sunset_on, earliest):
        raise Refused(f"the sunset was announced for {before.sunset_on}; use {earliest} or later")


def step_line(transaction: Transaction, sight: Sight, line: Line, of: frozenset[Status]) -> list[StoredVersion]:
    """Return the versions of a line with one of the given statuses; raise Refused if there is none."""
    members = versions.versions_in_line(transaction.connection, line) if sight.sees(line.contract) else []
    if not members:
        raise no_line(line)
    meant = [version for version in members if version.status in of]
    if not meant:
        raise Refused(f"{line} is {status_of_line(members)}; no version of it is {' or '.join(sorted(of))}")
    return meant


def days_from(periods: Periods, announced: date, sunset: date | None) -> dict[str, date]:
    """Return the days of a deprecation as columns; a sunset that is too soon is refused."""
    wanted = Deprecation(announced=announced.isoformat(), sunset_date=sunset.isoformat() if sunset else None)
    days = timetable(wanted, announced, periods)
    return {"announced_on": days.announced, "sunset_on": days.sunset, "retire_on": days.retirement}


def get_owned_version(transaction: Transaction, actor: Actor, contract: str, version: str) -> StoredVersion:
    """Return a version if the actor may change its status."""
    stored = versions.get_version(transaction.connection, contract, version)
    authorize_step(transaction.connection, actor, stored)
    return stored


def authorize_step(connection: Connection, actor: Actor, version: StoredVersion) -> None:
    """Check the permission for a step; policies need the permission to govern."""
    action = Action.GOVERN if is_policy(versions.contract_of(connection, version)) else Action.ADVANCE
    authorize(actor, action, resource_of(version))


def resource_of(version: StoredVersion) -> Resource:
    """Return the resource to authorize for a version."""
    return Resource("contract", version.contract, version.teams)


def is_served_without(connection: Connection, leaving: Sequence[StoredVersion]) -> bool:
    """Return whether a line still has a version to read without these."""
    gone = {version.seq for version in leaving}
    members = versions.versions_in_line(connection, leaving[0].line)
    return any(version.status in SERVING for version in members if version.seq not in gone)


def record_step(
    transaction: Transaction, actor: str, before: StoredVersion, status: Status, reason: str, **values: Any
) -> StoredVersion:
    """Set the status and the days of a version, with an audit entry; the caller sends the notice."""
    after = replace(before, status=status, recorded_status=status, **values)
    is_unchanged = status is before.status and status in (Status.DRAFT, Status.ACTIVE)
    is_planned = is_unchanged and after.announced_on not in (None, after.expires_on)
    transaction.record(
        actor,
        f"contract.{Status.DEPRECATED if is_planned else status}",
        f"{before.contract} {before.version}",
        before=_life(before),
        after=_life(after),
        details={"from": before.status.value, "to": status.value, "reason": reason} | _json_values(values),
    )
    versions.update_lifecycle(transaction, before.seq, status, values)
    if status in (Status.RETIRED, Status.ARCHIVED):
        _close_migrations(transaction, actor, before)
    return after


def _life(version: StoredVersion) -> dict[str, Any]:
    """Return the state of a version for the audit log: the columns that change, and its digest."""
    named = ("digest", "status", *_NO_DAYS, "expires_on")
    return {name: getattr(version, name) for name in named}


def _close_migrations(transaction: Transaction, actor: str, gone: StoredVersion) -> None:
    """Close the migrations from a line that is no longer served."""
    if is_served_without(transaction.connection, [gone]):
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
