"""A contract inherits what it does not say, and every value of it has an origin."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.documents import contract
from treaty.contracts.loader import contract_from
from treaty.contracts.odcs import export_odcs
from treaty.governance.effective import EffectiveContract, effective_contract
from treaty.governance.inheritance import find_weakened_terms

ENTERPRISE: dict[str, Any] = {
    "id": "enterprise.base",
    "tier": "enterprise",
    "slaProperties": [
        {"property": "freshness", "value": 24, "unit": "h", "element": "any.loaded_at"},
        {"property": "retention", "value": 1, "unit": "y"},
    ],
    "change_policy": {"compatibility": "backward", "notice": "30 d", "statement": "Ask first."},
    "delivery": {"guarantee": "at_least_once"},
    "exclusions": ["card numbers"],
    "schema": [
        {
            "name": "any",
            "quality": [{"name": "not-empty", "metric": "rowCount", "mustBeGreaterThan": 0}],
            "properties": [
                {"name": "tenant_id", "logicalType": "string", "required": True, "primaryKey": True},
                {"name": "email", "logicalType": "string", "classification": "restricted", "pii": True},
                {"name": "amount", "logicalType": "number", "unit": "EUR", "logicalTypeOptions": {"minimum": 0}},
            ],
        }
    ],
}
SALES: dict[str, Any] = {
    "id": "sales.policy",
    "tier": "domain",
    "parent": "enterprise.base",
    "slaProperties": [{"property": "freshness", "value": 6, "unit": "h"}],
    "source_authority": "the order service",
}
POLICIES = (contract(SALES), contract(ENTERPRISE))
SILENT: dict[str, Any] = {
    "id": "orders",
    "parent": "sales.policy",
    "fields": [{"name": "email"}, {"name": "amount", "logicalType": "number", "logicalTypeOptions": {"maximum": 9}}],
}


def _effective(child: dict[str, Any]) -> EffectiveContract:
    return effective_contract(contract(child), POLICIES)


def _origins(child: dict[str, Any]) -> dict[str, tuple[Any, str | None]]:
    return {value.path: (value.value, value.origin) for value in _effective(child).values}


def test_a_silent_child_gets_every_value_from_the_nearest_policy_that_says_it() -> None:
    assert _origins(SILENT) == {
        "sla.freshness": ("6 h", "sales.policy 1.0.0"),
        "sla.retention": ("1 y", "enterprise.base 1.0.0"),
        "delivery.guarantee": ("at_least_once", "enterprise.base 1.0.0"),
        "change_policy.compatibility": ("backward", "enterprise.base 1.0.0"),
        "change_policy.notice": ("30 d", "enterprise.base 1.0.0"),
        "change_policy.statement": ("Ask first.", "enterprise.base 1.0.0"),
        "exclusions.card numbers": ("card numbers", "enterprise.base 1.0.0"),
        "source_authority": ("the order service", "sales.policy 1.0.0"),
        "quality.not-empty": ("not-empty", "enterprise.base 1.0.0"),
        "email#type": ("string", "enterprise.base 1.0.0"),
        "email#classification": ("restricted", "enterprise.base 1.0.0"),
        "email#pii": (True, "enterprise.base 1.0.0"),
        "amount#type": ("number", None),
        "amount#unit": ("EUR", "enterprise.base 1.0.0"),
        "amount#maximum": (9, None),
        "amount#minimum": (0, "enterprise.base 1.0.0"),
        "tenant_id#type": ("string", "enterprise.base 1.0.0"),
        "tenant_id#primary key": (True, "enterprise.base 1.0.0"),
        "tenant_id#required": (True, "enterprise.base 1.0.0"),
    }


@pytest.mark.parametrize(
    ("said", "path", "value"),
    [
        ({"slaProperties": [{"property": "freshness", "value": 1, "unit": "h"}]}, "sla.freshness", "1 h"),
        ({"delivery": {"guarantee": "exactly_once"}}, "delivery.guarantee", "exactly_once"),
        ({"change_policy": {"notice": "90 d"}}, "change_policy.notice", "90 d"),
        ({"source_authority": "the shop"}, "source_authority", "the shop"),
        ({"fields": [{"name": "email", "classification": "secret"}]}, "email#classification", "secret"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_a_child_says_is_its_own(said: dict[str, Any], path: str, value: str) -> None:
    assert _origins({**SILENT, **said})[path] == (value, None)


def test_a_block_in_part_gets_the_rest_but_not_the_statement_about_it() -> None:
    policy = _effective({**SILENT, "change_policy": {"notice": "90 d"}}).contract.treaty.change_policy

    assert policy is not None
    assert (policy.compatibility, policy.notice, policy.statement) == ("backward", "90 d", None)


def test_measures_are_inherited_by_name() -> None:
    unpaid = {"name": "unpaid_pct", "rule": "unpaid", "unit": "%", "target": {"at_most": 5}}
    rows = {"name": "known_rows", "expression": "count(*)"}
    policy = contract({**ENTERPRISE, "measures": [unpaid, rows]})
    child = contract({**SILENT, "measures": [{**unpaid, "target": {"at_most": 2}}]})
    effective = effective_contract(child, (policy,))

    assert [(measure.name, str(measure)) for measure in effective.contract.treaty.measures] == [
        ("unpaid_pct", "at most 2 %: rule unpaid"),
        ("known_rows", "no target: count(*)"),
    ]
    values = {value.path: value.origin for value in effective.values}
    assert (values["measures.unpaid_pct"], values["measures.known_rows"]) == (None, "enterprise.base 1.0.0")
    assert [weakened for weakened in find_weakened_terms(child, (policy,)) if "measure" in weakened.kind] == []
    loose = contract({**SILENT, "measures": [{**unpaid, "target": {"at_most": 9}}]})
    assert [(one.kind, one.path) for one in find_weakened_terms(loose, (policy,)) if "measure" in one.kind] == [
        ("measure_relaxed", "measures.unpaid_pct")
    ]


def test_exclusions_of_both_hold() -> None:
    values = _origins({**SILENT, "exclusions": [{"what": "drafts", "why": "not final"}]})

    assert values["exclusions.drafts"] == ("drafts", None)
    assert values["exclusions.card numbers"] == ("card numbers", "enterprise.base 1.0.0")


def test_an_object_with_a_key_of_its_own_keeps_it() -> None:
    own = {"name": "order_id", "logicalType": "string", "primaryKey": True}
    (item,) = _effective({**SILENT, "fields": [own]}).contract.schema

    assert item.primary_key == ("order_id",)
    assert [field.name for field in item.fields if field.is_required] == ["order_id", "tenant_id"]


def test_owners_names_and_status_are_of_each_contract() -> None:
    result = _effective({**SILENT, "owners": None, "status": "draft"})

    assert (result.contract.id, result.contract.status, result.contract.owners) == ("orders", "draft", ())


def test_without_policies_nothing_changes() -> None:
    child = contract(SILENT)

    assert effective_contract(child, ()) == EffectiveContract(child, child, {})


def test_the_effective_contract_is_a_valid_document() -> None:
    effective = _effective(SILENT).contract

    assert contract_from(export_odcs(effective), "export").sla == effective.sla


_SAYINGS = st.fixed_dictionaries(
    {},
    optional={
        "slaProperties": st.integers(1, 40).map(lambda hours: [{"property": "freshness", "value": hours, "unit": "h"}]),
        "delivery": st.sampled_from(["at_most_once", "at_least_once", "exactly_once"]).map(
            lambda guarantee: {"guarantee": guarantee}
        ),
        "source_authority": st.sampled_from(["the order service", "the shop"]),
        "exclusions": st.sampled_from([["drafts"], ["card numbers"]]),
        "fields": st.sampled_from(
            [
                [{"name": "email", "logicalType": "string"}],
                [{"name": "email", "logicalType": "string", "classification": "public"}],
                [{"name": "tenant_id", "logicalType": "string", "required": False}],
            ]
        ),
    },
)


@settings(max_examples=40, deadline=None)
@given(_SAYINGS)
def test_inheriting_again_changes_nothing_and_only_own_words_are_violations(said: dict[str, Any]) -> None:
    child = contract({"id": "orders", "parent": "sales.policy", **said})
    once = effective_contract(child, POLICIES)
    paths = {value.path.partition("#")[0] for value in once.values if value.origin is None} | {"primary_key"}

    assert effective_contract(once.contract, POLICIES).contract == once.contract
    for violation in find_weakened_terms(child, POLICIES):
        stated = violation.path.partition("#")[0]
        assert any(path == stated or path.startswith(f"{stated}.") for path in paths)
