"""Observed usage: which clients fetch and register which schemas, counted in memory and written regularly."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from treaty.registry.not_found import ContractNotFound
from treaty.registry.service.context import Context
from treaty.registry.store import Connection, subjects, subscriptions, versions
from treaty.registry.store.database import Database
from treaty.registry.store.subjects import Kept, Usage
from treaty.schema_registry.subjects import Subject

MAX_COUNTERS = 20_000
"""Counters in memory; beyond that, new ones are left out until the next flush."""
MAX_CLIENT_LENGTH = 200
MAX_UNKNOWN_CLIENTS = 200
"""Names of clients that did not sign in, in a process on a day; they choose their names, so all others share one."""
OTHER_CLIENTS = "other clients"
_Key = tuple[str, int, str, str, date]


@dataclass(frozen=True)
class ObservedUsage:
    """How often a client used a version of a subject on a day, and whether it is a declared consumer."""

    client: str
    subject: str
    version: int
    id: int
    day: date
    reads: int
    registrations: int
    is_declared: bool

    def as_data(self) -> dict[str, Any]:
        """Return the usage as JSON data."""
        return {**asdict(self), "day": self.day.isoformat()}


class UsageRecorder:
    """Counts the use of schemas by client, subject and day."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._reads: Counter[_Key] = Counter()
        self._registrations: Counter[_Key] = Counter()
        self._unknown: set[str] = set()
        self._unknown_on: date | None = None

    def name_unknown(self, agent: str | None, day: date) -> str:
        """Return the name under which a client that did not sign in is counted: what it says that it is."""
        name = (agent or "unknown client")[:MAX_CLIENT_LENGTH]
        with self._lock:
            if day != self._unknown_on:
                self._unknown, self._unknown_on = set(), day
            if name not in self._unknown and len(self._unknown) >= MAX_UNKNOWN_CLIENTS:
                return OTHER_CLIENTS
            self._unknown.add(name)
        return name

    def count_read(self, client: str, subject: Subject, schema: int, day: date) -> None:
        """Count that a client fetched a schema."""
        self._count(self._reads, client, subject, schema, day)

    def count_registration(self, client: str, subject: Subject, schema: int, day: date) -> None:
        """Count that a client registered a schema."""
        self._count(self._registrations, client, subject, schema, day)

    def _count(self, counter: Counter[_Key], client: str, subject: Subject, schema: int, day: date) -> None:
        key = (subject.context, schema, subject.name, client[:MAX_CLIENT_LENGTH], day)
        with self._lock:
            if key in counter or len(counter) < MAX_COUNTERS:
                counter[key] += 1

    def flush(self) -> None:
        """Write what was counted since the last time; if that fails, the next flush does it."""
        with self._lock:
            reads, self._reads = self._reads, Counter()
            registrations, self._registrations = self._registrations, Counter()
        keys = sorted({*reads, *registrations})
        if not keys:
            return
        observed = [Usage(*key, reads=reads[key], registrations=registrations[key]) for key in keys]
        try:
            self._database.change(lambda connection: subjects.add_usage(connection, observed))
        except BaseException:
            with self._lock:
                self._reads.update(reads)
                self._registrations.update(registrations)
            raise


def observed_usage(context: Context, contract: str, since: date) -> list[ObservedUsage]:
    """Return which clients used the schemas of a contract since a day, and whether they are declared consumers."""
    context.read_contract(contract, lambda connection: _check_registered(connection, contract))
    return context.read_contract(contract, lambda connection: _observed_usage(connection, contract, since))


def _check_registered(connection: Connection, contract: str) -> None:
    if versions.highest(connection, contract) is None:
        raise ContractNotFound(contract)


def _observed_usage(connection: Connection, contract: str, since: date) -> list[ObservedUsage]:
    """Join what clients fetched with the versions that have the schema, and with the consumers of the contract."""
    used = [
        version
        for one in subjects.subjects_of_contract(connection, contract)
        for version in subjects.list_versions(connection, one.context, one.name, Kept.BOTH)
    ]
    lines = {stored.line for stored in versions.list_versions(connection, contract)}
    declared = {one.subscription.consumer for line in lines for one in subscriptions.subscribers(connection, line)}
    found: dict[tuple[str, str, int, date], ObservedUsage] = {}
    for usage in subjects.list_usage(connection, used, since):
        for version in used:
            is_of = (version.context, version.schema) == (usage.context, usage.schema)
            if not is_of or usage.subject not in ("", version.subject):
                continue
            name = str(Subject(version.context, version.subject))
            key = (usage.client, name, version.version, usage.day)
            before = found.get(key)
            found[key] = ObservedUsage(
                *key[:3],
                usage.schema,
                usage.day,
                usage.reads + (before.reads if before else 0),
                usage.registrations + (before.registrations if before else 0),
                usage.client in declared,
            )
    return list(found.values())
