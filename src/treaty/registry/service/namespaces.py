"""Namespaces: which team may register new contracts below a prefix, and which ids a new contract may have."""

from __future__ import annotations

from collections.abc import Iterator

from treaty.contracts.lookalikes import SEPARATORS, find_mixed_scripts
from treaty.contracts.model import Contract
from treaty.contracts.names import ALLOWED_IN_IDS, invalid_id_characters
from treaty.errors import Conflict, InvalidDocument, NotAllowed, NotFound
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize, may
from treaty.registry.documents import check_name
from treaty.registry.model import NamespaceAnswer, ReasonAnswer
from treaty.registry.model.consumer_answers import ID_REFUSED, NAMESPACE_OF_OTHER_TEAM, NAMESPACE_OWNED
from treaty.registry.store import Connection, namespaces
from treaty.registry.store.namespaces import Namespace
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.versions import StoredVersion
from treaty.registry.store.visibility import EVERYTHING_VISIBLE, Sight

_MAX_LISTED_CONTRACTS = 1_000


def assign(transaction: Transaction, actor: Actor, prefix: str, team: str) -> NamespaceAnswer:
    """Give a namespace to a team; the answer lists the contracts in it that belong to other teams."""
    _check_prefix(prefix)
    check_name(team, "team")
    authorize(actor, Action.GOVERN, Resource("namespace", prefix))
    connection = transaction.connection
    before = namespaces.find_assigned(connection, prefix)
    if before is not None and before.prefix != prefix:
        raise Conflict(
            f"the namespace {prefix!r} looks like {before.prefix!r}, which belongs to team {before.team}; "
            f"assign {before.prefix!r}, or release it first"
        )
    namespace = Namespace(prefix, team, transaction.now, actor.name)
    if before is not None and before.team == team:
        namespace = before
    else:
        transaction.record(
            actor.name,
            "namespace.assign",
            prefix,
            before={"team": before.team} if before else None,
            after={"team": team},
            details={"team": team, "before": before.team if before else None},
        )
        namespaces.put_namespace(transaction, namespace)
    return _answer(connection, namespace)


def release(transaction: Transaction, actor: Actor, prefix: str) -> NamespaceAnswer:
    """Take a namespace from its team; any team may register contracts in it again."""
    authorize(actor, Action.GOVERN, Resource("namespace", prefix))
    namespace = namespaces.find_assigned(transaction.connection, prefix)
    if namespace is None or namespace.prefix != prefix:
        raise NotFound(
            f"the namespace {prefix!r} belongs to no team; list namespaces with: treaty admin namespace list"
        )
    transaction.record(
        actor.name, "namespace.release", prefix, before={"team": namespace.team}, details={"team": namespace.team}
    )
    namespaces.release_namespace(transaction, prefix)
    return NamespaceAnswer(
        prefix=prefix, team=namespace.team, assigned_at=namespace.assigned_at, assigned_by=namespace.assigned_by
    )


def page(connection: Connection, after: str, limit: int) -> list[NamespaceAnswer]:
    """Return namespaces after a prefix, without the contracts of other teams."""
    return [
        NamespaceAnswer(prefix=one.prefix, team=one.team, assigned_at=one.assigned_at, assigned_by=one.assigned_by)
        for one in namespaces.list_namespaces(connection, after, limit)
    ]


def check_namespace(transaction: Transaction, actor: Actor, contract: Contract, before: StoredVersion | None) -> None:
    """Refuse a new contract in the namespace of another team.

    Contracts that are registered stay with their owners, who may register new versions. Only the team of the
    namespace, or a steward, may give such a contract to a team that neither owns it nor the namespace.
    """
    if not transaction.has_namespaces:
        return
    new_teams = {owner.team for owner in contract.owners} - (before.teams if before else set())
    if before is not None and not new_teams:
        return
    namespace = namespaces.namespace_of(transaction.connection, contract.id)
    if namespace is None or (before is not None and new_teams <= {namespace.team}):
        return
    if not may(actor, Action.REGISTER, Resource("namespace", namespace.prefix, frozenset({namespace.team}))):
        raise NotAllowed(
            f"{actor.name} may not register {contract.id!r}: the namespace {namespace.prefix!r} belongs to team "
            f"{namespace.team}; ask a member of {namespace.team} to register it, choose an id outside the namespace, "
            "or ask a steward for a namespace of your own: treaty admin namespace assign"
        )


def check_new_id(connection: Connection, contract: Contract, sight: Sight = EVERYTHING_VISIBLE) -> None:
    """Refuse the id of a new contract if it has special characters, mixes scripts, or looks like another id."""
    if characters := invalid_id_characters(contract.id):
        raise InvalidDocument(
            f"the id {contract.id!r} contains {' '.join(map(repr, characters))}; use {ALLOWED_IN_IDS}"
        )
    if (mixed := find_mixed_scripts(contract.id)) is not None:
        word, scripts = mixed
        raise InvalidDocument(
            f"the id {contract.id!r} mixes {' and '.join(scripts)} letters in {word!r}; write each word in one script"
        )
    other = namespaces.find_lookalike(connection, contract.id)
    if other is not None and sight.sees(other.id):
        name = "that of a private contract" if other.is_private else repr(other.id)
        command = "" if other.is_private else f" (treaty show {other.id})"
        raise Conflict(
            f"the id {contract.id!r} looks like {name}, which is registered: case, dashes, underscores and similar "
            f"letters of other scripts do not tell ids apart; register a new version of that contract{command}, or "
            "choose another id"
        )


def objections_to_new_id(connection: Connection, sight: Sight, contract: Contract) -> Iterator[ReasonAnswer]:
    """Yield why a new contract cannot be registered under its id, and whom its namespace belongs to.

    A namespace of a team that does not own the contract is a warning, because a steward can register it nevertheless.
    A contract that the actor may not see is no objection here; only registering an id reveals that it is taken.
    """
    try:
        check_new_id(connection, contract, sight)
    except (InvalidDocument, Conflict) as error:
        yield ReasonAnswer(kind=ID_REFUSED, message=str(error))
    namespace = namespaces.namespace_of(connection, contract.id)
    if namespace is None:
        return
    belongs = f"the namespace {namespace.prefix!r} belongs to team {namespace.team}"
    owners = [owner.team for owner in contract.owners]
    if namespace.team in owners:
        text = f"{belongs}; only its members can register it"
        yield ReasonAnswer(kind=NAMESPACE_OWNED, message=text, severity="warning")
    else:
        text = (
            f"{belongs}, which does not own the contract; choose an id outside the namespace, or ask a steward: "
            f"treaty admin namespace assign {namespace.prefix} {owners[0] if owners else 'TEAM'}"
        )
        yield ReasonAnswer(kind=NAMESPACE_OF_OTHER_TEAM, message=text, severity="warning")


def _check_prefix(prefix: str) -> None:
    check_name(prefix, "namespace")
    if prefix[-1] not in SEPARATORS or len(prefix) < 2:
        raise InvalidDocument(
            f"the namespace {prefix!r} does not end with one of {' '.join(SEPARATORS)}; "
            "write a prefix such as 'pay.', which covers 'pay.cards' and not 'payroll'"
        )


def _answer(connection: Connection, namespace: Namespace) -> NamespaceAnswer:
    others = [
        contract.id
        for contract in namespaces.contracts_in(connection, namespace.prefix)
        if namespace.team not in contract.teams and namespaces.namespace_of(connection, contract.id) == namespace
    ]
    return NamespaceAnswer(
        prefix=namespace.prefix,
        team=namespace.team,
        assigned_at=namespace.assigned_at,
        assigned_by=namespace.assigned_by,
        other_contracts=others[:_MAX_LISTED_CONTRACTS],
        more=max(0, len(others) - _MAX_LISTED_CONTRACTS),
    )
