"""The registry on a database: contracts, their versions and their lives; consumers, governance, notices, access."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from datetime import date, datetime
from types import TracebackType
from typing import Self

from treaty.compatibility import diff, judge
from treaty.contracts.blocks import Audience, Deprecation
from treaty.contracts.versions import parse_line
from treaty.registry.access.actors import Actor, local_actor
from treaty.registry.access.permissions import Action, authorize
from treaty.registry.api import RegistryApi
from treaty.registry.documents import Document
from treaty.registry.model import (
    ActivityAnswer,
    ContractAnswer,
    DiffAnswer,
    DocumentAnswer,
    EffectiveAnswer,
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
from treaty.registry.model.page import PAGE, BadCursor, after, check_limit, page_of
from treaty.registry.report import CompatibilityReport
from treaty.registry.rules import RegistryRules
from treaty.registry.service import judgement, lifecycle, policies, registration, retirement, ticks
from treaty.registry.service.access_tokens import Access
from treaty.registry.service.calendar import upcoming
from treaty.registry.service.certificates import Certificates
from treaty.registry.service.channel_secrets import encrypt_plain_channels, open_box
from treaty.registry.service.consumers import Consumers
from treaty.registry.service.context import EVERYTHING, Context
from treaty.registry.service.cutovers import Cutovers
from treaty.registry.service.dependencies import Dependencies
from treaty.registry.service.dependency_map import DependencyMap
from treaty.registry.service.drift import Drift
from treaty.registry.service.governance import Governance
from treaty.registry.service.incidents import Incidents
from treaty.registry.service.judgement import diff_answer
from treaty.registry.service.lineage_events import Lineage
from treaty.registry.service.measures import Measures
from treaty.registry.service.migrations import Migrations
from treaty.registry.service.notifications import Notices
from treaty.registry.service.parallel_runs import ParallelRuns
from treaty.registry.service.version_answers import (
    document_answer,
    effective_answer,
    latest_json,
    line_answers,
    version_answer,
)
from treaty.registry.store import Connection, activity_feed, audit_log, search, teams, versions
from treaty.registry.store.database import Clock, Database, utc_now


class Registry(RegistryApi):
    """A durable registry on a database; every call acts for one actor."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.consumers = Consumers(context)
        self.cutovers = Cutovers(context)
        self.dependency_map = DependencyMap(context)
        self.governance = Governance(context)
        self.incidents = Incidents(context)
        self.lineage = Lineage(context)
        self.measures = Measures(context)
        self.migrations = Migrations(context)
        self.notices = Notices(context)
        self.parallel_runs = ParallelRuns(context)
        self.drift = Drift(context)
        self.certificates = Certificates(context)
        self.access = Access(context)

    @classmethod
    def open(
        cls, reference: str, *, actor: str = "local", rules: RegistryRules | None = None, clock: Clock = utc_now
    ) -> Registry:
        """Open a registry by file path or database URL; the actor has every permission."""
        rules = rules or RegistryRules()
        database = Database.open(reference, clock, rules.upgrade)
        try:
            secrets = open_box(database, rules)
            encrypt_plain_channels(database, secrets)
        except BaseException:
            database.close()
            raise
        dependencies = Dependencies(rules.usage_window)
        return cls(Context(database, rules, local_actor(actor), dependencies, secrets=secrets))

    def acting_as(self, actor: Actor) -> Registry:
        """Return the same registry for another actor."""
        return Registry(replace(self._context, actor=actor))

    def shown_to(self, *teams: str) -> Registry:
        """Return the same registry with what members of some teams may read; without teams, what everyone may."""
        domains = self._context.rules.domains
        member_of = (domain for domain, members in domains.items() if not set(teams).isdisjoint(members))
        return Registry(replace(self._context, limited_to=Audience(teams, tuple(member_of)).names))

    def at(self, now: datetime) -> Self:
        """Return the same registry as it is at another time, if nothing happens until then; it changes nothing."""
        return type(self)(self._context.at(now))

    @property
    def context(self) -> Context:
        """The database, rules and actor, for the server."""
        return self._context

    def now(self) -> datetime:
        """Return the time of the registry's clock."""
        return self._context.now

    def head(self) -> HeadAnswer | None:
        """Return the newest audit entry; None if there is none, or over HTTP, where it needs a permission."""
        newest = self._context.read(lambda connection, _: audit_log.newest_entry(connection))
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
        """Register a version, or propose it if it needs approval; raise VersionRefused if it is not admissible.

        The same document again gives the same answer and changes nothing.
        """
        return self.submit(document, compatibility=compatibility).result()

    def submit(self, document: Document, *, compatibility: str | None = None) -> Future[Registration]:
        """Queue a version for registration; the future is done once it is durable or refused."""
        return registration.submit(self._context, registration.register_again, document, compatibility)

    def submit_new(self, document: Document, *, compatibility: str | None = None) -> Future[Registration]:
        """Queue a version as `submit` does; the same document again is a conflict."""
        return registration.submit(self._context, registration.register, document, compatibility)

    def check(self, document: Document, *, compatibility: str | None = None) -> CompatibilityReport:
        """Judge a version without registering it."""
        context = self._context
        candidate, mode = context.prepared(document), context.mode(compatibility)
        return context.read(
            lambda connection, visibility: (
                judgement.judge(connection, visibility, context.rules, candidate, mode, context.today).report
            ),
            Action.CHECK,
        )

    def datasets(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[str]:
        """List the ids of contracts."""
        check_limit(limit)
        (start,) = after(cursor, "")
        ids = self._context.read(
            lambda connection, visibility: search.contract_ids(connection, visibility, str(start), limit + 1)
        )
        return page_of(ids, limit, lambda identity: (identity,))

    def search(self, query: Query, *, cursor: str | None = None, limit: int = PAGE) -> Page[ContractAnswer]:
        """Find contracts by name, field, owner, domain, tag or a word in their descriptions; typos are tolerated."""
        check_limit(limit)
        (start,) = after(cursor, 0 if query.sort else "")
        if isinstance(start, int) and start < 0:
            raise BadCursor
        context = self._context
        rows = context.read(
            lambda connection, visibility: search.search(
                connection, visibility, context.now, query, context.vocabulary, start, limit + 1
            )
        )
        return page_of(rows, limit, lambda row: (start + limit if isinstance(start, int) else row.id,))

    def overview(self) -> OverviewAnswer:
        """Count the contracts by domain, tier, status, owning team and health."""
        context = self._context
        return context.read(
            lambda connection, visibility: context.overviews.counts(connection, visibility, context.now)
        )

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
        oldest = self._context.today - self._context.rules.retention.activity
        wanted = activity_feed.ActivityFilter(contract, team, kind, max(since or oldest, oldest))
        return self._context.read(
            lambda connection, visibility: activity_feed.page(connection, visibility, wanted, before, limit)
        )

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
            lambda connection, visibility: upcoming(
                connection, visibility, self._context.today, days, contract, team, (on, line, kind), limit + 1
            )
        )
        return page_of(rows, limit, lambda row: (row.on.isoformat(), row.line, row.kind))

    def teams(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[TeamAnswer]:
        """List the teams that own or read something, with counts."""
        check_limit(limit)
        (start,) = after(cursor, "")
        rows = self._context.read(
            lambda connection, visibility: teams.page(connection, visibility, str(start), limit + 1)
        )
        return page_of(rows, limit, lambda row: (row.team,))

    def latest(self, contract: str) -> DocumentAnswer:
        """Return the highest active version."""
        return self._context.read_contract(
            contract, lambda connection: document_answer(*versions.latest(connection, contract))
        )

    def latest_json(self, contract: str) -> bytes:
        """Return the document of the highest active version as JSON, from the read cache where possible."""
        return self.cached_latest_json(contract) or latest_json(self._context, contract)

    def cached_latest_json(self, contract: str) -> bytes | None:
        """Return what `latest_json` does if it is in the read cache, without a query; None otherwise.

        The cache contains only contracts that everyone may read.
        """
        authorize(self._context.actor, Action.READ, EVERYTHING)
        return self._context.database.read_cache.get(contract)

    def get(self, contract: str, version: str) -> DocumentAnswer:
        """Return one version with its document."""

        def find(connection: Connection) -> DocumentAnswer:
            stored = versions.get_version(connection, contract, version)
            return document_answer(stored, versions.document_of(connection, stored))

        return self._context.read_contract(contract, find)

    def effective(self, contract: str, version: str) -> EffectiveAnswer:
        """Return one version with what it inherits from its policies today, each value with its origin."""
        rules, today = self._context.rules, self._context.today

        def find(connection: Connection) -> EffectiveAnswer:
            stored = versions.get_version(connection, contract, version)
            return effective_answer(stored, policies.effective_of(connection, rules, stored, today))

        return self._context.read_contract(contract, find)

    def given(self, contract: str, version: str) -> tuple[bytes, str]:
        """Return a document byte for byte as it was registered, with its media type."""

        def find(connection: Connection) -> tuple[bytes, str]:
            stored = versions.get_version(connection, contract, version)
            return versions.original_document(connection, stored), stored.media

        return self._context.read_contract(contract, find)

    def history(self, contract: str, *, cursor: str | None = None, limit: int = PAGE) -> Page[DocumentAnswer]:
        """List versions with their documents, in the order they were registered."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        rows = self._context.read_contract(
            contract, lambda connection: versions.history(connection, contract, int(start), limit + 1)
        )
        numbered = page_of(rows, limit, lambda row: (row[0].seq,))
        return Page(items=[document_answer(*row) for row in numbered.items], next=numbered.next)

    def lines(self, contract: str) -> list[LineAnswer]:
        """List the lines of a contract, the highest first."""
        return self._context.read_contract(contract, lambda connection: line_answers(connection, contract))

    def diff(self, contract: str, before: str, after_: str, *, compatibility: str | None = None) -> DiffAnswer:
        """Compare two versions: the changes, what they break, and the version they require."""
        mode = self._context.mode(compatibility)

        def compare(connection: Connection) -> DiffAnswer:
            old, new = (
                versions.contract_of(connection, versions.get_version(connection, contract, version))
                for version in (before, after_)
            )
            return diff_answer(judge(diff(old, new), mode, self._context.rules.grading))

        return self._context.read_contract(contract, compare)

    def activate(self, contract: str, version: str) -> VersionAnswer:
        """Activate a draft, or take back a deprecation."""
        context = self._context
        return version_answer(
            context.write_to(
                contract,
                lambda transaction, _: lifecycle.activate(transaction, context.actor, context.rules, contract, version),
            )
        )

    def deprecate(
        self,
        contract: str,
        version: str,
        *,
        deprecation_uri: str | None = None,
        sunset_on: date | None = None,
        announced_on: date | None = None,
        replacement: str | None = None,
        reason: str | None = None,
    ) -> VersionAnswer:
        """Deprecate a version, now or from a later day, with the migration plan or what replaces it."""
        context = self._context
        notice = _deprecation(deprecation_uri, sunset_on, announced_on, replacement, reason)
        return version_answer(
            context.write_to(
                contract,
                lambda transaction, _: lifecycle.deprecate(
                    transaction, context.actor, context.rules, contract, version, notice
                ),
            )
        )

    def retire(self, contract: str, version: str, *, override: str | None = None) -> VersionAnswer:
        """Retire a version whose retirement is due and that no consumer reads; an override needs a reason."""
        context = self._context
        return version_answer(
            context.write_to(
                contract,
                lambda transaction, sight: retirement.retire(
                    transaction, context.actor, sight, context.rules, contract, version, override
                ),
            )
        )

    def archive(self, contract: str, version: str, *, override: str | None = None) -> VersionAnswer:
        """Take a version out of use permanently; it stays in the history."""
        context = self._context
        return version_answer(
            context.write_to(
                contract,
                lambda transaction, sight: retirement.archive(
                    transaction, context.actor, sight, context.rules, contract, version, override
                ),
            )
        )

    def deprecate_line(
        self,
        line: str,
        *,
        deprecation_uri: str | None = None,
        sunset_on: date | None = None,
        announced_on: date | None = None,
        replacement: str | None = None,
        reason: str | None = None,
    ) -> list[VersionAnswer]:
        """Deprecate all versions of a line that are draft, active or deprecated."""
        context, parsed = self._context, parse_line(line)
        notice = _deprecation(deprecation_uri, sunset_on, announced_on, replacement, reason)
        deprecated = context.write(
            lambda transaction: lifecycle.deprecate_line(
                transaction, context.actor, context.sight(transaction), context.rules, parsed, notice
            )
        )
        return [version_answer(version) for version in deprecated]

    def retire_line(self, line: str, *, override: str | None = None) -> list[VersionAnswer]:
        """Retire all versions of a line that are still in use, in one transaction."""
        context, parsed = self._context, parse_line(line)
        retired = context.write(
            lambda transaction: retirement.retire_line(
                transaction, context.actor, context.sight(transaction), context.rules, parsed, override
            )
        )
        return [version_answer(version) for version in retired]

    def tick(self) -> list[StepAnswer]:
        """Send the notices that are due: of statuses that follow from dates, and reminders of migrations."""
        return ticks.tick(self._context)

    def due(self) -> list[StepAnswer]:
        """Return what a tick would announce, without sending or changing anything."""
        return ticks.due(self._context)


def _deprecation(
    guide: str | None, sunset: date | None, announced: date | None, replacement: str | None, reason: str | None
) -> Deprecation:
    return Deprecation(
        announced=announced.isoformat() if announced else None,
        sunset_date=sunset.isoformat() if sunset else None,
        replacement=replacement,
        migration_guide=guide,
        reason=reason,
    )
