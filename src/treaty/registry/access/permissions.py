"""Permissions: one table of actions and the roles that may do them. What no rule allows is denied."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from treaty.contracts.blocks import Audience
from treaty.errors import NotAllowed
from treaty.registry.access.actors import Actor, Grant, Role, Scope


class Action(StrEnum):
    """The actions of the registry."""

    READ = "read"
    CHECK = "check"
    REGISTER = "register"
    SUBSCRIBE = "subscribe"
    CHALLENGE = "challenge"  # an unconfirmed consumer of a contract
    NOTIFY = "notify"  # channels, reporting a breach, and what was measured
    ADVANCE = "advance"  # the steps of a life: activate, deprecate, retire, archive
    APPROVE = "approve"
    WAIVE = "waive"
    GOVERN = "govern"  # policy contracts of the enterprise or a domain
    OVERRIDE = "override"
    TICK = "tick"
    AUDIT = "audit"
    DETOKENISE = "detokenise"  # with the role that the data policy names
    READ_ACCESSES = "read-accesses"  # who read the published rows of a contract
    REPORT_ACCESSES = "report-accesses"  # of a consumer by itself; those of others need NOTIFY for the contract
    MANAGE_TOKENS = "manage-tokens"


class Care(StrEnum):
    """What an action requires besides a role and a scope."""

    NOT_PROPOSER = "not the proposer"  # proposers may not approve their own proposals
    REASON = "reason"


@dataclass(frozen=True, slots=True)
class Rule:
    """Which scope an action needs, and which roles: held anywhere, or in a team of the resource."""

    scope: Scope
    anywhere: frozenset[Role]
    in_team: frozenset[Role] = frozenset()
    care: Care | None = None


@dataclass(frozen=True, slots=True)
class Proposer:
    """Who proposed something. Proposals that are older than identities have only a name."""

    name: str
    identity: str | None = None

    def is_same_as(self, actor: Actor) -> bool:
        """Return whether the actor is the proposer."""
        return self.name == actor.name if self.identity is None else self.identity == actor.identity


@dataclass(frozen=True, slots=True)
class Resource:
    """The resource of an action: the teams that own it (of a subscription: the consumer's) and its proposer."""

    kind: str
    name: str
    teams: frozenset[str] = frozenset()
    proposer: Proposer | None = None


_EVERYBODY = frozenset(Role)
_MEMBERS = frozenset({Role.CONTRIBUTOR, Role.OWNER})
_OWNERS = frozenset({Role.OWNER})
_STEWARDS = frozenset({Role.STEWARD, Role.ADMIN})
_ADMINS = frozenset({Role.ADMIN})

RULES: dict[Action, Rule] = {
    Action.READ: Rule(Scope.READ, _EVERYBODY),
    Action.CHECK: Rule(Scope.READ, _EVERYBODY),  # judges a document and keeps nothing
    Action.REGISTER: Rule(Scope.WRITE, _STEWARDS, _MEMBERS),
    Action.SUBSCRIBE: Rule(Scope.WRITE, _STEWARDS, _MEMBERS),
    Action.CHALLENGE: Rule(Scope.WRITE, _STEWARDS, _MEMBERS),
    Action.NOTIFY: Rule(Scope.WRITE, _STEWARDS, _MEMBERS),
    Action.ADVANCE: Rule(Scope.WRITE, _STEWARDS, _OWNERS),
    Action.APPROVE: Rule(Scope.WRITE, _STEWARDS, _OWNERS, Care.NOT_PROPOSER),
    Action.WAIVE: Rule(Scope.WRITE, _STEWARDS),
    Action.GOVERN: Rule(Scope.WRITE, _STEWARDS),
    Action.OVERRIDE: Rule(Scope.WRITE, _STEWARDS, care=Care.REASON),
    Action.TICK: Rule(Scope.WRITE, _STEWARDS),
    Action.AUDIT: Rule(Scope.READ, _STEWARDS),
    Action.DETOKENISE: Rule(Scope.WRITE, _STEWARDS, _MEMBERS),
    Action.READ_ACCESSES: Rule(Scope.READ, _STEWARDS, _MEMBERS),
    Action.REPORT_ACCESSES: Rule(Scope.READ, _EVERYBODY),  # all who may read rows may record that they did
    Action.MANAGE_TOKENS: Rule(Scope.ADMIN, _ADMINS),
}
"""The rule of each action."""

_RANK = {role: rank for rank, role in enumerate(Role)}
_ONE = {
    Role.VIEWER: "a viewer",
    Role.CONTRIBUTOR: "a contributor",
    Role.OWNER: "an owner",
    Role.STEWARD: "a steward",
    Role.ADMIN: "an admin",
}


class _Request(NamedTuple):
    actor: Actor
    rule: Rule
    resource: Resource
    reason: str | None


def authorize(actor: Actor, action: Action, resource: Resource, reason: str | None = None) -> None:
    """Return if the actor may do this to the resource; raise NotAllowed with the reason otherwise."""
    against = objection(actor, action, resource, reason)
    if against is not None:
        raise NotAllowed(f"{actor.name} may not {action} {resource.kind} {resource.name!r}: {against}")


def may(actor: Actor, action: Action, resource: Resource, reason: str | None = None) -> bool:
    """Return whether the actor may do this to the resource."""
    return objection(actor, action, resource, reason) is None


def reader_names(actor: Actor, domains: Mapping[str, Collection[str]]) -> frozenset[str] | None:
    """Return the names that private contracts know an actor by; None if it may read every contract.

    These are the teams in which it has a role, and the domains that these teams belong to.
    """
    if any(grant.role in _STEWARDS for grant in actor.grants):
        return None
    teams = {grant.team for grant in actor.grants if grant.team is not None}
    member_of = {domain for domain, members in domains.items() if not teams.isdisjoint(members)}
    return Audience(tuple(teams), tuple(member_of)).names


def scopes_for(grants: Iterable[Grant]) -> frozenset[Scope]:
    """Return every scope that some action of these roles needs."""
    roles = {grant.role for grant in grants}
    return frozenset(rule.scope for rule in RULES.values() if roles & (rule.anywhere | rule.in_team))


def who_may(rule: Rule) -> str:
    """Name the least role that a rule lets in, anywhere and in a team, and the scope that goes with it."""
    who = _ONE[min(rule.anywhere, key=_RANK.__getitem__)]
    if rule.in_team:
        who += f", or of {_ONE[min(rule.in_team, key=_RANK.__getitem__)]} of the team"
    return f"{who}, with the scope {rule.scope}"


def objection(actor: Actor, action: Action, resource: Resource, reason: str | None = None) -> str | None:
    """Return why the actor may not do this to the resource, and who may; None if they may."""
    rule = RULES.get(action)
    if rule is None:
        return f"no rule allows it; use one of: {', '.join(RULES)}"
    request = _Request(actor, rule, resource, reason)
    for check in _CHECKS:
        if against := check(request):
            return against
    return None


def _role(request: _Request) -> str | None:
    for grant in request.actor.grants:
        if _reaches(grant, request.rule, request.resource):
            return None
    held = " and ".join(_words(grant) for grant in request.actor.grants)
    if not held:
        return f"{request.actor.name} has no role here; sign in as {_who(request)}"
    orphan = ", and it has no owning team" if request.rule.in_team and not request.resource.teams else ""
    return f"{request.actor.name} is {held}{orphan}; ask {_who(request)}"


def _scope(request: _Request) -> str | None:
    needed = request.rule.scope
    if needed in request.actor.scopes:
        return None
    return f"signed in by {request.actor.via} without the scope {needed}; use a token that has it"


def _not_proposer(request: _Request) -> str | None:
    proposer = request.resource.proposer
    if request.rule.care is not Care.NOT_PROPOSER or proposer is None or not proposer.is_same_as(request.actor):
        return None
    return f"{request.actor.name} proposed it; ask someone else: {_who(request)}"


def _reason(request: _Request) -> str | None:
    if request.rule.care is not Care.REASON or (request.reason and request.reason.strip()):
        return None
    return "it needs a reason, which is recorded in the audit log"


_CHECKS: tuple[Callable[[_Request], str | None], ...] = (_role, _scope, _not_proposer, _reason)


def _reaches(grant: Grant, rule: Rule, resource: Resource) -> bool:
    return grant.role in rule.anywhere or (grant.role in rule.in_team and grant.team in resource.teams)


def _words(grant: Grant) -> str:
    return _ONE[grant.role] if grant.team is None else f"{_ONE[grant.role]} of team {grant.team}"


def _who(request: _Request) -> str:
    """Name the least role that may, everywhere and in the teams of the resource."""
    rule, teams = request.rule, " or ".join(sorted(request.resource.teams))
    who = _ONE[min(rule.anywhere, key=_RANK.__getitem__)]
    if rule.in_team and teams:
        who += f", or {_ONE[min(rule.in_team, key=_RANK.__getitem__)]} of team {teams}"
    return who
