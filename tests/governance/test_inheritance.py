"""A child contract may strengthen the terms of its policies, never weaken them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import contract
from treaty.compatibility.terms import CONTRACT_TERMS
from treaty.contracts import Contract
from treaty.errors import InvalidDocument
from treaty.governance.inheritance import INHERITED, find_weakened_terms
from treaty.governance.policy_chain import FindPolicy, FoundPolicy, is_policy, policy_chain


def _fresh(hours: int, **more: Any) -> list[dict[str, Any]]:
    return [{"property": "freshness", "value": hours, "unit": "h", **more}]


ENTERPRISE: dict[str, Any] = {
    "id": "policy.enterprise",
    "tier": "enterprise",
    "slaProperties": [*_fresh(24), {"property": "retention", "value": 1, "unit": "y"}],
    "change_policy": {"compatibility": "backward", "notice": "30 d"},
    "delivery": {"guarantee": "at_least_once"},
    "fields": [
        {"name": "tenant_id", "logicalType": "string", "required": True},
        {"name": "email", "logicalType": "string", "classification": "pii"},
    ],
}
SALES = {"id": "policy.sales", "tier": "domain", "parent": "policy.enterprise", "slaProperties": _fresh(6)}
KEPT: dict[str, Any] = {
    "id": "orders",
    "tier": "product",
    "parent": "policy.sales",
    "slaProperties": [*_fresh(4, element="orders.placed_at"), {"property": "retention", "value": 24, "unit": "month"}],
    "change_policy": {"compatibility": "full", "notice": "60 d"},
    "delivery": {"guarantee": "exactly_once"},
    "fields": [
        {"name": "tenant_id", "logicalType": "string", "required": True},
        {"name": "email", "logicalType": "string", "classification": "pii"},
        {"name": "total", "logicalType": "number"},
    ],
}
POLICIES = [contract(SALES), contract(ENTERPRISE)]


def _weakened(**changes: Any) -> list[tuple[str, str, str]]:
    child = contract({**KEPT, **changes})
    return [(one.policy, one.kind, one.path) for one in find_weakened_terms(child, POLICIES)]


def test_a_child_that_strengthens_everything_weakens_nothing() -> None:
    assert _weakened() == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"slaProperties": [*_fresh(8), KEPT["slaProperties"][1]]},
            [("policy.sales 1.0.0", "sla_relaxed", "sla.freshness")],
        ),
        (
            {"slaProperties": [*_fresh(48), KEPT["slaProperties"][1]]},
            [
                ("policy.sales 1.0.0", "sla_relaxed", "sla.freshness"),
                ("policy.enterprise 1.0.0", "sla_relaxed", "sla.freshness"),
            ],
        ),
        ({"slaProperties": _fresh(4)}, []),  # inherits the retention
        (
            {"slaProperties": [*_fresh(4), {"property": "retention", "value": 90, "unit": "d"}]},
            [("policy.enterprise 1.0.0", "retention_shortened", "sla.retention")],
        ),
        (
            {"change_policy": {"compatibility": "none", "notice": "30 d"}},
            [("policy.enterprise 1.0.0", "change_policy_changed", "change_policy.compatibility")],
        ),
        ({"delivery": None}, []),
        (
            {"delivery": {"guarantee": "at_most_once"}},
            [("policy.enterprise 1.0.0", "delivery_changed", "delivery")],
        ),
        (
            {"owners": None},
            [
                ("policy.sales 1.0.0", "owner_missing", "owners"),
                ("policy.enterprise 1.0.0", "owner_missing", "owners"),
            ],
        ),
        ({"fields": [KEPT["fields"][1]]}, []),
        ({"fields": [{"name": "tenant_id", "logicalType": "string"}, KEPT["fields"][1]]}, []),
        (
            {"fields": [{"name": "tenant_id", "logicalType": "string", "required": False}, KEPT["fields"][1]]},
            [("policy.enterprise 1.0.0", "field_required_removed", "tenant_id")],
        ),
        ({"fields": [KEPT["fields"][0], {"name": "email", "logicalType": "string"}]}, []),
        (
            {"fields": [KEPT["fields"][0], {"name": "email", "logicalType": "string", "classification": "public"}]},
            [("policy.enterprise 1.0.0", "field_classification_changed", "email")],
        ),
        (
            {"fields": [{"name": "tenant_id", "logicalType": "integer", "required": True}, KEPT["fields"][1]]},
            [("policy.enterprise 1.0.0", "field_type_changed", "tenant_id")],
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_every_weakened_term_is_named_with_the_policy_it_came_from(
    changes: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    assert _weakened(**changes) == expected


POLICY: dict[str, Any] = {
    "id": "policy.books",
    "tier": "enterprise",
    "content": "closed",
    "source_authority": "the ledger",
    "exclusions": ["personal data"],
    "schema": [
        {
            "name": "any",
            "quality": [{"metric": "rowCount", "mustBeGreaterThan": 10}],
            "relationships": [{"from": "any.id", "to": "ledger.id"}],
            "properties": [
                {"name": "id", "logicalType": "string", "required": True, "primaryKey": True, "primaryKeyPosition": 1},
                {"name": "iban", "logicalType": "string", "classification": "confidential"},
            ],
        }
    ],
}
ENTRIES = {
    **POLICY["schema"][0],
    "name": "entries",
    "relationships": [{"from": "entries.id", "to": "ledger.id"}],
}
HELD = {**POLICY, "id": "books", "tier": "product", "parent": "policy.books", "schema": [ENTRIES]}


KEY, IBAN = ENTRIES["properties"]
NO_KEY = {"name": "id", "logicalType": "string", "required": True}


def entries(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"schema": [{**ENTRIES, "properties": list(fields)}]}


def labelled(label: str) -> dict[str, Any]:
    return entries(KEY, {**IBAN, "classification": label})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"exclusions": ["personal data", "drafts"]}, []),
        ({"content": "open"}, [("content_opened", "content")]),
        ({"source_authority": "the shop"}, [("source_authority_changed", "source_authority")]),
        ({"exclusions": ["drafts"]}, []),
        ({"schema": [{**ENTRIES, "quality": []}]}, []),
        (
            {"schema": [{**ENTRIES, "quality": [{"metric": "rowCount", "mustBeGreaterThan": 5}]}]},
            [("quality_rule_relaxed", "rowCount")],
        ),
        ({"schema": [{**ENTRIES, "quality": [{"metric": "rowCount", "mustBeGreaterThan": 50}]}]}, []),
        ({"schema": [{**ENTRIES, "relationships": []}]}, []),
        (entries(NO_KEY, IBAN), []),
        (entries(NO_KEY, {**IBAN, "primaryKey": True}), [("primary_key_changed", "primary_key")]),
        (labelled("restricted"), []),
        (labelled("Restricted"), []),
        (labelled("CONFIDENTIAL"), []),
        (labelled("internal"), [("field_classification_changed", "iban")]),
        (labelled("pii"), [("field_classification_changed", "iban")]),
        (entries(KEY, {"name": "iban", "logicalType": "string"}), []),
    ],
    ids=str,
)
def test_a_child_is_held_to_everything_its_policy_says(
    changes: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    found = find_weakened_terms(contract({**HELD, **changes}), [contract(POLICY)])

    assert [(one.kind, one.path) for one in found] == expected


def test_labels_without_an_order_are_the_same_in_any_case() -> None:
    policy, child = ({**one, **labelled(label)} for one, label in ((POLICY, "PII"), (HELD, "pii ")))

    assert find_weakened_terms(contract(child), [contract(policy)]) == ()


def test_a_child_that_is_a_copy_of_a_policy_of_several_objects_weakens_nothing() -> None:
    others = {"name": "others", "properties": POLICY["schema"][0]["properties"]}
    several = {**POLICY, "schema": [POLICY["schema"][0], others]}

    assert find_weakened_terms(contract(HELD), [contract(several)]) == ()


def test_a_policy_below_another_need_not_repeat_it_but_may_not_contradict_it() -> None:
    below = {"id": "policy.sales", "tier": "domain", "parent": "policy.books"}
    adds = {**below, "fields": [{"name": "region", "logicalType": "string", "required": True}]}
    contradicts = {**adds, "content": "open", "slaProperties": _fresh(48)}
    policy = contract({**POLICY, "slaProperties": _fresh(24)})

    assert find_weakened_terms(contract(adds), [policy]) == ()
    assert [one.kind for one in find_weakened_terms(contract(contradicts), [policy])] == [
        "sla_relaxed",
        "content_opened",
    ]


def test_a_policy_without_a_key_leaves_keys_to_its_children() -> None:
    assert find_weakened_terms(contract(HELD), [contract({**POLICY, **entries(NO_KEY, IBAN)})]) == ()


def test_every_term_of_a_contract_is_inherited_or_its_own() -> None:
    of_each = {
        "contract.id",
        "contract.deprecation",
        "contract.intended_consumers",
        "contract.event_type",
        "contract.event_meaning",
        "contract.lifecycle",  # of the stream that the contract belongs to
        "contract.lifecycle_moves",
        "contract.lifecycle_invariants",
        "contract.require",  # evaluated on every contract below
        "contract.visibility",
        "contract.owners",  # that there is one is inherited
        "contract.servers",
        "contract.description",
        "contract.metadata",
        "definition",
        "foreign.part",
        "foreign",  # constructs of the schema that a contract was read from
    }
    service_levels = {"sla", "retention"}
    added_up = {f"data_policy.{part}" for part in ("masks", "purposes", "residency", "retention")}

    assert {term.name for term in CONTRACT_TERMS} == INHERITED | of_each | service_levels | added_up


def test_a_violation_reads_as_a_sentence() -> None:
    (violation,) = find_weakened_terms(
        contract({**KEPT, "slaProperties": [*_fresh(8), KEPT["slaProperties"][1]]}), POLICIES
    )

    assert str(violation) == "service level sla.freshness is relaxed: 6 h -> 8 h (from policy.sales 1.0.0)"


def _among(*contracts: Contract) -> FindPolicy:
    policies = {one.id: FoundPolicy(one) for one in contracts}
    return policies.get


def test_ancestors_are_found_nearest_first() -> None:
    found = policy_chain(contract(KEPT), _among(*POLICIES))

    assert [one.id for one in found] == ["policy.sales", "policy.enterprise"]


def test_a_parent_that_is_not_there_is_named() -> None:
    with pytest.raises(InvalidDocument, match=r"inherits from 'policy\.sales', which is not registered"):
        policy_chain(contract(KEPT), _among())


def test_a_circle_of_parents_is_refused() -> None:
    one = contract({**SALES, "parent": "policy.enterprise"})
    other = contract({**ENTERPRISE, "parent": "policy.sales"})

    with pytest.raises(InvalidDocument, match="inherits from itself"):
        policy_chain(contract(KEPT), _among(one, other))


def test_policies_are_distinguished_from_data_contracts() -> None:
    assert [is_policy(contract(one)) for one in (ENTERPRISE, SALES, KEPT)] == [True, True, False]


def test_every_example_keeps_the_policies_it_inherits() -> None:
    from pathlib import Path

    from treaty.contracts import load

    files = (Path(__file__).parents[2] / "examples" / "retail" / "contracts").rglob("*.yaml")
    contracts = [load(path.read_bytes(), str(path)).contract for path in sorted(files)]
    policies = _among(*(one for one in contracts if is_policy(one)))

    broken = {f"{one.id} {one.version}": find_weakened_terms(one, policy_chain(one, policies)) for one in contracts}
    assert {name: found for name, found in broken.items() if found} == {}
