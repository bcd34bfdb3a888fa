"""Which rule decides who may turn tokens back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import document
from treaty.contracts.loader import contract_from
from treaty.contracts.model import Contract
from treaty.contracts.paths import parse_path
from treaty.errors import NotAllowed, NotFound
from treaty.policy.token_rules import TokenRule, find_token_rule

TOKENS = {"mask": "tokenise", "key": "customer", "role": "steward"}


def _contract(**policy: Any) -> Contract:
    fields = [
        {"name": "email", "logicalType": "string", "classification": "restricted"},
        {"name": "city", "logicalType": "string"},
    ]
    return contract_from(document({"fields": fields, "data_policy": policy}), "the test")


def _policy(**policy: Any) -> Contract:
    return contract_from(document({"id": "policy.shop", "tier": "domain", "data_policy": policy}), "the test")


def test_the_rule_of_a_field_names_the_key_and_the_role() -> None:
    contract = _contract(fields={"email": TOKENS})
    assert find_token_rule(contract, parse_path("email"), "fraud") == TokenRule("customer", ("steward",))


def test_the_roles_of_all_rules_are_needed_and_the_nearest_names_the_key() -> None:
    contract = _contract(fields={"email": TOKENS})
    above = _policy(classifications={"restricted": {"mask": "tokenise", "key": "all", "role": "owner:privacy"}})
    found = find_token_rule(contract, parse_path("email"), "fraud", [above])
    assert found == TokenRule("customer", ("steward", "owner:privacy"))


@pytest.mark.parametrize(
    ("contract", "field", "error", "words"),
    [
        (_contract(fields={"email": TOKENS}), "city", NotFound, "no data policy tokenises city"),
        (_contract(fields={"email": TOKENS}), "street", NotFound, "has no field street"),
        (_contract(fields={"email": "redact"}), "email", NotFound, "no data policy tokenises email"),
        (_contract(fields={"email": {"mask": "tokenise", "key": "c"}}), "email", NotAllowed, "names no role"),
        (_contract(fields={"email": TOKENS}, purposes=["support"]), "email", NotAllowed, "allows support"),
    ],
)
def test_without_a_rule_a_role_or_an_allowed_purpose_nothing_is_turned_back(
    contract: Contract, field: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        find_token_rule(contract, parse_path(field), "fraud")
