"""Where use cases meet the database: in the name of one actor, under the registry's ground rules."""

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
from treaty.registry.documents import Document, Prepared, prepare
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
    """One actor's way to the database."""

    database: Database
    rules: RegistryRules
    actor: Actor
    dependencies: Dependencies = field(default_factory=Dependencies)
    overviews: Overviews = field(default_factory=Overviews)

    def read(self, question: Callable[[Connection], T], action: Action = Action.READ) -> T:
        """Ask something of the database, if the actor may."""
        authorize(self.actor, action, EVERYTHING)
        with self.database.read() as connection:
            return question(connection)

    def write(self, unit: Callable[[Transaction], T]) -> T:
        """Change something; the use case itself sees to what the actor may."""

        def signed(transaction: Transaction) -> T:
            self.check_in_force(transaction)
            return unit(transaction)

        return self.database.write(unit if self.actor.token is None else signed)

    def submit(self, unit: Callable[[Transaction], T]) -> Future[T]:
        """Hand in a change, for those who do not wait in a thread."""
        return self.database.submit(unit)

    def check_in_force(self, transaction: Transaction) -> None:
        """Raise Unknown if the actor's token was revoked since it was verified."""
        token = self.actor.token
        if token is not None:
            transaction.once(in_force(token), lambda: tokens.check_in_force(transaction.connection, token))

    def prepared(self, document: Document) -> Prepared:
        """Return a document ready to be judged."""
        return document if isinstance(document, Prepared) else prepare(document, limits=self.rules.limits)

    def mode(self, asked: str | None) -> Mode:
        """Return the mode that is asked for, or the registry's."""
        return self.rules.mode if asked is None else parse_mode(asked)

    @property
    def now(self) -> datetime:
        """The moment it is."""
        return self.database.clock()

    @property
    def today(self) -> date:
        """The day it is."""
        return self.now.date()
