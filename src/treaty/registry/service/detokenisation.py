"""Permission to turn tokens back into values: the role that the data policy names, a purpose, and an audit entry."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.contracts.paths import FieldPath
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument, NotAllowed, NotFound
from treaty.policy.token_rules import MAX_TOKENS_AT_ONCE, find_token_rule
from treaty.registry.access.actors import PER_TEAM, Actor, Grant, Role
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.model import DetokenisationAnswer
from treaty.registry.not_found import no_line
from treaty.registry.service.context import Context
from treaty.registry.service.lifecycle import head_of
from treaty.registry.service.policies import effective_of
from treaty.registry.store import versions
from treaty.registry.store.transaction import Transaction

_RANK = {role: rank for rank, role in enumerate(Role)}


@dataclass(frozen=True)
class DetokenisationRequest:
    """How many tokens of which field are to be reversed, and why."""

    line: Line
    field: FieldPath
    purpose: str
    tokens: int


def authorize_detokenisation(
    transaction: Transaction, context: Context, request: DetokenisationRequest
) -> DetokenisationAnswer:
    """Return the name of the key if the actor may turn the tokens back, and write the audit entry."""
    if not 1 <= request.tokens <= MAX_TOKENS_AT_ONCE:
        raise InvalidDocument(f"1 to {MAX_TOKENS_AT_ONCE:,} tokens are reversed at once, not {request.tokens:,}")
    line, connection = request.line, transaction.connection
    members = versions.versions_in_line(connection, line)
    if not members or not context.sight(transaction).sees(line.contract):
        raise no_line(line)
    head = head_of(members)
    bound = effective_of(connection, context.rules, head, context.today)
    try:
        rule = find_token_rule(bound.contract, request.field, request.purpose, bound.policies)
    except NotFound:  # callers without the right to turn back tokens do not learn the rules
        authorize(context.actor, Action.DETOKENISE, Resource("tokens of", str(line), head.teams))
        raise
    named = {team for role in rule.roles if (team := role.partition(":")[2])}
    authorize(context.actor, Action.DETOKENISE, Resource("tokens of", str(line), head.teams | named))
    for role in rule.roles:
        if not _holds(context.actor, role, head.teams):
            raise NotAllowed(
                f"{context.actor.name} may not turn back the tokens of {request.field} of {line}: "
                f"the data policy requires the role {role}"
            )
    details = {"field": str(request.field), "purpose": request.purpose, "tokens": request.tokens, "key": rule.key}
    number = transaction.record(context.actor.name, "tokens.detokenise", str(line), details=details)
    return DetokenisationAnswer(
        line=str(line),
        field=str(request.field),
        purpose=request.purpose,
        tokens=request.tokens,
        key=rule.key,
        audit=number,
    )


def _holds(actor: Actor, role: str, owners: frozenset[str]) -> bool:
    """Return whether an actor has a role or one with more permissions; `owner` is one of a team of the contract."""
    needed, colon, team = role.partition(":")
    if needed not in tuple(Role):
        return False
    teams = frozenset({team}) if colon else owners
    return any(_reaches(grant, Role(needed), teams) for grant in actor.grants)


def _reaches(grant: Grant, needed: Role, teams: frozenset[str]) -> bool:
    return _RANK[grant.role] >= _RANK[needed] and (grant.role not in PER_TEAM or grant.team in teams)
