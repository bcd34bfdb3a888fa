"""Who may do what, as a table."""

from __future__ import annotations

from typing import cast

import pytest

from treaty.errors import InvalidDocument, NotAllowed
from treaty.registry.access.actors import (
    ANONYMOUS,
    NO_ACCESS,
    Actor,
    Grant,
    Role,
    Scope,
    local_actor,
    parse_grant,
)
from treaty.registry.access.permissions import RULES, Action, Proposer, Resource, authorize, may, scopes_for

EVERY_SCOPE = frozenset(Scope)
GROWTHS = Resource("contract", "orders", frozenset({"growth"}), proposer=Proposer("bob"))
OWN = Resource("contract", "orders", frozenset({"growth"}), proposer=Proposer("ann"))
NO_TEAM = Resource("contract", "orders", proposer=Proposer("bob"))

# For each action: viewer; contributor and owner of the team; contributor and owner of another; steward; admin.
WHO = ("viewer", "contributor:growth", "owner:growth", "contributor:sales", "owner:sales", "steward", "admin")
TABLE = {
    "read": "yes yes yes yes yes yes yes",
    "check": "yes yes yes yes yes yes yes",
    "register": "no yes yes no no yes yes",
    "subscribe": "no yes yes no no yes yes",
    "challenge": "no yes yes no no yes yes",
    "notify": "no yes yes no no yes yes",
    "advance": "no no yes no no yes yes",
    "approve": "no no yes no no yes yes",
    "waive": "no no no no no yes yes",
    "govern": "no no no no no yes yes",
    "override": "no no no no no yes yes",
    "tick": "no no no no no yes yes",
    "audit": "no no no no no yes yes",
    "detokenise": "no yes yes no no yes yes",
    "read-accesses": "no yes yes no no yes yes",
    "report-accesses": "yes yes yes yes yes yes yes",
    "manage-tokens": "no no no no no no yes",
}
SCOPES = {
    "read": "read",
    "check": "read",
    "register": "write",
    "subscribe": "write",
    "challenge": "write",
    "notify": "write",
    "advance": "write",
    "approve": "write",
    "waive": "write",
    "govern": "write",
    "override": "write",
    "tick": "write",
    "audit": "read",
    "detokenise": "write",
    "read-accesses": "read",
    "report-accesses": "read",
    "manage-tokens": "admin",
}
FOR_EVERYBODY = {"read", "check", "report-accesses"}
CASES = [
    (action, who, answer == "yes")
    for action, row in TABLE.items()
    for who, answer in zip(WHO, row.split(), strict=True)
]


def ann(*grants: str, scopes: frozenset[Scope] = EVERY_SCOPE) -> Actor:
    return Actor("ann", tuple(parse_grant(text) for text in grants), scopes, "token")


def refusal(actor: Actor, action: Action, resource: Resource, reason: str | None = None) -> str:
    with pytest.raises(NotAllowed) as caught:
        authorize(actor, action, resource, reason)
    return str(caught.value)


def test_the_table_has_every_action_and_every_role() -> None:
    assert set(TABLE) == set(SCOPES) == set(Action) == set(RULES)
    assert {who.partition(":")[0] for who in WHO} == set(Role)


@pytest.mark.parametrize(("action", "who", "allowed"), CASES)
def test_each_role_may_do_what_the_table_lists(action: str, who: str, allowed: bool) -> None:
    assert may(ann(who), Action(action), GROWTHS, "the auditor asked for it") is allowed


@pytest.mark.parametrize(("action", "scope"), SCOPES.items())
def test_each_action_needs_its_scope(action: str, scope: str) -> None:
    without = EVERY_SCOPE - {Scope(scope)}

    assert may(ann("admin", scopes=frozenset({Scope(scope)})), Action(action), GROWTHS, "a reason")
    assert f"signed in by token without the scope {scope}" in refusal(
        ann("admin", scopes=without), Action(action), GROWTHS, "a reason"
    )


@pytest.mark.parametrize("action", Action)
def test_an_actor_without_roles_may_do_nothing(action: Action) -> None:
    assert not may(NO_ACCESS, action, GROWTHS, "a reason")


@pytest.mark.parametrize("action", Action)
def test_the_anonymous_may_do_what_everybody_may(action: Action) -> None:
    assert may(ANONYMOUS, action, GROWTHS, "a reason") is (action in FOR_EVERYBODY)


@pytest.mark.parametrize("action", Action)
def test_the_local_actor_may_do_everything(action: Action) -> None:
    authorize(local_actor("ann"), action, GROWTHS, "a reason")


@pytest.mark.parametrize("action", [action for action in TABLE if action not in FOR_EVERYBODY])
@pytest.mark.parametrize("who", ["contributor:growth", "owner:growth"])
def test_what_no_team_owns_is_left_to_stewards(action: str, who: str) -> None:
    assert not may(ann(who), Action(action), NO_TEAM, "a reason")
    assert may(ann("steward"), Action(action), NO_TEAM, "a reason") is (action != "manage-tokens")


def test_one_of_several_owning_teams_is_enough() -> None:
    shared = Resource("contract", "orders", frozenset({"growth", "sales"}))

    assert may(ann("owner:sales"), Action.ADVANCE, shared)


def test_an_action_without_a_rule_is_denied_to_everybody() -> None:
    unknown = cast("Action", "erase")

    assert not may(local_actor("ann"), unknown, GROWTHS)
    assert "may not erase contract 'orders': no rule allows it; use one of: read, check" in refusal(
        local_actor("ann"), unknown, GROWTHS
    )


@pytest.mark.parametrize("who", ["owner:growth", "steward", "admin"])
def test_who_proposed_a_change_does_not_approve_it(who: str) -> None:
    assert refusal(ann(who), Action.APPROVE, OWN, "I am sure") == (
        "ann may not approve contract 'orders': ann proposed it; "
        "ask someone else: a steward, or an owner of team growth"
    )


@pytest.mark.parametrize("who", ["steward", "admin"])
def test_an_override_with_a_reason_reaches_ones_own_proposal(who: str) -> None:
    authorize(ann(who), Action.OVERRIDE, OWN, "the other owner left")


@pytest.mark.parametrize("reason", [None, "", " \t\n"])
def test_an_override_needs_a_reason(reason: str | None) -> None:
    assert refusal(ann("admin"), Action.OVERRIDE, OWN, reason) == (
        "ann may not override contract 'orders': it needs a reason, which is recorded in the audit log"
    )


@pytest.mark.parametrize(
    ("actor", "action", "resource", "words"),
    [
        (
            ann("owner:sales"),
            "advance",
            GROWTHS,
            "ann is an owner of team sales; ask a steward, or an owner of team growth",
        ),
        (ann("viewer"), "register", GROWTHS, "ann is a viewer; ask a steward, or a contributor of team growth"),
        (
            ann("contributor:sales", "owner:ops"),
            "register",
            NO_TEAM,
            "ann is a contributor of team sales and an owner of team ops, and it has no owning team; ask a steward",
        ),
        (ann("steward"), "manage-tokens", GROWTHS, "ann is a steward; ask an admin"),
        (NO_ACCESS, "read", GROWTHS, "anonymous has no role here; sign in as a viewer"),
        (NO_ACCESS, "subscribe", GROWTHS, "sign in as a steward, or a contributor of team growth"),
    ],
)
def test_a_refusal_names_the_action_the_reason_and_the_required_role(
    actor: Actor, action: str, resource: Resource, words: str
) -> None:
    said = refusal(actor, Action(action), resource)

    assert said.startswith(f"{actor.name} may not {action} contract 'orders': ")
    assert said.endswith(words)


@pytest.mark.parametrize(
    ("grant", "scopes"),
    [
        ("viewer", {"read"}),
        ("contributor:growth", {"read", "write"}),
        ("owner:growth", {"read", "write"}),
        ("steward", {"read", "write"}),
        ("admin", {"read", "write", "admin"}),
    ],
)
def test_the_scopes_that_a_role_needs(grant: str, scopes: set[str]) -> None:
    assert scopes_for([parse_grant(grant)]) == scopes


@pytest.mark.parametrize("text", ["viewer", "contributor:growth", "owner:a:b", "steward", "admin"])
def test_a_grant_is_written_as_it_is_read(text: str) -> None:
    assert str(parse_grant(text)) == text


@pytest.mark.parametrize(
    "text", ["", "king", "owner", "owner:", "contributor: ", "steward:growth", "viewer:", "Owner:a"]
)
def test_a_grant_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(InvalidDocument):
        parse_grant(text)


def test_a_role_of_a_team_needs_its_team() -> None:
    with pytest.raises(InvalidDocument, match="the role owner is held in a team; name it: owner:growth"):
        Grant(Role.OWNER)
