"""Who answers for a contract: Treaty's block, else the team that ODCS names."""

from __future__ import annotations

from typing import Any

import pytest

from treaty.contracts import contract_from
from treaty.contracts.owners import Owner

HEAD = {"apiVersion": "v3.2.0", "kind": "DataContract", "id": "orders", "version": "1.0.0"}
SLACK = {"support": [{"channel": "#orders", "url": "https://example.org"}]}

CASES: dict[str, tuple[dict[str, Any], tuple[Owner, ...]]] = {
    "no owner": ({}, ()),
    "a block": ({"owners": [{"team": "checkout", "contact": "#checkout"}]}, (Owner("checkout", "#checkout"),)),
    "a block without a contact": ({"owners": [{"team": "checkout"}]}, (Owner("checkout"),)),
    "a block of two": ({"owners": [{"team": "a"}, {"team": "b"}]}, (Owner("a"), Owner("b"))),
    "a block in strict ODCS": (
        {"customProperties": [{"property": "owners", "value": [{"team": "checkout"}]}]},
        (Owner("checkout"),),
    ),
    "a block before a team": ({"owners": [{"team": "a"}], "team": {"name": "b"}, **SLACK}, (Owner("a"),)),
    "a custom property of another shape": (
        {"customProperties": [{"property": "owners", "value": "Ann"}], "team": {"name": "b"}},
        (Owner("b"),),
    ),
    "a team": ({"team": {"name": "checkout"}}, (Owner("checkout"),)),
    "a team and a channel": ({"team": {"name": "checkout"}, **SLACK}, (Owner("checkout", "#orders"),)),
    "a team and members": ({"team": {"name": "a", "members": [{"username": "ann"}]}}, (Owner("a"),)),
    "a team without a name": (
        {"team": {"members": [{"username": "ann", "name": "Ann"}, {"username": "bob"}]}},
        (Owner("Ann"), Owner("bob")),
    ),
    "an empty team": ({"team": {"members": []}}, ()),
    "members": ({"team": [{"username": "ann"}, {"username": "bob"}]}, (Owner("ann"), Owner("bob"))),
    "members and a channel": ({"team": [{"username": "ann"}], **SLACK}, (Owner("ann", "#orders"),)),
    "members that have left": (
        {"team": [{"username": "ann", "dateOut": "2025-12-31"}, {"username": "bob"}]},
        (Owner("bob"),),
    ),
    "a member with an address": (
        {"team": [{"username": "ann@example.org", "name": "Ann"}]},
        (Owner("Ann", "ann@example.org"),),
    ),
    "a channel without a team": (SLACK, ()),
}


@pytest.mark.parametrize(("part", "owners"), CASES.values(), ids=CASES)
def test_owners_are_read_from_every_place(part: dict[str, Any], owners: tuple[Owner, ...]) -> None:
    assert contract_from({**HEAD, **part}).owners == owners


def test_a_member_of_3_0_may_have_no_name() -> None:
    document = {**HEAD, "apiVersion": "v3.0.2", "status": "active", "team": [{"role": "owner"}, {"username": "ann"}]}

    assert contract_from(document).owners == (Owner("ann"),)


def test_the_short_form_names_its_owners() -> None:
    document = {
        "dataset_id": "orders",
        "version": "1.0.0",
        "owners": [{"team": "checkout", "contact": None}, {"team": "billing", "contact": "#billing"}],
        "fields": [{"name": "id", "type": "string"}],
    }

    assert contract_from(document).owners == (Owner("checkout"), Owner("billing", "#billing"))


def test_an_owner_reads_as_team_and_contact() -> None:
    assert str(Owner("checkout")) == "checkout"
    assert str(Owner("checkout", "#checkout")) == "checkout (#checkout)"
