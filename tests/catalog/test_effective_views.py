"""The page of consumers shows what each may read: field by field, with the rule and where it comes from."""

from __future__ import annotations

from pathlib import Path

from tests.catalog.page_client import Browser, words
from tests.catalog.policy_registry import policy_registry
from tests.documents import document

PAGE = "/catalog/contracts/orders/consumers"


def test_each_field_has_its_mask_and_the_rule_with_its_origin(tmp_path: Path) -> None:
    with policy_registry(tmp_path) as (_, address), Browser(address) as browser:
        answer = browser.get(PAGE)
    text = words(answer)

    assert "churn-models · 1 clear, 2 masked, 2 not declared Purpose: analytics" in text
    assert (
        "customer hash with the key customers data_policy.classifications.restricted of policy.shop 1.0.0 "
        "city generalise to prefix of 2 data_policy.fields.city of orders 1.0.0"
    ) in text
    assert "support-desk · 5 clear" in text
    assert "rows by country: data_policy.residency of orders 1.0.0" in text
    assert "rows up to 400 days after placed_on: data_policy.retention of orders 1.0.0" in text
    assert 'href="/catalog/contracts/policy.shop/at/1.0.0"' in answer.text


def test_a_purpose_that_is_not_allowed_reads_nothing(tmp_path: Path) -> None:
    with policy_registry(tmp_path) as (_, address), Browser(address) as browser:
        text = words(browser.get(PAGE))

    assert (
        "advertising · nothing the purpose 'advertising' is not allowed: data_policy.purposes of policy.shop 1.0.0 "
        "allows customer support, analytics, delivery"
    ) in text


def test_without_a_policy_there_is_nothing_to_show(tmp_path: Path) -> None:
    with policy_registry(tmp_path) as (registry, address), Browser(address) as browser:
        registry.register(document({"id": "plain", "fields": [{"name": "id", "logicalType": "string"}]}))
        registry.consumers.subscribe("bi", "plain@1", consumer_class="operational_reporting")
        text = words(browser.get("/catalog/contracts/plain/consumers"))

    assert "What consumers may read" not in text
