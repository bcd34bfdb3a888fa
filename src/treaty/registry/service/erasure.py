"""Erasure of the name of a person, who may ask for it, and the record of a key that was erased from tables.

What the person did stays in the audit log.
"""

from __future__ import annotations

from dataclasses import dataclass

from treaty.contracts.versions import Line
from treaty.errors import Conflict, InvalidDocument, NotFound
from treaty.registry.access.actors import RESERVED_NAMES, Actor
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.model import ErasureAnswer, KeyErasureAnswer
from treaty.registry.not_found import no_line
from treaty.registry.service.context import Context
from treaty.registry.store import Connection, actors, versions
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Sight


def erase_actor(context: Context, name: str, *, dry_run: bool) -> ErasureAnswer:
    """Erase a name and the identities that it signed in with, or count what would change."""
    authorize(context.actor, Action.MANAGE_TOKENS, Resource("actor", name))
    if name in RESERVED_NAMES:
        raise InvalidDocument(f"{name!r} is a name of the registry itself, not of a person; it cannot be erased")
    if dry_run:
        return context.read(lambda connection, _: _count(connection, name)[0], Action.MANAGE_TOKENS)

    def unit(transaction: Transaction) -> ErasureAnswer:
        counted, names = _count(transaction.connection, name)
        _check_unused(transaction, name, names)
        details = counted.model_dump(include={"entries", "rows", "notices", "sessions"})
        transaction.record(context.actor.name, "actor.erase", counted.id, details=details)
        actors.erase(transaction, names)
        return counted.model_copy(update={"dry_run": False})

    erased = context.write(unit)
    return erased.model_copy(update={"overwritten": context.database.overwrite_deleted()})


def _count(connection: Connection, name: str) -> tuple[ErasureAnswer, dict[str, str]]:
    names = actors.ids_of(connection, name)
    if name not in names:
        raise NotFound(f"no actor has the name {name!r}; see the names with: treaty admin audit list")
    traces = actors.count_traces(connection, names)
    return ErasureAnswer(id=names[name], **traces._asdict(), dry_run=True, overwritten=False), names


def _check_unused(transaction: Transaction, name: str, names: dict[str, str]) -> None:
    """Refuse the erasure of a name that would be written again, or that a decision depends on."""
    if token := actors.token_in_force(transaction.connection, names, transaction.now):
        raise Conflict(
            f"{name!r} can still sign in with token {token}; revoke it first: treaty admin token revoke {token}"
        )
    if proposal := actors.open_proposal(transaction.connection, names):
        raise Conflict(f"proposal {proposal} of {name!r} is open, and its proposer may not approve it; decide it first")


@dataclass(frozen=True)
class ErasedKey:
    """A key that was erased from the tables of a pipeline: its fields, and how many rows of which tables held it."""

    line: Line
    fields: tuple[str, ...]
    rows: int
    tables: tuple[str, ...]


def record_key_erasure(transaction: Transaction, actor: Actor, sight: Sight, erased: ErasedKey) -> KeyErasureAnswer:
    """Write the audit entry of an erasure. Neither the key nor a digest of it is stored: few keys can be guessed."""
    members = versions.versions_in_line(transaction.connection, erased.line)
    if not sight.sees(erased.line.contract) or not members:
        raise no_line(erased.line)
    authorize(actor, Action.NOTIFY, Resource("contract", erased.line.contract, members[0].teams))
    details = {"fields": list(erased.fields), "rows": erased.rows, "tables": list(erased.tables)}
    number = transaction.record(actor.name, "key.erase", str(erased.line), details=details)
    return KeyErasureAnswer(
        line=str(erased.line), fields=list(erased.fields), rows=erased.rows, tables=list(erased.tables), audit=number
    )
