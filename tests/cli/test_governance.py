"""`treaty policy`, `waiver` and `proposal`."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Treaty, Write
from tests.cli.order_contracts import CHILD, POLICY, V1, V2, WEAK_CHILD

WAIVER = ("sla_relaxed", "--owner", "checkout", "--reason", "the source is slow", "--until", "2999-01-01")


@pytest.fixture(autouse=True)
def policy(treaty: Treaty, write: Write) -> None:
    """A policy that asks for one hour of freshness."""
    assert treaty("register", write("policy.yaml", POLICY)).code == 0


def test_a_contract_that_holds_to_its_policies_is_fine(treaty: Treaty, write: Write) -> None:
    result = treaty("policy", "check", write("orders.yaml", CHILD))

    assert result.code == 0
    assert "policy 1.0.0" in result.output
    assert "passed" in result.output


def test_a_weaker_term_is_named_with_its_policy(treaty: Treaty, write: Write) -> None:
    file = write("orders.yaml", WEAK_CHILD)

    drawn, data = treaty("policy", "check", file), treaty("policy", "check", file, "--format", "json")

    assert (drawn.code, data.code) == (3, 3)
    assert "refused" in drawn.output
    assert json.loads(data.output)["violations"][0]["policy"] == "policy 1.0.0"


def test_a_policy_names_the_children_it_would_find_in_breach(treaty: Treaty, write: Write) -> None:
    treaty("register", write("orders.yaml", CHILD))
    stricter = {**POLICY, "version": "2.0.0", "slaProperties": [{"property": "freshness", "value": 5, "unit": "min"}]}

    output = treaty("policy", "check", write("stricter.yaml", stricter)).output

    assert "orders 1.0.0 would violate it\n" in output
    dated = treaty("policy", "check", write("later.yaml", {**stricter, "effective_from": "2099-01-01"})).output
    assert "orders 1.0.0 would violate it from 2099-01-01\n" in dated


def test_policies_are_listed(treaty: Treaty) -> None:
    assert [one["id"] for one in json.loads(treaty("policy", "list", "--format", "json").output)["items"]] == ["policy"]
    assert "policy  1.0.0" in treaty("policy", "list").output


def test_a_waiver_lets_a_weaker_term_in_until_it_is_revoked(treaty: Treaty, write: Write) -> None:
    kind = json.loads(treaty("policy", "check", write("weak.yaml", WEAK_CHILD), "--format", "json").output)
    rule = kind["violations"][0]["kind"]
    granted = treaty("waiver", "add", rule, *WAIVER[1:], "--contract", "orders", "--format", "json")
    identity = str(json.loads(granted.output)["id"])

    assert "passed, with waivers" in treaty("policy", "check", "weak.yaml").output
    assert "the source is slow" in treaty("waiver", "list").output
    assert "is revoked" in treaty("waiver", "end", identity).output
    assert treaty("policy", "check", "weak.yaml").code == 3


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("nothing", *WAIVER[1:]), 1, "nothing"),
        ((*WAIVER[:-1], "2001-01-01"), 1, "choose a later day"),
        ((*WAIVER[:-1], "soon"), 2, "is not a date"),
    ],
)
def test_a_waiver_that_cannot_be_is_one_clear_error(
    treaty: Treaty, arguments: tuple[str, ...], code: int, said: str
) -> None:
    result = treaty("waiver", "add", *arguments)

    assert result.code == code
    assert said in " ".join(result.errors.split())


def test_empty_lists_of_waivers_and_proposals(treaty: Treaty) -> None:
    assert treaty("waiver", "list").output == "no waivers\n"
    assert treaty("proposal", "list").output == "no proposals\n"


def _proposed(treaty: Treaty, write: Write) -> str:
    write("treaty.yaml", "approvals: required\n")
    treaty("register", write("orders.yaml", V1))
    (item,) = json.loads(treaty("register", write("next.yaml", V2), "--format", "json").output)["items"]
    return str(item["proposal"])


def test_another_user_approves_a_breaking_change(treaty: Treaty, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    proposal = _proposed(treaty, write)

    own = treaty("proposal", "approve", proposal)
    monkeypatch.setenv("TREATY_ACTOR", "bob")
    other = treaty("proposal", "approve", proposal, "--reason", "agreed")

    assert own.code == 1
    assert other.code == 0
    assert f"proposal {proposal}: orders 2.0.0 is approved by bob; the version is registered" in other.output
    assert "2.0.0" in treaty("version", "history", "orders").output
    assert "approved" in treaty("proposal", "list", "--state", "approved").output


def test_own_proposal_needs_an_override(treaty: Treaty, write: Write) -> None:
    assert treaty("proposal", "approve", _proposed(treaty, write), "--override", "an outage").code == 0


def test_a_proposal_is_declined_once(treaty: Treaty, write: Write) -> None:
    proposal = _proposed(treaty, write)

    assert "declined" in treaty("proposal", "decline", proposal, "--reason", "too soon").output
    assert treaty("proposal", "decline", proposal).code == 1


def test_show_effective_prints_each_value_with_its_origin(treaty: Treaty, write: Write) -> None:
    silent = {key: value for key, value in CHILD.items() if key != "slaProperties"}
    assert treaty("register", write("orders.yaml", silent)).code == 0

    text = treaty("show", "orders", "--effective").output
    data = json.loads(treaty("show", "orders", "--effective", "--format", "json").output)
    document = treaty("show", "orders", "--effective", "--as", "odcs").output

    assert "inherits from policy 1.0.0" in text
    assert "from policy 1.0.0" in text
    assert "this contract" in text
    assert {"path": "sla.freshness", "value": "1 h", "origin": "policy 1.0.0"} in data["values"]
    assert "freshness" in document


def test_lint_sees_what_a_contract_inherits(treaty: Treaty, write: Write) -> None:
    silent = {key: value for key, value in CHILD.items() if key != "slaProperties"}
    alone, policy = write("a/orders.yaml", silent), write("a/policy.yaml", POLICY)

    assert "freshness-missing" in treaty("lint", alone).output
    assert "freshness-missing" not in treaty("lint", alone, policy).output
    assert "freshness-missing" not in treaty("lint", alone, "--registry", ".treaty/registry.db").output


def test_lint_runs_the_rules_of_policies_with_their_names(treaty: Treaty, write: Write) -> None:
    rule = {"name": "described", "for": "field", "must": {"description": True}, "message": "every field is described"}
    policy = write("a/policy.yaml", {**POLICY, "require": [rule]})

    result = treaty("lint", write("a/orders.yaml", CHILD), policy, "--format", "json")

    found = [one for report in json.loads(result.output)["contracts"] for one in report["findings"]]
    assert [(one["path"], one["message"]) for one in found if one["id"] == "policy_rule_violated"] == [
        ("order_id", "every field is described: field 'order_id' has no description (from policy 1.0.0)")
    ]
