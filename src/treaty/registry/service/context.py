"""The context of a use case: the database, the actor and the rules of the registry."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TypeVar

from treaty.compatibility import Mode, parse_mode
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.access.tokens import in_force
from treaty.registry.documents import Document, PreparedDocument, prepare
from treaty.registry.rules import RegistryRules
from treaty.registry.service.dependencies import Dependencies
from treaty.registry.store import Connection, tokens
from treaty.registry.store.database import Database
from treaty.registry.store.search import Overviews
from treaty.registry.store.transaction import Transaction

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

    def read(self, question: Callable[[Connection], T], action: Action = Action.READ) -> T:
        """Run a read-only query if the actor is allowed to."""
        authorize(self.actor, action, EVERYTHING)
        with self.database.read() as connection:
            return question(connection)

    def write(self, unit: Callable[[Transaction], T]) -> T:
        """Run a unit of work in a transaction; the use case checks the permissions itself."""

        def signed(transaction: Transaction) -> T:
            self.check_in_force(transaction)
            return unit(transaction)

        return self.database.write(unit if self.actor.token is None else signed)

    def submit(self, unit: Callable[[Transaction], T]) -> Future[T]:
        """Queue a unit of work, and return a future."""
        return self.database.submit(unit)

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
        """The current time."""
        return self.database.clock()

    @property
    def today(self) -> date:
        """The current date."""
        return self.now.date()
