"""What a consumer reads: declared fields, masks by classification and purpose, rows by region and age."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.documents import contract
from tests.policy.retail_policies import ENTERPRISE, FIELDS, ORDERS, SALES, subscription
from treaty.contracts.data_policies import Granularity, Mask, MaskMethod
from treaty.errors import InvalidDocument
from treaty.governance.effective import effective_contract
from treaty.governance.inheritance import find_weakened_terms
from treaty.policy import Decision, EffectiveView, effective_view


def _decisions(view: EffectiveView) -> dict[str, str]:
    return {str(field.path): f"{field.decision} {field.mask or ''}".strip() for field in view.fields}


def test_without_a_policy_every_declared_field_is_clear() -> None:
    view = effective_view(contract(FIELDS), subscription(None))
    assert view.is_whole
    assert view.refusal is None


def test_a_field_that_is_not_declared_is_not_served() -> None:
    view = effective_view(contract(FIELDS), subscription(None, "order_id", "address.city"))
    assert [str(field.path) for field in view.served] == ["order_id", "address.city"]
    assert view.field("buyer").decision is Decision.NOT_DECLARED  # type: ignore[union-attr]


def test_masks_follow_classification_and_field_for_a_purpose_that_is_not_exempt() -> None:
    assert _decisions(effective_view(ORDERS, subscription("analytics"))) == {
        "order_id": "clear",
        "buyer": "masked hash with the key customer",
        "phone": "clear",
        "postcode": "masked generalise to prefix of 2",
        "placed_on": "masked generalise to month",
        "total": "masked generalise to range of 100",
        "country": "clear",
        "address.city": "masked hash with the key customer",
        "address.street": "masked hash with the key customer",
    }


def test_an_exempt_purpose_sees_clear_values_whatever_its_case() -> None:
    view = effective_view(ORDERS, subscription("Support of customers"))
    assert {field.decision for field in view.fields} == {Decision.CLEAR}
    buyer = view.field("buyer")
    assert buyer is not None
    assert buyer.reason == "data_policy.classifications.Restricted of orders 1.0.0"


def test_the_strictest_rule_of_all_policies_decides_and_names_its_origin() -> None:
    view = effective_view(ORDERS, subscription("analytics"), policies=(SALES, ENTERPRISE))
    buyer, phone = view.field("buyer"), view.field("phone")
    assert buyer is not None
    assert phone is not None
    assert buyer.mask == Mask(MaskMethod.REDACT, text="***")
    assert buyer.reason == "redact: data_policy.classifications.restricted of policy.enterprise 1.0.0"
    assert phone.reason == "null: data_policy.classifications.pii of policy.sales 2.1.0"


def test_a_purpose_is_clear_only_if_every_rule_exempts_it() -> None:
    view = effective_view(ORDERS, subscription("audit"), policies=(SALES, ENTERPRISE))
    assert _decisions(view)["buyer"] == "masked hash with the key customer"


@pytest.mark.parametrize(
    ("purpose", "refusal"),
    [
        ("marketing", "the purpose 'marketing' is not allowed"),
        (None, "no purpose is declared"),
    ],
)
def test_a_purpose_that_a_policy_does_not_allow_reads_nothing(purpose: str | None, refusal: str) -> None:
    view = effective_view(ORDERS, subscription(purpose), policies=(SALES,))
    assert view.served == ()
    assert view.refusal == f"{refusal}: data_policy.purposes of policy.sales 2.1.0 allows support*, analytics, audit"
    assert {field.decision for field in view.fields} == {Decision.FORBIDDEN}


def test_a_generalisation_of_another_type_sets_values_to_null() -> None:
    block = {"fields": {"country": {"mask": "generalise", "to": "month"}}}
    view = effective_view(contract({"fields": FIELDS, "data_policy": block}), subscription(None))
    assert _decisions(view)["country"] == "masked null"


def test_a_contract_that_weakens_a_rule_of_its_policy_is_told_so() -> None:
    weaker = contract(
        {
            "id": "orders",
            "fields": FIELDS,
            "data_policy": {"classifications": {"restricted": {"mask": "generalise", "to": "prefix", "length": 1}}},
        }
    )
    (violation,) = find_weakened_terms(weaker, (ENTERPRISE,))
    assert violation.kind == "mask_weakened"
    assert violation.path == "data_policy.classifications.restricted"
    assert find_weakened_terms(ORDERS, (SALES, ENTERPRISE)) == ()


def test_the_effective_contract_lists_the_rules_with_their_origin() -> None:
    values = [(one.path, one.value, one.origin) for one in effective_contract(ORDERS, (SALES,)).values]
    assert ("data_policy.classifications.pii", "null", "policy.sales 2.1.0") in values
    assert ("data_policy.fields.placed_on", "generalise to month, clear for support*", None) in values


RESIDENCY = {"residency": {"column": "country", "serve": {"DE": ["eu"], "FR": ["eu"], "US": ["us", "eu"], "XX": ["*"]}}}


@pytest.mark.parametrize(
    ("region", "values"),
    [("eu", ("DE", "FR", "US", "XX")), ("us", ("US", "XX")), ("asia", ("XX",)), (None, ())],
)
def test_rows_leave_only_for_regions_that_the_policy_allows(region: str | None, values: tuple[str, ...]) -> None:
    view = effective_view(contract({"fields": FIELDS, "data_policy": RESIDENCY}), subscription(None), region=region)
    assert [rule.values for rule in view.regions] == [values]


def test_a_contract_without_the_region_column_serves_no_rows() -> None:
    policy = contract({"id": "policy.eu", "tier": "domain", "data_policy": RESIDENCY})
    view = effective_view(contract(FIELDS[:2]), subscription(None), policies=(policy,), region="eu")
    assert view.regions[0].reason == "no rows: data_policy.residency of policy.eu 1.0.0"


def test_retention_limits_the_age_of_rows() -> None:
    block = {"retention": {"column": "placed_on", "at_most": "400 d"}}
    view = effective_view(contract({"fields": FIELDS, "data_policy": block}), subscription(None))
    assert [(rule.column, rule.keep) for rule in view.retention] == [("placed_on", timedelta(days=400))]


def test_served_types_follow_from_the_mask() -> None:
    view = effective_view(ORDERS, subscription("analytics"))
    types = {str(field.path): field.logical_type for field in view.fields}
    assert (types["buyer"], types["total"], types["placed_on"]) == ("string", "integer", "date")
    assert view.key_names == ("customer",)


@pytest.mark.parametrize(
    "block",
    [
        {},
        {"fields": {"buyer": "hash"}},
        {"fields": {"buyer": {"mask": "hash"}}},
        {"fields": {"buyer": {"mask": "hash", "key": "Customer Key"}}},
        {"fields": {"buyer": {"mask": "generalise", "to": "prefix"}}},
        {"fields": {"buyer": {"mask": "generalise", "to": "month", "length": 2}}},
        {"fields": {"seller": "redact"}},
        {"fields": {"buyer..x": "redact"}},
        {"residency": {"column": "address.city", "serve": {"DE": ["eu"]}}},
        {"retention": {"column": "placed_on", "at_most": "soon"}},
    ],
)
def test_a_policy_that_cannot_be_applied_is_refused(block: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument, match=r"data_policy|field"):
        contract({"fields": FIELDS, "data_policy": block})


def test_a_mask_may_be_written_as_a_word_or_null() -> None:
    block = {"fields": {"buyer": "redact", "phone": None, "total": {"mask": None}}}
    policy = contract({"fields": FIELDS, "data_policy": block}).treaty.data_policy
    assert policy is not None
    assert [rule.mask.method for rule in policy.rules] == [MaskMethod.REDACT, MaskMethod.NULL, MaskMethod.NULL]
    assert policy.rules[0].mask.to is not Granularity.DAY
