"""Laws of access, on generated actors and resources."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from treaty.registry.access.actors import PER_TEAM, Actor, Grant, Role, Scope
from treaty.registry.access.permissions import Action, Proposer, Resource, may

TEAMS = ["growth", "sales", "ops"]
NAMES = ["ann", "bob"]

grants = st.one_of(
    st.builds(Grant, st.sampled_from(sorted(PER_TEAM)), st.sampled_from(TEAMS)),
    st.builds(Grant, st.sampled_from(sorted(set(Role) - PER_TEAM))),
)
scopes = st.frozensets(st.sampled_from(Scope))
actors = st.builds(
    Actor,
    st.sampled_from(NAMES),
    st.lists(grants, max_size=4).map(tuple),
    scopes,
    st.sampled_from(["token", "oidc", "local"]),
)
resources = st.builds(
    Resource,
    st.just("contract"),
    st.just("orders"),
    st.frozensets(st.sampled_from(TEAMS)),
    st.sampled_from([None, *map(Proposer, NAMES)]),
)
actions = st.sampled_from(Action)
reasons = st.sampled_from([None, "", " ", "the other owner left"])
laws = settings(deadline=None, derandomize=True)


@laws
@given(actors, actions, resources, reasons)
def test_without_a_grant_nothing_is_allowed(
    actor: Actor, action: Action, resource: Resource, reason: str | None
) -> None:
    assert not may(replace(actor, grants=()), action, resource, reason)


@laws
@given(actors, actions, resources, reasons)
def test_without_a_scope_nothing_is_allowed(
    actor: Actor, action: Action, resource: Resource, reason: str | None
) -> None:
    assert not may(replace(actor, scopes=frozenset()), action, resource, reason)


@laws
@given(actors, grants, actions, resources, reasons)
def test_another_grant_takes_nothing_away(
    actor: Actor, grant: Grant, action: Action, resource: Resource, reason: str | None
) -> None:
    more = replace(actor, grants=(*actor.grants, grant))

    assert may(more, action, resource, reason) or not may(actor, action, resource, reason)


@laws
@given(actors, scopes, actions, resources, reasons)
def test_another_scope_takes_nothing_away(
    actor: Actor, added: frozenset[Scope], action: Action, resource: Resource, reason: str | None
) -> None:
    more = replace(actor, scopes=actor.scopes | added)

    assert may(more, action, resource, reason) or not may(actor, action, resource, reason)


@laws
@given(actors, resources, reasons)
def test_proposers_cannot_approve_their_own_proposal(actor: Actor, resource: Resource, reason: str | None) -> None:
    assert not may(actor, Action.APPROVE, replace(resource, proposer=Proposer(actor.name)), reason)


@laws
@given(actors, resources, reasons, st.text())
def test_the_identity_decides_who_the_proposer_is(
    actor: Actor, resource: Resource, reason: str | None, name: str
) -> None:
    own = replace(resource, proposer=Proposer(name, actor.identity))
    others = replace(resource, proposer=Proposer(actor.name, f"{actor.identity}x"))
    unproposed = replace(resource, proposer=None)

    assert not may(actor, Action.APPROVE, own, reason)
    assert may(actor, Action.APPROVE, others, reason) == may(actor, Action.APPROVE, unproposed, reason)


@laws
@given(actors, resources)
def test_nothing_is_overridden_without_a_reason(actor: Actor, resource: Resource) -> None:
    assert not may(actor, Action.OVERRIDE, resource)


@laws
@given(actors, actions, resources, reasons)
def test_a_team_changes_only_what_it_owns(actor: Actor, action: Action, resource: Resource, reason: str | None) -> None:
    in_teams = tuple(grant for grant in actor.grants if grant.team is not None)
    elsewhere = replace(resource, teams=frozenset({"finance"}))

    if may(replace(actor, grants=in_teams), action, elsewhere, reason):
        assert action in {Action.READ, Action.CHECK}
