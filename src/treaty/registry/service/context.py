"""The context of a use case: the database, the actor and the rules of the registry."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cached_property
from typing import TypeVar

from treaty.compatibility import Mode, parse_mode
from treaty.errors import InvalidDocument
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize, reader_names
from treaty.registry.access.tokens import in_force
from treaty.registry.documents import Document, PreparedDocument, prepare
from treaty.registry.notices.secret_box import SecretBox
from treaty.registry.rules import RegistryRules
from treaty.registry.service.dependencies import Dependencies
from treaty.registry.service.event_inbox import EventInbox
from treaty.registry.service.seen_readers import SeenReaders
from treaty.registry.store import Connection, tokens
from treaty.registry.store.database import Database
from treaty.registry.store.search import Overviews
from treaty.registry.store.search_words import Vocabulary
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import (
    EVERYTHING_VISIBLE,
    PrivateContracts,
    Readers,
    Sight,
    Visibility,
    check_visible,
    sight_in,
)

T = TypeVar("T")
EVERYTHING = Resource("registry", "contracts")


@dataclass(frozen=True)
class Context:
    """The database, as one actor may use it."""

    database: Database
    rules: RegistryRules
    actor: Actor
    dependencies: Dependencies = field(default_factory=Dependencies)
    overviews: Overviews = field(default_factory=Overviews)
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    seen_readers: SeenReaders = field(default_factory=SeenReaders)
    event_inbox: EventInbox = field(default_factory=EventInbox)
    private_contracts: PrivateContracts = field(default_factory=PrivateContracts)
    limited_to: Readers | None = None
    """The readers to whom contracts are shown, if they are fewer than the actor may see."""
    secrets: SecretBox = field(default_factory=SecretBox)
    asked_at: datetime | None = None
    """The time that is shown, if it is another than now; then nothing can be changed."""

    def at(self, now: datetime) -> Context:
        """Return the context for showing things as they are at another time, without changing anything."""
        if now.tzinfo is None:
            raise InvalidDocument(f"the time {now} has no time zone; add one, such as Z")
        try:
            asked_at = now.astimezone(UTC)
        except OverflowError:
            raise InvalidDocument(f"the time {now.isoformat()} is beyond the calendar; use another") from None
        return replace(self, asked_at=asked_at, overviews=Overviews())

    def read(self, question: Callable[[Connection, Visibility], T], action: Action = Action.READ) -> T:
        """Run a read-only query if the actor is allowed to; the query leaves out what the actor may not see."""
        authorize(self.actor, action, EVERYTHING)
        if self.readers is None:
            with self.database.read(self.asked_at) as connection:
                return question(connection, EVERYTHING_VISIBLE)
        with self.database.snapshot(self.asked_at) as connection:
            return question(connection, self.private_contracts.visibility(connection, self.readers))

    @cached_property
    def readers(self) -> Readers | None:
        """The names that private contracts know the actor by; None if it may read every contract."""
        return reader_names(self.actor, self.rules.domains) if self.limited_to is None else self.limited_to

    def sight(self, transaction: Transaction) -> Sight:
        """Return what the actor may read, inside a write transaction."""
        return sight_in(transaction, self.readers)

    def read_contract(self, contract: str, question: Callable[[Connection], T]) -> T:
        """Run a query about one contract; one that the actor may not read is not found."""

        def read(connection: Connection, visibility: Visibility) -> T:
            check_visible(visibility, contract)
            return question(connection)

        return self.read(read)

    def write_to(self, contract: str, unit: Callable[[Transaction, Sight], T]) -> T:
        """Run a unit of work about one contract; one that the actor may not read is not found."""

        def write(transaction: Transaction) -> T:
            sight = self.sight(transaction)
            check_visible(sight, contract)
            return unit(transaction, sight)

        return self.write(write)

    def write(self, unit: Callable[[Transaction], T]) -> T:
        """Run a unit of work in a transaction; the use case checks the permissions itself."""
        self._refuse_to_write_at_another_time()

        def signed(transaction: Transaction) -> T:
            self.check_in_force(transaction)
            return unit(transaction)

        return self.database.write(unit if self.actor.token is None else signed)

    def submit(self, unit: Callable[[Transaction], T]) -> Future[T]:
        """Queue a unit of work, and return a future."""
        self._refuse_to_write_at_another_time()
        return self.database.submit(unit)

    def _refuse_to_write_at_another_time(self) -> None:
        if self.asked_at is not None:
            shown = f"{self.asked_at:%Y-%m-%d %H:%M} UTC"
            raise InvalidDocument(f"the registry is shown as it is at {shown}; nothing can be changed then")

    def check_in_force(self, transaction: Transaction) -> None:
        """Raise Unknown if the actor's token was revoked since it was verified."""
        token = self.actor.token
        if token is not None:
            transaction.once(in_force(token), lambda: tokens.check_in_force(transaction.connection, token))

    def prepared(self, document: Document) -> PreparedDocument:
        """Return the document in prepared form."""
        return document if isinstance(document, PreparedDocument) else prepare(document, limits=self.rules.limits)

    def mode(self, requested: str | None) -> Mode:
        """Return the requested mode, by default that of the registry."""
        return self.rules.mode if requested is None else parse_mode(requested)

    @property
    def now(self) -> datetime:
        """The time that is shown: now, unless another time was asked for."""
        return self.asked_at or self.database.clock()

    @property
    def today(self) -> date:
        """The date that is shown."""
        return self.now.date()

    @property
    def actual_today(self) -> date:
        """The date of the clock, whatever is shown."""
        return self.database.clock().date()
