"""Reading and changing a subject: names that are allowed, who sees its contract, and who may change it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.service.context import Context
from treaty.registry.store import Connection, subjects, versions
from treaty.registry.store.subjects import CONTEXT_ITSELF, StoredSubject, StoredSubjectVersion
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Sight, Visibility
from treaty.schema_registry.errors import invalid_subject, subject_not_found
from treaty.schema_registry.subjects import MAX_SUBJECT_LENGTH, Subject, key_subject, parse_subject, value_subject

T = TypeVar("T")
_RESERVED = frozenset({"__GLOBAL", "__EMPTY"})


def check_subject(subject: Subject) -> None:
    """Refuse names that no subject may have."""
    name = subject.name
    if not name.strip() or name in _RESERVED or len(name) > MAX_SUBJECT_LENGTH or not name.isprintable():
        raise invalid_subject(subject)


def sees_subject(connection: Connection, sight: Sight, subject: Subject, binding: StoredSubject | None) -> bool:
    """Return whether the actor may read the contract of a subject; keys of a topic belong to that of its values."""
    if binding is not None and not sight.sees(binding.contract):
        return False
    values = value_subject(subject)
    of_values = subjects.find_subject(connection, values.context, values.name) if values is not None else None
    return of_values is None or sight.sees(of_values.contract)


def check_sight(connection: Connection, sight: Sight, subject: Subject, binding: StoredSubject | None) -> None:
    """Raise the error for an unknown subject if the actor may not read its contract."""
    if not sees_subject(connection, sight, subject, binding):
        raise subject_not_found(subject)


def visible_versions(
    connection: Connection, visibility: Visibility, listed: list[StoredSubjectVersion]
) -> list[StoredSubjectVersion]:
    """Return the versions whose contract, and that of their subject, the actor may read."""
    if not visibility.hidden:
        return listed
    hidden = {Subject(*name) for name in subjects.names_of_contracts(connection, visibility.hidden)}
    hidden |= {keys for subject in hidden if (keys := key_subject(subject)) is not None}
    return [one for one in listed if visibility.sees(one.contract) and Subject(one.context, one.subject) not in hidden]


def sees_schema(connection: Connection, visibility: Visibility, context: str, identity: int) -> bool:
    """Return whether a subject that the actor may read has a schema, or had it before it was deleted."""
    if not visibility.hidden:
        return True
    return bool(
        visible_versions(connection, visibility, subjects.past_versions_of_schema(connection, context, identity))
    )


def read_subject(context: Context, subject: Subject, question: Callable[[Connection, Visibility, Subject], T]) -> T:
    """Run a query about a subject, or about the one that it is an alias of."""

    def find(connection: Connection, visibility: Visibility) -> T:
        binding = subjects.find_subject(connection, subject.context, subject.name)
        check_sight(connection, visibility, subject, binding)
        alias = (binding.config or {}).get("alias") if binding else None
        if not alias:
            return question(connection, visibility, subject)
        target = parse_subject(alias, subject.context)
        if not sees_subject(
            connection, visibility, target, subjects.find_subject(connection, target.context, target.name)
        ):
            raise subject_not_found(subject)
        return question(connection, visibility, target)

    return context.read(find)


def write_subject(context: Context, subject: Subject, unit: Callable[[Transaction, StoredSubject | None], T]) -> T:
    """Run a unit of work on a subject; owners of its contract may change it, stewards those without one."""

    def run(transaction: Transaction) -> T:
        connection = transaction.connection
        binding = subjects.find_subject(connection, subject.context, subject.name)
        check_sight(connection, context.sight(transaction), subject, binding)
        head = versions.highest(connection, binding.contract) if binding and binding.contract else None
        teams = head.teams if head is not None else frozenset()
        action = Action.GOVERN if subject.name == CONTEXT_ITSELF else Action.ADVANCE
        authorize(context.actor, action, Resource("subject", str(subject), teams))
        return unit(transaction, binding)

    return context.write(run)
