"""`treaty show --for` and the judgement of changes that consumers read differently."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import Treaty, Write
from tests.documents import document
from treaty.policy.key_files import find_key
from treaty.policy.pseudonyms import tokeniser

POLICY: dict[str, Any] = document(
    {
        "id": "policy.shop",
        "tier": "domain",
        "data_policy": {
            "classifications": {"restricted": {"mask": "redact", "clear_for": ["support"]}},
            "purposes": ["support", "analytics"],
        },
    }
)


def _orders(version: str, classification: str, **more: Any) -> dict[str, Any]:
    fields = [
        {"name": "id", "logicalType": "string", "primaryKey": True},
        {"name": "email", "logicalType": "string", "classification": classification},
        {"name": "city", "logicalType": "string"},
    ]
    return document({"version": version, "parent": "policy.shop", "fields": fields, **more})


@pytest.fixture(autouse=True)
def subscribed(treaty: Treaty, write: Write) -> None:
    """Three consumers of orders, of which one has a purpose that the policy does not allow."""
    assert treaty("register", write("policy.yaml", POLICY)).code == 0
    assert treaty("register", write("orders.yaml", _orders("1.0.0", "internal"))).code == 0
    for name, purpose in (("desk", "support"), ("models", "analytics"), ("ads", "marketing")):
        options = (
            "--class",
            "operational_reporting",
            "--purpose",
            purpose,
            "--field",
            "id",
            "--field",
            "email",
            "--team",
            name,
        )
        assert treaty("consumer", "subscribe", name, "orders@1", *options).code == 0


def test_show_explains_the_view_of_a_consumer(treaty: Treaty, write: Write) -> None:
    text = treaty("show", "orders", "--for", "models").output
    data = json.loads(treaty("show", "orders", "--for", "models", "--format", "json").output)

    assert "for models: analytics" in text
    assert "not declared" in text
    assert [(field["field"], field["decision"]) for field in data["fields"]] == [
        ("id", "clear"),
        ("email", "clear"),
        ("city", "not declared"),
    ]


def test_show_says_why_a_consumer_reads_nothing(treaty: Treaty, write: Write) -> None:
    text = " ".join(treaty("show", "orders", "--for", "ads").output.split())

    assert "refused: the purpose 'marketing' is not allowed: data_policy.purposes of policy.shop 1.0.0" in text


def test_a_consumer_without_a_subscription_is_told_how_to_make_one(treaty: Treaty, write: Write) -> None:
    result = treaty("show", "orders", "--for", "nobody")

    assert result.code == 1
    assert "treaty consumer subscribe nobody orders@1" in result.errors


def test_a_classification_that_masks_a_field_for_a_consumer_is_major_and_names_it(treaty: Treaty, write: Write) -> None:
    stricter = write("stricter.yaml", _orders("1.0.1", "restricted"))

    result = treaty("can-i-publish", stricter)

    assert result.code == 3
    text = " ".join(result.output.split())
    assert "field 'email' is read differently by models: clear -> redact" in text


def test_a_classification_that_masks_nothing_is_a_patch(treaty: Treaty, write: Write) -> None:
    assert treaty("can-i-publish", write("confidential.yaml", _orders("1.0.1", "confidential"))).code == 0


def test_a_policy_is_judged_by_the_consumers_below_it(treaty: Treaty, write: Write) -> None:
    block = {**POLICY["data_policy"], "classifications": {"internal": "null"}}
    stricter = write("stricter.yaml", {**POLICY, "version": "1.0.1", "data_policy": block})

    text = " ".join(treaty("can-i-publish", stricter).output.split())

    assert "orders@1 email is read differently by desk, models: clear -> null" in text


def test_impact_hits_only_the_consumers_whose_view_changes(treaty: Treaty, write: Write) -> None:
    stricter = write("stricter.yaml", _orders("1.0.1", "restricted"))

    data = json.loads(treaty("consumer", "impact", stricter, "--format", "json").output)

    effects = {one["name"]: one["effect"] for one in data["affected"]}
    assert (effects["models"], effects["desk"]) == ("hit", "safe")


def test_tokens_are_turned_back_and_recorded_but_never_the_key(
    treaty: Treaty, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "a secret of this test only"  # noqa: S105
    monkeypatch.setenv("TREATY_CUSTOMER_KEY", f"b:{secret}")
    rules = {"email": {"mask": "tokenise", "key": "customer", "role": "steward"}}
    fields = [{"name": "email", "logicalType": "string"}, {"name": "city", "logicalType": "string"}]
    people = document({"id": "people", "fields": fields, "data_policy": {"fields": rules}})
    assert treaty("register", write("people.yaml", people)).code == 0
    tokenise = tokeniser(find_key("customer"))
    tokens = [tokenise("ann@example.org"), tokenise("bob@example.org")]

    done = treaty("detokenise", "people@1", "email", *tokens, "--purpose", "support")
    as_data = json.loads(
        treaty("detokenise", "people@1", "email", *tokens, "--purpose", "support", "-f", "json").output
    )
    broken = treaty("detokenise", "people@1", "email", tokens[0], "b:AAAA", "--purpose", "support")
    nobody = treaty("detokenise", "people@1", "city", *tokens, "--purpose", "support")

    assert done.output == "ann@example.org\nbob@example.org\n"
    assert done.errors.startswith("recorded as entry ")
    assert as_data["values"] == ["ann@example.org", "bob@example.org"]
    assert (broken.code, broken.output) == (1, "")
    assert "token 2: this is not a token of the key 'customer'" in broken.errors
    assert nobody.code == 1
    assert "no data policy tokenises city" in nobody.errors
    log = treaty("admin", "audit", "list", "-f", "json").output
    shown = [done.errors, broken.errors, log]
    assert all(word not in text for word in (secret, "AAAA", tokens[0], "ann@example.org") for text in shown)
    assert '"purpose": "support"' in log
