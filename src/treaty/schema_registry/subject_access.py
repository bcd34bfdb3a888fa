"""Reading and changing a subject: names that are allowed, who sees its contract, and who may change it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.service.context import Context
from treaty.registry.store import Connection, subjects, versions
from treaty.registry.store.subjects import CONTEXT_ITSELF, StoredSubject
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Sight, Visibility
from treaty.schema_registry.errors import invalid_subject, subject_not_found
from treaty.schema_registry.subjects import MAX_SUBJECT_LENGTH, Subject, parse_subject

T = TypeVar("T")
_RESERVED = frozenset({"__GLOBAL", "__EMPTY"})


def check_subject(subject: Subject) -> None:
    """Refuse names that no subject may have."""
    name = subject.name
    if not name.strip() or name in _RESERVED or len(name) > MAX_SUBJECT_LENGTH or not name.isprintable():
        raise invalid_subject(subject)


def check_sight(sight: Sight, subject: Subject, binding: StoredSubject | None) -> None:
    """Raise the error for an unknown subject if the actor may not read its contract."""
    if binding is not None and binding.contract is not None and not sight.sees(binding.contract):
        raise subject_not_found(subject)


def read_subject(context: Context, subject: Subject, question: Callable[[Connection, Subject], T]) -> T:
    """Run a query about a subject, or about the one that it is an alias of."""

    def find(connection: Connection, visibility: Visibility) -> T:
        binding = subjects.find_subject(connection, subject.context, subject.name)
        check_sight(visibility, subject, binding)
        alias = (binding.config or {}).get("alias") if binding else None
        return question(connection, parse_subject(alias, subject.context) if alias else subject)

    return context.read(find)


def write_subject(context: Context, subject: Subject, unit: Callable[[Transaction, StoredSubject | None], T]) -> T:
    """Run a unit of work on a subject; owners of its contract may change it, stewards those without one."""

    def run(transaction: Transaction) -> T:
        connection = transaction.connection
        binding = subjects.find_subject(connection, subject.context, subject.name)
        check_sight(context.sight(transaction), subject, binding)
        head = versions.highest(connection, binding.contract) if binding and binding.contract else None
        teams = head.teams if head is not None else frozenset()
        action = Action.GOVERN if subject.name == CONTEXT_ITSELF else Action.ADVANCE
        authorize(context.actor, action, Resource("subject", str(subject), teams))
        return unit(transaction, binding)

    return context.write(run)
