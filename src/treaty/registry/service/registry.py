"""The registry on a database: contracts, their versions and their lives; consumers, governance, notices, access."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from datetime import date, datetime
from types import TracebackType

from treaty.compatibility import diff, judge
from treaty.contracts.versions import Line, parse_line
from treaty.governance.lifecycle import Status
from treaty.registry.access.actors import Actor, local_actor
from treaty.registry.access.permissions import Action, authorize
from treaty.registry.api import RegistryApi
from treaty.registry.documents import Document, as_json
from treaty.registry.model import (
    ActivityAnswer,
    ContractAnswer,
    DiffAnswer,
    DocumentAnswer,
    HeadAnswer,
    LineAnswer,
    OverviewAnswer,
    Page,
    Registration,
    StepAnswer,
    TeamAnswer,
    UpcomingAnswer,
    VersionAnswer,
)
from treaty.registry.model.contract_answers import Query
from treaty.registry.model.page import PAGE, after, check_limit, page_of
from treaty.registry.report import CompatibilityReport
from treaty.registry.rules import RegistryRules
from treaty.registry.service import judgement, lifecycle, migration_start, registration
from treaty.registry.service.access_tokens import Access
from treaty.registry.service.calendar import upcoming
from treaty.registry.service.consumers import Consumers
from treaty.registry.service.context import EVERYTHING, Context
from treaty.registry.service.governance import Governance
from treaty.registry.service.judgement import diff_answer
from treaty.registry.service.measures import Measures
from treaty.registry.service.migrations import Migrations
from treaty.registry.service.notifications import Notices
from treaty.registry.service.registration import record_refusal_later
from treaty.registry.service.version_answers import document_answer, line_answers, version_answer
from treaty.registry.store import Connection, activity_feed, audit_log, migration_records, search, teams, versions
from treaty.registry.store.database import Clock, Database, utc_now
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import StoredVersion

_DEPRECATED_FROM = frozenset({Status.DRAFT, Status.ACTIVE, Status.DEPRECATED})


class Registry(RegistryApi):
    """A durable registry on a database; every call acts for one actor."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.consumers = Consumers(context)
        self.governance = Governance(context)
        self.measures = Measures(context)
        self.migrations = Migrations(context)
        self.notices = Notices(context)
        self.access = Access(context)

    @classmethod
    def open(
        cls, reference: str, *, actor: str = "local", rules: RegistryRules | None = None, clock: Clock = utc_now
    ) -> Registry:
        """Open a registry by file path or database URL; the actor gets every permission."""
        return cls(Context(Database.open(reference, clock), rules or RegistryRules(), local_actor(actor)))

    def acting_as(self, actor: Actor) -> Registry:
        """Return the same registry for another actor."""
        return Registry(replace(self._context, actor=actor))

    @property
    def context(self) -> Context:
        """The database, rules and actor, for the server."""
        return self._context

    def now(self) -> datetime:
        """Return the time of the registry's clock."""
        return self._context.now

    def head(self) -> HeadAnswer | None:
        """Return the newest audit entry; None if there is none, or over HTTP, where it needs a permission."""
        newest = self._context.read(audit_log.newest_entry)
        return newest or HeadAnswer(seq=0, hash="", at=self._context.now)

    def close(self) -> None:
        """Release the database or the connection."""
        self._context.database.close()

    def __enter__(self) -> Registry:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def register(self, document: Document, *, compatibility: str | None = None) -> Registration:
        """Register a version, or propose it if it needs approval; raise VersionRefused if it is not admissible."""
        return self.submit(document, compatibility=compatibility).result()

    def submit(self, document: Document, *, compatibility: str | None = None) -> Future[Registration]:
        """Queue a version for registration; the future is done once it is durable or refused."""
        context = self._context
        candidate, mode = context.prepared(document), context.mode(compatibility)
        _ = candidate.words, candidate.digest  # computed here, before the database is locked

        def register(transaction: Transaction) -> Registration:
            context.check_in_force(transaction)
            try:
                return registration.register(transaction, context.actor, context.rules, candidate, mode)
            except registration.InadmissibleVersion as refusal:
                record_refusal_later(context, refusal.judgement)
                raise

        return context.submit(register)

    def check(self, document: Document, *, compatibility: str | None = None) -> CompatibilityReport:
        """Judge a version without registering it."""
        context = self._context
        candidate, mode = context.prepared(document), context.mode(compatibility)
        return context.read(
            lambda connection: judgement.judge(connection, context.rules, candidate, mode, context.today).report,
            Action.CHECK,
        )

    def datasets(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[str]:
        """List the ids of contracts."""
        check_limit(limit)
        (start,) = after(cursor, "")
        ids = self._context.read(lambda connection: search.contract_ids(connection, str(start), limit + 1))
        return page_of(ids, limit, lambda identity: (identity,))

    def search(self, query: Query, *, cursor: str | None = None, limit: int = PAGE) -> Page[ContractAnswer]:
        """Find contracts by name, field, owner, domain, tag or a word in their descriptions."""
        check_limit(limit)
        (start,) = after(cursor, "")
        rows = self._context.read(
            lambda connection: search.search(connection, self._context.now, query, str(start), limit + 1)
        )
        return page_of(rows, limit, lambda row: (row.id,))

    def overview(self) -> OverviewAnswer:
        """Count the contracts by domain, tier, status, owning team and health."""
        return self._context.read(lambda connection: self._context.overviews.counts(connection, self._context.now))

    def activity(
        self,
        *,
        contract: str | None = None,
        team: str | None = None,
        kind: str | None = None,
        since: date | None = None,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[ActivityAnswer]:
        """List activity, the newest first, optionally of one contract, team or kind, or since a day."""
        check_limit(limit)
        before = int(after(cursor, 0)[0]) if cursor is not None else None
        wanted = activity_feed.ActivityFilter(contract, team, kind, since)
        return self._context.read(lambda connection: activity_feed.page(connection, wanted, before, limit))

    def upcoming(
        self,
        *,
        contract: str | None = None,
        team: str | None = None,
        days: int = 60,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[UpcomingAnswer]:
        """List deprecations, sunsets, retirements and ends of migrations within some days, the nearest first."""
        check_limit(limit)
        on, line, kind = map(str, after(cursor, "", "", ""))
        rows = self._context.read(
            lambda connection: upcoming(
                connection, self._context.today, days, contract, team, (on, line, kind), limit + 1
            )
        )
        return page_of(rows, limit, lambda row: (row.on.isoformat(), row.line, row.kind))

    def teams(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[TeamAnswer]:
        """List the teams that own or read something, with counts."""
        check_limit(limit)
        (start,) = after(cursor, "")
        rows = self._context.read(lambda connection: teams.page(connection, str(start), limit + 1))
        return page_of(rows, limit, lambda row: (row.team,))

    def latest(self, contract: str) -> DocumentAnswer:
        """Return the highest active version."""
        return self._context.read(lambda connection: document_answer(*versions.latest(connection, contract)))

    def latest_json(self, contract: str) -> bytes:
        """Return the document of the highest active version as JSON, from the read cache where possible."""
        cached = self.cached_latest_json(contract)
        if cached is not None:
            return cached
        cache = self._context.database.read_cache
        stamp = cache.stamp()
        document = as_json(self._context.read(lambda connection: versions.latest(connection, contract))[1])
        cache.put(contract, document, stamp)
        return document

    def cached_latest_json(self, contract: str) -> bytes | None:
        """Return what `latest_json` does if it is in the read cache, without a query; None otherwise."""
        authorize(self._context.actor, Action.READ, EVERYTHING)
        return self._context.database.read_cache.get(contract)

    def get(self, contract: str, version: str) -> DocumentAnswer:
        """Return one version with its document."""
        return self._document(lambda connection: versions.get_version(connection, contract, version))

    def given(self, contract: str, version: str) -> tuple[bytes, str]:
        """Return a document byte for byte as it was registered, with its media type."""

        def find(connection: Connection) -> tuple[bytes, str]:
            stored = versions.get_version(connection, contract, version)
            return versions.original_document(connection, stored), stored.media

        return self._context.read(find)

    def history(self, contract: str, *, cursor: str | None = None, limit: int = PAGE) -> Page[DocumentAnswer]:
        """List versions with their documents, in the order they were registered."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        rows = self._context.read(lambda connection: versions.history(connection, contract, int(start), limit + 1))
        numbered = page_of(rows, limit, lambda row: (row[0].seq,))
        return Page(items=[document_answer(*row) for row in numbered.items], next=numbered.next)

    def lines(self, contract: str) -> list[LineAnswer]:
        """List the lines of a contract, the highest first."""
        return self._context.read(lambda connection: line_answers(connection, contract))

    def diff(self, contract: str, before: str, after_: str, *, compatibility: str | None = None) -> DiffAnswer:
        """Compare two versions: the changes, what they break, and the version they require."""
        mode = self._context.mode(compatibility)

        def compare(connection: Connection) -> DiffAnswer:
            old, new = (
                versions.contract_of(connection, versions.get_version(connection, contract, version))
                for version in (before, after_)
            )
            return diff_answer(judge(diff(old, new), mode, self._context.rules.grading))

        return self._context.read(compare)

    def activate(self, contract: str, version: str) -> VersionAnswer:
        """Activate a draft, or take back a deprecation."""
        context = self._context
        return version_answer(
            context.write(
                lambda transaction: lifecycle.activate(transaction, context.actor, context.rules, contract, version)
            )
        )

    def deprecate(
        self, contract: str, version: str, *, deprecation_uri: str, sunset_on: date | None = None
    ) -> VersionAnswer:
        """Deprecate a version, with the address of the migration plan."""
        context = self._context
        return version_answer(
            context.write(
                lambda transaction: lifecycle.deprecate(
                    transaction, context.actor, context.rules, contract, version, deprecation_uri, sunset_on
                )
            )
        )

    def retire(self, contract: str, version: str, *, override: str | None = None) -> VersionAnswer:
        """Retire a version whose retirement is due and that no consumer reads; an override needs a reason."""
        context = self._context
        return version_answer(
            context.write(lambda transaction: lifecycle.retire(transaction, context.actor, contract, version, override))
        )

    def archive(self, contract: str, version: str, *, override: str | None = None) -> VersionAnswer:
        """Take a version out of use permanently; it stays in the history."""
        context = self._context
        return version_answer(
            context.write(
                lambda transaction: lifecycle.archive(transaction, context.actor, contract, version, override)
            )
        )

    def deprecate_line(self, line: str, *, deprecation_uri: str, sunset_on: date | None = None) -> list[VersionAnswer]:
        """Deprecate all versions of a line that are draft, active or deprecated."""
        context = self._context
        return self._step_line(
            parse_line(line),
            _DEPRECATED_FROM,
            lambda transaction, version: lifecycle.deprecate(
                transaction, context.actor, context.rules, version.contract, version.version, deprecation_uri, sunset_on
            ),
        )

    def retire_line(self, line: str, *, override: str | None = None) -> list[VersionAnswer]:
        """Retire all versions of a line that are still in use, in one transaction."""
        context, parsed = self._context, parse_line(line)
        retired = context.write(lambda transaction: lifecycle.retire_line(transaction, context.actor, parsed, override))
        return [version_answer(version) for version in retired]

    def tick(self) -> list[StepAnswer]:
        """Advance every version whose date has come, and remind consumers of their migrations."""
        context = self._context
        authorize(context.actor, Action.TICK, EVERYTHING)
        steps: list[StepAnswer] = []
        while self._is_due():
            steps += context.write(lambda transaction: lifecycle.tick(transaction, context.rules))
            steps += context.write(lambda transaction: migration_start.remind(transaction, context.rules))
        return steps

    def _is_due(self) -> bool:
        with self._context.database.read() as connection:
            today = self._context.today
            return bool(
                versions.versions_due(connection, today, limit=1) or migration_records.due(connection, today, limit=1)
            )

    def _document(self, find: Callable[[Connection], StoredVersion]) -> DocumentAnswer:
        def read(connection: Connection) -> DocumentAnswer:
            version = find(connection)
            return document_answer(version, versions.document_of(connection, version))

        return self._context.read(read)

    def _step_line(
        self, line: Line, of: frozenset[Status], step: Callable[[Transaction, StoredVersion], StoredVersion]
    ) -> list[VersionAnswer]:
        def walk(transaction: Transaction) -> list[StoredVersion]:
            return [step(transaction, version) for version in reversed(lifecycle.step_line(transaction, line, of))]

        return [version_answer(version) for version in self._context.write(walk)]
