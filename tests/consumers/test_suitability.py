"""Whether a contract and its policies allow what a consumer states: its latency, class and purpose."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from tests.documents import contract
from treaty.consumers.dependencies import DataLayer
from treaty.consumers.subscriptions import ConsumerClass, Subscription
from treaty.consumers.suitability import check_suitability
from treaty.contracts.paths import parse_path
from treaty.contracts.versions import Line

TODAY = date(2026, 3, 1)
HOURLY = {"slaProperties": [{"property": "freshness", "value": 1, "unit": "h"}]}
STREAM = {"latency": {"within": "30 s"}}
FOR_PEOPLE = {"intended_consumers": [{"name": "ledger"}, {"name": "analysts", "class": "exploratory_analytics"}]}
LATENCY, INTENDED = "consumer_latency_unmet", "consumer_not_intended"


@pytest.mark.parametrize(
    ("terms", "latency", "consumer", "expected"),
    [
        ({}, None, "bot", []),
        ({}, "1 h", "bot", [(LATENCY, "bot needs 1 h, and orders@1 promises no latency")]),
        (HOURLY, "1 h", "bot", []),
        (HOURLY, "2 hours", "bot", []),
        (HOURLY, "15 min", "bot", [(LATENCY, "bot needs 15 min, and orders@1 promises 1 h")]),
        ({**HOURLY, **STREAM}, "1 min", "bot", []),
        (STREAM, "10 s", "bot", [(LATENCY, "bot needs 10 s, and orders@1 promises 30 s")]),
        (HOURLY, "soon", "bot", [("consumer_latency_unreadable", "the latency of bot cannot be compared: 'soon'")]),
        (FOR_PEOPLE, None, "ledger", []),
        (
            FOR_PEOPLE,
            None,
            "bot",
            [
                (
                    INTENDED,
                    "orders@1 is not intended for decision_automation: "
                    "its intended consumers are exploratory_analytics",
                )
            ],
        ),
    ],
)
def test_needs_that_a_contract_does_not_meet_are_warnings(
    terms: dict[str, Any], latency: str | None, consumer: str, expected: list[tuple[str, str]]
) -> None:
    automatic = ConsumerClass.DECISION_AUTOMATION
    subscription = Subscription(consumer, Line("orders", 1), automatic, latency=latency)

    findings = check_suitability(contract(terms), subscription, today=TODAY)

    assert [(finding.id, finding.message) for finding in findings] == expected
    assert {finding.severity.value for finding in findings} <= {"warning"}


DESK = {"name": "desk", "class": "operational_reporting", "purpose": "Answer where an order is."}
BOOKS = {"name": "books", "class": "operational_reporting", "purpose": "Book the sales"}
UNSTATED = {"name": "teams", "class": "operational_reporting"}


@pytest.mark.parametrize(
    ("intended", "consumer", "purpose", "is_intended"),
    [
        ([DESK, BOOKS], "bot", "answer where an order IS", True),
        ([DESK, BOOKS], "bot", "Answer where an order is, and why", True),
        ([DESK, BOOKS], "bot", "Score customers", False),
        ([DESK, BOOKS], "desk", "Score customers", True),
        ([DESK, UNSTATED], "bot", "Score customers", True),
        ([DESK, BOOKS], "bot", None, True),
        ([], "bot", "Score customers", True),
    ],
)
def test_a_purpose_is_compared_with_those_that_a_contract_is_intended_for(
    intended: list[dict[str, Any]], consumer: str, purpose: str | None, is_intended: bool
) -> None:
    reporting = ConsumerClass.OPERATIONAL_REPORTING
    subscription = Subscription(consumer, Line("orders", 1), reporting, purpose=purpose)
    terms = {"intended_consumers": intended} if intended else {}

    findings = check_suitability(contract(terms), subscription, today=TODAY)

    message = (
        "orders@1 is not intended for the purpose 'Score customers': it is for Answer where an order is.; "
        "Book the sales"
    )
    expected = [] if is_intended else [("consumer_purpose_not_intended", message)]
    assert [(finding.id, finding.message) for finding in findings] == expected


EMAIL = {"name": "email", "logicalType": "string", "classification": "restricted"}
CITY = {"name": "city", "logicalType": "string"}
PURPOSE = {"name": "purpose", "for": "consumer", "where": {"classification": "restricted"}, "must": {"purpose": True}}
NOT_EXPLORED = {
    "name": "not-explored",
    "for": "consumer",
    "where": {"classification": ["restricted", "confidential"], "class": "exploratory_*"},
    "must": {"any_of": [{"purpose": "fraud*"}, {"name": "audit-*"}]},
    "severity": "warning",
    "message": "restricted data is not explored",
}
COMPLETE = {"name": "complete", "for": "consumer", "must": {"fields": True, "contact": "#*"}}


@pytest.mark.parametrize(
    ("rule", "stated", "expected"),
    [
        (PURPOSE, {"fields": ["city"]}, []),
        (PURPOSE, {"fields": ["email"], "purpose": "Send receipts"}, []),
        (
            PURPOSE,
            {"fields": ["email"]},
            [("error", "the policy rule purpose requires it: bot states no purpose (from base 1.0.0)")],
        ),
        (
            PURPOSE,
            {},
            [("error", "the policy rule purpose requires it: bot states no purpose (from base 1.0.0)")],
        ),
        (NOT_EXPLORED, {"purpose": "Fraud rings"}, []),
        (
            NOT_EXPLORED,
            {"purpose": "Growth"},
            [
                (
                    "warning",
                    "restricted data is not explored: bot has the purpose Growth, not fraud* or has the name bot, "
                    "not audit-* (from base 1.0.0)",
                )
            ],
        ),
        (COMPLETE, {"fields": ["city"], "contact": "#bots"}, []),
        (
            COMPLETE,
            {"contact": "bots@example.com"},
            [
                (
                    "error",
                    "the policy rule complete requires it: bot has not declared its fields and "
                    "has the contact bots@example.com, not #* (from base 1.0.0)",
                )
            ],
        ),
    ],
)
def test_rules_of_policies_say_who_may_read_and_for_what(
    rule: dict[str, Any], stated: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    policy = contract({"id": "base", "tier": "enterprise", "require": [rule]})
    fields = tuple(parse_path(name) for name in stated.get("fields", ()))
    texts = {key: value for key, value in stated.items() if key != "fields"}
    subscription = Subscription("bot", Line("orders", 1), ConsumerClass.EXPLORATORY_ANALYTICS, fields, **texts)

    findings = check_suitability(contract({"fields": [EMAIL, CITY]}), subscription, [policy], today=TODAY)

    assert [(finding.severity.value, finding.message) for finding in findings] == expected
    assert {finding.id for finding in findings} <= {"consumer_violates_policy"}


EDGE = {
    "name": "edge",
    "for": "consumer",
    "where": {"class": ["external_regulatory", "decision_automation"], "layer": ["raw", "product"]},
    "must": {"layer": "publication"},
    "message": "critical consumers read publications",
}
REFUSED = "critical consumers read publications: bot reads a product directly (from base 1.0.0)"


@pytest.mark.parametrize(
    ("rule", "consumer_class", "layer", "expected"),
    [
        (EDGE, "external_regulatory", DataLayer.PRODUCT, [("error", REFUSED)]),
        (EDGE, "external_regulatory", DataLayer.PUBLICATION, []),
        (EDGE, "external_regulatory", None, []),
        (EDGE, "exploratory_analytics", DataLayer.PRODUCT, []),
        ({**EDGE, "from": "2026-03-01"}, "external_regulatory", DataLayer.PRODUCT, [("error", REFUSED)]),
        (
            {**EDGE, "from": "2026-03-02"},
            "external_regulatory",
            DataLayer.PRODUCT,
            [("warning", f"{REFUSED}; refused from 2026-03-02 on")],
        ),
        ({**EDGE, "where": {"class": "external_regulatory"}}, "external_regulatory", None, []),
    ],
)
def test_a_policy_forbids_direct_reads_from_a_day_on(
    rule: dict[str, Any], consumer_class: str, layer: DataLayer | None, expected: list[tuple[str, str]]
) -> None:
    policy = contract({"id": "base", "tier": "enterprise", "require": [rule]})
    subscription = Subscription("bot", Line("orders", 1), ConsumerClass(consumer_class))

    findings = check_suitability(contract({"fields": [CITY]}), subscription, [policy], today=TODAY, layer=layer)

    assert [(finding.severity.value, finding.message) for finding in findings] == expected
