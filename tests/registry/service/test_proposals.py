"""Where it is asked for, a breaking change waits for somebody other than its proposer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.registry.backends import AnyRegistry, Backend
from tests.registry.offers import ID, LTV, ORDERS, PLAN, PLAN_FIELD, orders
from treaty.contracts.text.writer import write_yaml
from treaty.errors import Conflict, InvalidDocument, NotAllowed, NotFound
from treaty.registry.access.actors import Actor, Grant, Role, Scope
from treaty.registry.report import VersionRefused
from treaty.registry.rules import Approval, RegistryRules

BREAKING = orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)


@pytest.fixture
def careful(open_backend: Callable[..., Backend]) -> Backend:
    backend = open_backend(RegistryRules(approval=Approval.REQUIRED))
    backend.acting_as("ana", "owner", "checkout").register(orders())
    return backend


@pytest.fixture
def ana(careful: Backend) -> AnyRegistry:
    return careful.acting_as("ana", "owner", "checkout")


@pytest.fixture
def ben(careful: Backend) -> AnyRegistry:
    return careful.acting_as("ben", "owner", "checkout")


def versions(registry: AnyRegistry) -> list[str]:
    return [one.version for one in registry.history(ORDERS).items]


def test_a_breaking_change_is_proposed_and_not_registered(ana: AnyRegistry) -> None:
    answer = ana.register(BREAKING)

    assert (answer.status, answer.version, answer.compatibility.compatible) == ("proposed", "2.0.0", False)
    assert versions(ana) == ["1.0.0"]
    (waiting,) = ana.governance.proposals().items
    assert (waiting.id, waiting.contract, waiting.version) == (answer.proposal, ORDERS, "2.0.0")
    assert (waiting.state, waiting.proposed_by, waiting.decided_by) == ("open", "ana", None)


def test_a_compatible_change_needs_no_approval(ana: AnyRegistry) -> None:
    answer = ana.register(orders("1.1.0", [ID, PLAN_FIELD, LTV, {"name": "more", "logicalType": "string"}]))

    assert answer.status == "registered"


def test_what_is_not_admissible_is_refused_at_once(ana: AnyRegistry) -> None:
    with pytest.raises(VersionRefused):
        ana.register(orders("2.0.0", [ID, PLAN_FIELD]))

    assert ana.governance.proposals().items == []


def test_another_actor_approves_a_proposal(ana: AnyRegistry, ben: AnyRegistry) -> None:
    content = write_yaml(BREAKING).encode()
    proposal = ana.register(content).proposal
    assert proposal is not None

    decided = ben.governance.approve(proposal, reason="consumers agreed")

    assert (decided.state, decided.decided_by, decided.reason) == ("approved", "ben", "consumers agreed")
    assert versions(ana) == ["1.0.0", "2.0.0"]
    assert ana.get(ORDERS, "2.0.0").registered_by == "ana"
    assert ana.given(ORDERS, "2.0.0") == (content, "application/yaml")
    assert ana.governance.proposals(state="open").items == []
    assert ana.governance.proposals(state="approved").items == [decided]


def test_who_proposed_it_does_not_approve_it(ana: AnyRegistry) -> None:
    proposal = ana.register(BREAKING).proposal
    assert proposal is not None

    with pytest.raises(NotAllowed, match="ana proposed it; ask someone else"):
        ana.governance.approve(proposal)

    assert versions(ana) == ["1.0.0"]


def test_an_owner_does_not_override(ana: AnyRegistry) -> None:
    proposal = ana.register(BREAKING).proposal
    assert proposal is not None

    with pytest.raises(NotAllowed):
        ana.governance.approve(proposal, override=True, reason="in a hurry")


def test_an_override_by_a_steward_records_its_reason(careful: Backend) -> None:
    stella = careful.acting_as("stella", "steward")
    proposal = stella.register(BREAKING).proposal
    assert proposal is not None
    with pytest.raises(NotAllowed, match="stella proposed it"):
        stella.governance.approve(proposal, reason="in a hurry")
    with pytest.raises(NotAllowed, match="needs a reason"):
        stella.governance.approve(proposal, override=True)

    assert stella.governance.approve(proposal, override=True, reason="in a hurry").state == "approved"

    entry = next(one for one in stella.access.audit().items if one.action == "proposal.override")
    assert (entry.actor, entry.details["reason"]) == ("stella", "in a hurry")


@pytest.mark.parametrize(("name", "role", "team"), [("carl", "contributor", "checkout"), ("olga", "owner", "growth")])
def test_only_owners_of_the_contract_and_stewards_approve(
    careful: Backend, ana: AnyRegistry, name: str, role: str, team: str
) -> None:
    proposal = ana.register(BREAKING).proposal
    assert proposal is not None

    for decide in (careful.acting_as(name, role, team).governance.approve,):
        with pytest.raises(NotAllowed):
            decide(proposal)


def test_a_proposal_is_declined_or_taken_back(ana: AnyRegistry, ben: AnyRegistry) -> None:
    for decider, name in ((ben, "ben"), (ana, "ana")):
        proposal = ana.register(BREAKING).proposal
        assert proposal is not None

        declined = decider.governance.decline(proposal, reason="not now")

        assert (declined.state, declined.decided_by, declined.reason) == ("declined", name, "not now")
        with pytest.raises(Conflict, match=f"proposal {proposal} was declined by {name}"):
            ben.governance.approve(proposal)
    assert versions(ana) == ["1.0.0"]


def test_a_proposal_is_decided_once(ana: AnyRegistry, ben: AnyRegistry) -> None:
    proposal = ana.register(BREAKING).proposal
    assert proposal is not None
    ben.governance.approve(proposal)

    for decide in (ben.governance.approve, ben.governance.decline):
        with pytest.raises(Conflict, match="was approved by ben"):
            decide(proposal)


def test_the_same_document_is_proposed_once(ana: AnyRegistry, ben: AnyRegistry) -> None:
    first = ana.register(BREAKING)

    assert ana.register(BREAKING).proposal == first.proposal
    for another, document in ((ben, BREAKING), (ana, {**BREAKING, "description": {"purpose": "another"}})):
        with pytest.raises(Conflict, match=rf"is proposed already \(proposal {first.proposal}\); decide that first"):
            another.register(document)
    assert len(ana.governance.proposals().items) == 1


def test_a_proposal_is_judged_again_when_it_is_approved(ana: AnyRegistry, ben: AnyRegistry) -> None:
    proposal = ana.register(BREAKING).proposal
    assert proposal is not None
    later = orders("2.1.0", [ID, PLAN_FIELD, {"name": "x", "logicalType": "string"}], migration=PLAN)
    second = ana.register(later).proposal
    assert second is not None
    ben.governance.approve(second)

    with pytest.raises(VersionRefused) as refused:
        ben.governance.approve(proposal)

    assert "version_not_increasing" in {one.kind for one in refused.value.report.errors}
    assert (refused.value.report.mode, refused.value.report.admissible) == ("backward", False)
    assert str(refused.value).startswith("orders 2.0.0 is refused under backward\n")
    assert versions(ana) == ["1.0.0", "2.1.0"]
    assert [one.state for one in ana.governance.proposals().items] == ["open", "approved"]


def test_a_proposal_that_is_not_there_is_not_found(ana: AnyRegistry) -> None:
    for decide in (ana.governance.approve, ana.governance.decline):
        with pytest.raises(NotFound, match="no proposal 999"):
            decide(999)


def test_proposals_are_listed_by_their_state(ana: AnyRegistry) -> None:
    ana.register(BREAKING)

    assert len(ana.governance.proposals(state="open").items) == 1
    assert ana.governance.proposals(state="declined").items == []
    with pytest.raises(InvalidDocument):
        ana.governance.proposals(state="forgotten")


def named_ana(identity: str) -> Actor:
    return Actor("ana", (Grant(Role.OWNER, "checkout"),), frozenset(Scope), "oidc", identity=identity)


def test_two_people_of_one_name_are_different(careful: Backend) -> None:
    one, other = (careful.local.acting_as(named_ana(f"https://login.example.com#{subject}")) for subject in "ab")
    proposal = one.register(BREAKING).proposal or 0

    with pytest.raises(NotAllowed, match="ana proposed it; ask someone else"):
        one.governance.approve(proposal)

    assert other.governance.approve(proposal).state == "approved"


def test_one_person_with_two_names_is_the_same(careful: Backend) -> None:
    identity = "https://login.example.com#a"
    with_token = replace(named_ana(identity), name="ana's ci", via="token")
    proposal = careful.local.acting_as(named_ana(identity)).register(BREAKING).proposal or 0

    with pytest.raises(NotAllowed, match="ana's ci proposed it; ask someone else"):
        careful.local.acting_as(with_token).governance.approve(proposal)

    careful.local.acting_as(with_token).governance.decline(proposal, reason="not yet")
    assert careful.local.activity(kind="proposal").items[0].headline == "ana's ci withdrew 2.0.0: not yet"


def test_a_proposal_without_an_identity_is_compared_by_name(careful: Backend) -> None:
    one = careful.local.acting_as(named_ana("https://login.example.com#a"))
    proposal = one.register(BREAKING).proposal or 0
    careful.tamper("proposals", "UPDATE proposals SET proposer_identity = NULL")

    with pytest.raises(NotAllowed, match="ana proposed it"):
        careful.local.acting_as(named_ana("https://login.example.com#b")).governance.approve(proposal)
