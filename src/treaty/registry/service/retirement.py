"""The end of versions: what blocks a retirement, and the steps that take a version out of use for good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from treaty.consumers.subscriptions import Subscription
from treaty.contracts.versions import Line
from treaty.errors import Refused
from treaty.governance.lifecycle import Periods, Status, check_step, status_on
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, authorize
from treaty.registry.rules import RegistryRules
from treaty.registry.service.lifecycle import (
    SERVING,
    authorize_step,
    get_owned_version,
    head_of,
    is_served_without,
    record_step,
    resource_of,
    step_line,
)
from treaty.registry.service.lifecycle_notices import notify_of_step
from treaty.registry.service.observed_usage import readers_without_subscription
from treaty.registry.store import Connection, lineage, migration_records, subscriptions, versions
from treaty.registry.store.migration_records import ConsumerState, StoredConsumer
from treaty.registry.store.observed_usage import ObservedReads
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import StoredVersion
from treaty.registry.store.visibility import Sight, hidden_text, split_visible, visible_names


@dataclass(frozen=True, slots=True)
class Days:
    """The day that is asked about, and the day it is; they differ where the future is shown."""

    asked: date
    actual: date
    periods: Periods
    window: timedelta = RegistryRules.usage_window
    """For how long a consumer that was seen reading counts."""

    @classmethod
    def of(cls, transaction: Transaction, rules: RegistryRules) -> Days:
        """Return the days of a transaction, which acts today."""
        today = transaction.now.date()
        return cls(today, today, rules.periods, rules.usage_window)


def archive(
    transaction: Transaction,
    actor: Actor,
    sight: Sight,
    rules: RegistryRules,
    contract: str,
    version: str,
    override: str | None = None,
) -> StoredVersion:
    """Take a version out of use permanently; refused if consumers of the line would have no version left."""
    before = get_owned_version(transaction, actor, contract, version)
    if before.status is Status.ARCHIVED:
        return before
    check_step(before.status, Status.ARCHIVED, f"{contract} {version}")
    _refuse_if_stranding(transaction, actor, sight, before, "archived", override, rules.usage_window)
    after = record_step(transaction, actor.name, before, Status.ARCHIVED, override or "archived")
    notify_of_step(transaction, [after], before.status, override or "archived")
    return after


def retire(
    transaction: Transaction,
    actor: Actor,
    sight: Sight,
    rules: RegistryRules,
    contract: str,
    version: str,
    override: str | None = None,
) -> StoredVersion:
    """Retire a version whose retirement is due and that no consumer reads."""
    before = get_owned_version(transaction, actor, contract, version)
    if before.status is Status.RETIRED:
        return before
    if override is None:
        obstacles = [*obstacles_to_retiring(transaction.connection, sight, [before], Days.of(transaction, rules))]
        if obstacles:
            raise Refused(f"{contract} {version} cannot be retired: " + "; ".join(obstacles))
        check_step(before.status, Status.RETIRED, f"{contract} {version}")
    else:
        authorize(actor, Action.OVERRIDE, resource_of(before), override)
        if before.status not in SERVING:
            check_step(before.status, Status.RETIRED, f"{contract} {version}")
    return _retire_all(transaction, actor, [before], override)[0]


def retire_line(
    transaction: Transaction,
    actor: Actor,
    sight: Sight,
    rules: RegistryRules,
    line: Line,
    override: str | None = None,
) -> list[StoredVersion]:
    """Retire all versions of a line that are in use, in one transaction; a refusal names every obstacle."""
    leaving = step_line(transaction, sight, line, SERVING | {Status.DRAFT})
    authorize_step(transaction.connection, actor, leaving[0])
    if override is None:
        obstacles = [*obstacles_to_retiring(transaction.connection, sight, leaving, Days.of(transaction, rules))]
        if obstacles:
            raise Refused(f"{line} cannot be retired: " + "; ".join(obstacles))
    else:
        authorize(actor, Action.OVERRIDE, resource_of(leaving[0]), override)
    return _retire_all(transaction, actor, list(reversed(leaving)), override)


def _retire_all(
    transaction: Transaction, actor: Actor, leaving: list[StoredVersion], override: str | None
) -> list[StoredVersion]:
    """Retire versions of a line; drafts were never released and are archived."""
    reason = override or "retired"
    steps = [record_step(transaction, actor.name, before, _final_status(before), reason) for before in leaving]
    retired = [version for version in steps if version.status is Status.RETIRED]
    notify_of_step(transaction, retired or steps, leaving[-1].status, reason)
    return steps


def _final_status(before: StoredVersion) -> Status:
    return Status.ARCHIVED if before.status is Status.DRAFT else Status.RETIRED


def obstacles_to_retiring(
    connection: Connection, sight: Sight, leaving: Sequence[StoredVersion], days: Days
) -> Iterator[str]:
    """Return the obstacles to retiring versions of a line: status, dates, and consumers.

    The dates of the highest released version are those of the line, so that older versions leave with it.
    """
    line = leaving[0].line
    head = head_of(leaving)
    deciding = [head] if _is_whole_line(connection, leaving) else leaving
    for version in deciding:
        yield from _obstacle_by_date(connection, version, days)
    excused = waived(connection, line, days.asked)
    left = [
        reader.consumer
        for reader in stranded(connection, leaving)
        if reader.consumer not in excused and reader.counts(days.asked)
    ]
    readers, hidden = split_visible(left, sight)
    for name in readers:
        yield f"{name} still reads {line}"
    if hidden:
        yield f"{hidden_text(hidden)} still read{'s' if hidden == 1 else ''} {line}"
    observed = stranded_readers(connection, leaving, days.window)
    for reads in observed:
        if sight.sees(reads.consumer):
            yield f"{reads.consumer} was seen reading {line} on {reads.last_seen.date()}, without a subscription"
    if hidden := sum(not sight.sees(reads.consumer) for reads in observed):
        yield f"{hidden_text(hidden)} {'was' if hidden == 1 else 'were'} seen reading {line}"
    derived = stranded_lines(connection, leaving)
    seen = [one for one in derived if sight.sees(one.contract)]
    for one in seen:
        yield f"{one} is made from {line}"
    if hidden := len(derived) - len(seen):
        yield f"{hidden_text(hidden, 'line')} {'is' if hidden == 1 else 'are'} made from {line}"


def _is_whole_line(connection: Connection, leaving: Sequence[StoredVersion]) -> bool:
    return head_of(leaving).status in SERVING and not is_served_without(connection, leaving)


def _obstacle_by_date(connection: Connection, version: StoredVersion, days: Days) -> Iterator[str]:
    name = f"{version.contract} {version.version}"
    if version.status in (Status.DRAFT, Status.ACTIVE):
        yield f"{name} is {version.status}; deprecate it first"
    elif version.status is Status.DEPRECATED:
        yield f"{name} is deprecated until its sunset on {version.sunset_on}"
    elif version.status is Status.SUNSET and version.retire_on:
        first = _first_day(connection, version, days)
        if days.asked < first:
            yield f"{name} is in sunset and may be retired on {first}, not on {days.asked}"


def _first_day(connection: Connection, version: StoredVersion, days: Days) -> date:
    """Return the first day of a retirement; readers who were not notified of the sunset yet have the full period."""
    assert version.retire_on is not None  # noqa: S101 - a version in sunset has its days
    begun = status_on(version.recorded_status, version.announced_on, version.sunset_on, days.actual)
    untold = begun is Status.SUNSET and version.recorded_status is not Status.SUNSET
    if untold and subscriptions.subscribers(connection, version.line):
        return max(version.retire_on, days.actual + days.periods.sunset)
    return version.retire_on


def waived(connection: Connection, line: Line, today: date) -> dict[str, StoredConsumer]:
    """Return the consumers that are waived in a migration from a line."""
    result: dict[str, StoredConsumer] = {}
    for migration in migration_records.live_from(connection, line):
        for name, row in migration_records.consumers_of(connection, migration.id).items():
            if row.state is ConsumerState.WAIVED and (row.until is None or row.until >= today):
                result[name] = row
    return result


def stranded(connection: Connection, leaving: Sequence[StoredVersion]) -> list[Subscription]:
    """Return the subscriptions that would have no version left without these versions."""
    if is_served_without(connection, leaving):
        return []
    return [subscriber.subscription for subscriber in subscriptions.subscribers(connection, leaving[0].line)]


def stranded_readers(
    connection: Connection, leaving: Sequence[StoredVersion], window: timedelta
) -> list[ObservedReads]:
    """Return the consumers without a subscription that were seen reading the line, and would have no version left."""
    if is_served_without(connection, leaving):
        return []
    return readers_without_subscription(connection, leaving[0].line, window)


def stranded_lines(connection: Connection, leaving: Sequence[StoredVersion]) -> list[Line]:
    """Return the lines in use whose upstream line would have no version left without these versions."""
    if is_served_without(connection, leaving):
        return []
    line = leaving[0].line
    made = dict.fromkeys(edge.line for edge in lineage.made_from(connection, line) if edge.line != line)
    return [
        line
        for line in made
        if any(version.status in SERVING for version in versions.versions_in_line(connection, line))
    ]


def _refuse_if_stranding(
    transaction: Transaction,
    actor: Actor,
    sight: Sight,
    version: StoredVersion,
    done: str,
    override: str | None,
    window: timedelta,
) -> None:
    today = transaction.now.date()
    left = [reader.consumer for reader in stranded(transaction.connection, [version]) if reader.counts(today)]
    left += [reads.consumer for reads in stranded_readers(transaction.connection, [version], window)]
    names = visible_names(left, sight)
    derived = stranded_lines(transaction.connection, [version])
    seen = [str(line) for line in derived if sight.sees(line.contract)]
    names += [*seen, hidden_text(len(derived) - len(seen), "line")] if len(seen) < len(derived) else seen
    if names and override is None:
        readers = ", ".join(names)
        needs = "needs" if len(names) == 1 else "need"
        raise Refused(
            f"{version.contract} {version.version} cannot be {done}: {readers} still {needs} {version.line}; "
            "move them first, or override it with a reason"
        )
    if names:
        authorize(actor, Action.OVERRIDE, resource_of(version), override)
