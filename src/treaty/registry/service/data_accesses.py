"""The log of accesses to published rows, as owners and stewards read it."""

from __future__ import annotations

from treaty.errors import InvalidDocument
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.model import DataAccessAnswer, Page
from treaty.registry.model.page import after, check_limit, page_of
from treaty.registry.not_found import ContractNotFound
from treaty.registry.service.context import EVERYTHING, Context
from treaty.registry.store import Connection, data_accesses, versions
from treaty.registry.store.data_accesses import DataAccess
from treaty.registry.store.visibility import Visibility, check_visible


def list_accesses(
    context: Context, contract: str | None, consumer: str | None, decision: str | None, cursor: str | None, limit: int
) -> Page[DataAccessAnswer]:
    """List accesses, the newest first: of a contract for those who own it, of all contracts for stewards."""
    check_limit(limit)
    if decision is not None and len(decision) > 24:
        raise InvalidDocument("decision is not one of the log; leave it out to see which there are")
    (seq,) = after(cursor, 0)
    before = int(seq) if cursor else None

    def read(connection: Connection, visibility: Visibility) -> list[DataAccessAnswer]:
        resource = EVERYTHING if contract is None else _log_of(connection, visibility, contract)
        authorize(context.actor, Action.READ_ACCESSES, resource)
        decisions = {decision} if decision is not None else set[str]()
        rows = data_accesses.page_of_accesses(connection, visibility, contract, consumer, decisions, before, limit + 1)
        return list(map(_answer, rows))

    return page_of(context.read(read), limit, _place)


def _log_of(connection: Connection, visibility: Visibility, contract: str) -> Resource:
    check_visible(visibility, contract)
    highest = versions.highest(connection, contract)
    if highest is None:
        raise ContractNotFound(contract)
    return Resource("the access log of", contract, highest.teams)


def _place(access: DataAccessAnswer) -> tuple[int]:
    return (access.seq,)


def _answer(access: DataAccess) -> DataAccessAnswer:
    return DataAccessAnswer(
        seq=access.seq,
        at=access.at,
        actor=access.actor,
        consumer=access.consumer,
        line=str(access.line),
        version=access.version,
        fields=list(access.fields),
        filters=list(access.filters),
        rows=access.rows,
        purpose=access.purpose,
        run=access.run,
        decision=access.decision,
    )
