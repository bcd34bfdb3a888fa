"""The registry on a database: contracts, their versions and their lives; consumers, governance, notices, access."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from datetime import date
from types import TracebackType

from sqlalchemy import Connection, select

from treaty.compatibility import diff, judge
from treaty.contracts.versions import Line, parse_line
from treaty.governance.lifecycle import Status
from treaty.registry.access.actors import Actor, local_actor
from treaty.registry.access.permissions import Action, authorize
from treaty.registry.documents import HandedIn, as_json
from treaty.registry.model import (
    ActivityAnswer,
    ContractAnswer,
    DiffAnswer,
    DocumentAnswer,
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
from treaty.registry.service.context import EVERYTHING, Context, Document
from treaty.registry.service.governance import Governance
from treaty.registry.service.judgement import diff_answer
from treaty.registry.service.measures import Measures
from treaty.registry.service.migrations import Migrations
from treaty.registry.service.notifications import Notices
from treaty.registry.service.registration import note_later
from treaty.registry.service.version_answers import document_answer, line_answers, version_answer
from treaty.registry.store import activity_feed, migration_records, search, teams, versions
from treaty.registry.store.database import Clock, Database, utc_now
from treaty.registry.store.tables import contracts
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import Kept

_DEPRECATED_FROM = frozenset({Status.DRAFT, Status.ACTIVE, Status.DEPRECATED})


class Registry:
    """A durable registry; what it does is done in the name of its actor."""

    def __init__(self, desk: Context) -> None:
        self._desk = desk
        self.consumers = Consumers(desk)
        self.governance = Governance(desk)
        self.measures = Measures(desk)
        self.migrations = Migrations(desk)
        self.notices = Notices(desk)
        self.access = Access(desk)

    @classmethod
    def open(
        cls, reference: str, *, actor: str = "local", rules: RegistryRules | None = None, clock: Clock = utc_now
    ) -> Registry:
        """Open a registry by the path of its file or the URL of its database; who can do that may do everything."""
        return cls(Context(Database.open(reference, clock), rules or RegistryRules(), local_actor(actor)))

    def acting_as(self, actor: Actor) -> Registry:
        """Return the same registry in the name of somebody else."""
        return Registry(replace(self._desk, actor=actor))

    @property
    def desk(self) -> Context:
        """The way to the database, for those who serve the registry."""
        return self._desk

    def close(self) -> None:
        """Finish what was begun, and let go of the database."""
        self._desk.database.close()

    def __enter__(self) -> Registry:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def register(self, document: Document, *, compatibility: str | None = None) -> Registration:
        """Register a version if it is admissible; else raise VersionRefused with the report."""
        handed_in = HandedIn(self._desk.prepared(document), compatibility)
        return self.submit(lambda: handed_in).result()

    def submit(self, read: Callable[[], HandedIn]) -> Future[Registration]:
        """Queue a version for registration; the future is done once it is durable or refused."""
        desk, handed_in = self._desk, read()
        document, mode = handed_in.document, desk.mode(handed_in.compatibility)
        _ = document.words, document.digest  # computed here, before the database is locked

        def register(transaction: Transaction) -> Registration:
            desk.check_in_force(transaction)
            try:
                return registration.register(transaction, desk.actor, desk.rules, document, mode)
            except registration.VersionRefused as refusal:
                if refusal.judgement is not None:
                    note_later(desk, refusal.judgement)
                raise

        return desk.submit(register)

    def check(self, document: Document, *, compatibility: str | None = None) -> CompatibilityReport:
        """Judge a version without registering it."""
        desk = self._desk
        candidate, mode = desk.prepared(document), desk.mode(compatibility)
        return desk.read(lambda it: judgement.judge(it, desk.rules, candidate, mode, desk.today).report, Action.CHECK)

    def datasets(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[str]:
        """List the ids of contracts."""
        check_limit(limit)
        (start,) = after(cursor, "")
        asked = select(contracts.c.id).where(contracts.c.id > start).order_by(contracts.c.id).limit(limit + 1)
        return page_of(self._desk.read(lambda it: list(it.execute(asked).scalars())), limit, lambda one: (one,))

    def search(self, query: Query, *, cursor: str | None = None, limit: int = PAGE) -> Page[ContractAnswer]:
        """Find contracts by name, field, owner, domain, tag or a word in their meanings."""
        check_limit(limit)
        (start,) = after(cursor, "")
        found = self._desk.read(lambda it: search.search(it, self._desk.now, query, str(start), limit + 1))
        return page_of(found, limit, lambda one: (one.id,))

    def overview(self) -> OverviewAnswer:
        """Count the contracts by domain, tier, status, owning team and health."""
        return self._desk.read(lambda it: self._desk.overviews.counts(it, self._desk.now))

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
        """List what happened, the newest first: of a contract, what concerns a team, of a kind, since a day."""
        check_limit(limit)
        before = int(after(cursor, 0)[0]) if cursor is not None else None
        wanted = activity_feed.Wanted(contract, team, kind, since)
        return self._desk.read(lambda it: activity_feed.page(it, wanted, before, limit))

    def upcoming(
        self,
        *,
        contract: str | None = None,
        team: str | None = None,
        days: int = 60,
        cursor: str | None = None,
        limit: int = PAGE,
    ) -> Page[UpcomingAnswer]:
        """List what comes within so many days, the nearest first: deprecations, sunsets, retirements, ends of moves."""
        check_limit(limit)
        on, line, kind = map(str, after(cursor, "", "", ""))
        found = self._desk.read(
            lambda it: upcoming(it, self._desk.today, days, contract, team, (on, line, kind), limit + 1)
        )
        return page_of(found, limit, lambda one: (one.on.isoformat(), one.line, one.kind))

    def teams(self, *, cursor: str | None = None, limit: int = PAGE) -> Page[TeamAnswer]:
        """List the teams that own or read something, with how much."""
        check_limit(limit)
        (start,) = after(cursor, "")
        found = self._desk.read(lambda it: teams.page(it, str(start), limit + 1))
        return page_of(found, limit, lambda one: (one.team,))

    def latest(self, contract: str) -> DocumentAnswer:
        """Return the highest active version."""
        return self._desk.read(lambda it: document_answer(*versions.latest(it, contract)))

    def latest_json(self, contract: str) -> bytes:
        """Return the document of the highest active version as JSON, from the read cache where possible."""
        cached = self.cached_latest_json(contract)
        if cached is not None:
            return cached
        cache = self._desk.database.at_hand
        stamp = cache.mark()
        document = as_json(self._desk.read(lambda it: versions.latest(it, contract))[1])
        cache.put(contract, document, stamp)
        return document

    def cached_latest_json(self, contract: str) -> bytes | None:
        """Return what `latest_json` does if it is in the read cache, without a query; None otherwise."""
        authorize(self._desk.actor, Action.READ, EVERYTHING)
        return self._desk.database.at_hand.get(contract)

    def ask_latest(self, contract: str) -> Future[bytes]:
        """Return the latest document as a future."""
        future: Future[bytes] = Future()
        try:
            future.set_result(self.latest_json(contract))
        except Exception as error:
            future.set_exception(error)
        return future

    def get(self, contract: str, version: str) -> DocumentAnswer:
        """Return one version with its document."""
        return self._document(lambda it: versions.version_of(it, contract, version))

    def given(self, contract: str, version: str) -> tuple[bytes, str]:
        """Return a document exactly as it was handed in, and what it is."""

        def find(it: Connection) -> tuple[bytes, str]:
            found = versions.version_of(it, contract, version)
            return versions.given(it, found), found.media

        return self._desk.read(find)

    def history(self, contract: str, *, cursor: str | None = None, limit: int = PAGE) -> Page[DocumentAnswer]:
        """List versions with their documents, in the order they were registered."""
        check_limit(limit)
        (start,) = after(cursor, 0)
        found = self._desk.read(lambda it: versions.history(it, contract, int(start), limit + 1))
        numbered = page_of(found, limit, lambda one: (one[0].seq,))
        return Page(items=[document_answer(*one) for one in numbered.items], next=numbered.next)

    def lines(self, contract: str) -> list[LineAnswer]:
        """List the lines of a contract, the highest first."""
        return self._desk.read(lambda it: line_answers(it, contract))

    def diff(self, contract: str, before: str, after_: str, *, compatibility: str | None = None) -> DiffAnswer:
        """Say what differs between two versions, whom it breaks, and which version it needs."""
        mode = self._desk.mode(compatibility)

        def compare(it: Connection) -> DiffAnswer:
            old, new = (versions.contract_of(it, versions.version_of(it, contract, one)) for one in (before, after_))
            return diff_answer(judge(diff(old, new), mode, self._desk.rules.grading))

        return self._desk.read(compare)

    def activate(self, contract: str, version: str) -> VersionAnswer:
        """Let a draft be read, or take a deprecation back."""
        desk = self._desk
        return version_answer(desk.write(lambda it: lifecycle.activate(it, desk.actor, desk.rules, contract, version)))

    def deprecate(
        self, contract: str, version: str, *, deprecation_uri: str, sunset_on: date | None = None
    ) -> VersionAnswer:
        """Announce that a version goes away, with the address of the migration plan."""
        desk = self._desk
        return version_answer(
            desk.write(
                lambda it: lifecycle.deprecate(
                    it, desk.actor, desk.rules, contract, version, deprecation_uri, sunset_on
                )
            )
        )

    def retire(self, contract: str, version: str, *, override: str | None = None) -> VersionAnswer:
        """End a version once its day has come and nobody reads it; an override needs a reason."""
        desk = self._desk
        return version_answer(desk.write(lambda it: lifecycle.retire(it, desk.actor, contract, version, override)))

    def archive(self, contract: str, version: str, *, override: str | None = None) -> VersionAnswer:
        """Take a version out of use for good; history stays."""
        desk = self._desk
        return version_answer(desk.write(lambda it: lifecycle.archive(it, desk.actor, contract, version, override)))

    def deprecate_line(self, line: str, *, deprecation_uri: str, sunset_on: date | None = None) -> list[VersionAnswer]:
        """Announce that a line goes away: all its versions that are still welcome."""
        desk = self._desk
        return self._step_line(
            parse_line(line),
            _DEPRECATED_FROM,
            lambda it, one: lifecycle.deprecate(
                it, desk.actor, desk.rules, one.contract, one.version, deprecation_uri, sunset_on
            ),
        )

    def retire_line(self, line: str, *, override: str | None = None) -> list[VersionAnswer]:
        """End a line: every version of it that is not gone, together or not at all."""
        desk, parsed = self._desk, parse_line(line)
        retired = desk.write(lambda it: lifecycle.retire_line(it, desk.actor, parsed, override))
        return [version_answer(one) for one in retired]

    def tick(self) -> list[StepAnswer]:
        """Advance every version whose day has come, and remind those who are still to move."""
        desk = self._desk
        authorize(desk.actor, Action.TICK, EVERYTHING)
        steps: list[StepAnswer] = []
        while self._is_due():
            steps += desk.write(lambda it: lifecycle.tick(it, desk.rules))
            steps += desk.write(lambda it: migration_start.remind(it, desk.rules))
        return steps

    def _is_due(self) -> bool:
        with self._desk.database.read() as connection:
            today = self._desk.today
            return bool(versions.due(connection, today, limit=1) or migration_records.due(connection, today, limit=1))

    def _document(self, find: Callable[[Connection], Kept]) -> DocumentAnswer:
        def read(it: Connection) -> DocumentAnswer:
            found = find(it)
            return document_answer(found, versions.document_of(it, found))

        return self._desk.read(read)

    def _step_line(
        self, line: Line, of: frozenset[Status], step: Callable[[Transaction, Kept], Kept]
    ) -> list[VersionAnswer]:
        def walk(it: Transaction) -> list[Kept]:
            return [step(it, one) for one in reversed(lifecycle.step_line(it, line, of))]

        return [version_answer(one) for one in self._desk.write(walk)]
