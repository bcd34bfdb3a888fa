"""Rules of policies: a condition on contract, object or field, and what must be there."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import contract
from treaty.contracts.loader import contract_from
from treaty.contracts.odcs import export_odcs
from treaty.errors import InvalidDocument
from treaty.governance.inheritance import find_weakened_terms

PII: dict[str, Any] = {
    "name": "pii-classified",
    "for": "field",
    "where": {"tag": "pii"},
    "must": {"classification": True},
    "message": "PII requires classification",
}
OWNED: dict[str, Any] = {
    "name": "owned",
    "for": "contract",
    "must": {"owner": "contact"},
    "message": "all data needs an owner",
}
FRESH: dict[str, Any] = {"name": "fresh", "for": "contract", "must": {"sla": {"freshness": "24 h"}}}
MONEY: dict[str, Any] = {
    "name": "currency",
    "for": "field",
    "where": {"name": ["*amount", "*price"], "type": ["number", "integer"]},
    "must": {"any_of": [{"unit": True}, {"property": {"currency": True}}, {"beside": "*currency*"}]},
    "message": "financial amounts need a currency",
}
KEYED: dict[str, Any] = {"name": "keyed", "for": "object", "must": {"primary_key": True}, "severity": "warning"}


def _violations(rule: dict[str, Any], child: dict[str, Any]) -> list[tuple[str, str, str]]:
    policy = contract({"id": "base", "tier": "enterprise", "require": [rule]})
    found = find_weakened_terms(contract({"id": "orders", **child}), [policy])
    return [(str(one.severity), one.path, str(one)) for one in found]


def _field(**keys: Any) -> dict[str, Any]:
    return {"fields": [{"name": "net_amount", "logicalType": "number", **keys}]}


@pytest.mark.parametrize(
    ("rule", "child", "expected"),
    [
        (
            PII,
            {"fields": [{"name": "nick", "logicalType": "string", "tags": ["PII"]}]},
            [("error", "nick", "PII requires classification: field 'nick' has no classification (from base 1.0.0)")],
        ),
        (PII, {"fields": [{"name": "nick", "logicalType": "string", "tags": ["pii"], "classification": "pii"}]}, []),
        (PII, {"fields": [{"name": "nick", "logicalType": "string"}]}, []),
        (
            OWNED,
            {"owners": [{"team": "checkout"}]},
            [
                (
                    "error",
                    "require.owned",
                    "all data needs an owner: the contract has an owner without a contact (from base 1.0.0)",
                )
            ],
        ),
        (OWNED, {}, []),
        (
            FRESH,
            {},
            [
                (
                    "error",
                    "require.fresh",
                    "the policy rule fresh requires it: the contract promises no freshness (24 h is required)"
                    " (from base 1.0.0)",
                )
            ],
        ),
        (FRESH, {"slaProperties": [{"property": "freshness", "value": 90, "unit": "min"}]}, []),
        (
            FRESH,
            {"slaProperties": [{"property": "freshness", "value": 2, "unit": "d"}]},
            [
                (
                    "error",
                    "require.fresh",
                    "the policy rule fresh requires it: the contract promises freshness 2 d, not 24 h"
                    " (from base 1.0.0)",
                )
            ],
        ),
        (
            MONEY,
            _field(),
            [
                (
                    "error",
                    "net_amount",
                    "financial amounts need a currency: field 'net_amount' has no unit or has no property currency or"
                    " has no field *currency* beside it (from base 1.0.0)",
                )
            ],
        ),
        (MONEY, _field(unit="EUR"), []),
        (MONEY, _field(customProperties=[{"property": "currency", "value": "EUR"}]), []),
        (
            MONEY,
            {"fields": [*_field()["fields"], {"name": "order_currency", "logicalType": "string"}]},
            [],
        ),
        (
            KEYED,
            {"fields": [{"name": "id", "logicalType": "string"}]},
            [
                (
                    "warning",
                    "orders",
                    "the policy rule keyed requires it: object 'orders' has no primary key (from base 1.0.0)",
                )
            ],
        ),
        (PII, {"tier": "domain", "fields": [{"name": "nick", "logicalType": "string", "tags": ["pii"]}]}, []),
    ],
)
def test_a_rule_names_what_a_contract_lacks(
    rule: dict[str, Any], child: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    assert _violations(rule, child) == expected


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ([{**PII, "must": {"owner": True}}], "a rule for fields cannot require 'owner'"),
        ([{**OWNED, "where": {"type": "table"}}], "a rule for contracts has no condition 'type'"),
        ([OWNED, OWNED], "the rule 'owned' is declared twice"),
        ([{**FRESH, "must": {"sla": {"freshness": "soon"}}}], "'soon' is not an amount of freshness"),
        ([{**OWNED, "must": {"block": "deliveri"}}], "there is no block 'deliveri' to require"),
        ([{"name": "x", "for": "field"}], "'must' is missing"),
        ([{**PII, "severity": "fatal"}], "severity"),
        ([{**PII, "for": "consumer"}], "a rule for consumers cannot require 'classification'"),
        ([{**OWNED, "for": "consumer", "must": {"purpose": True}, "where": {"type": "x"}}], "has no condition 'type'"),
        ([{**PII, "must": {"purpose": True}}], "a rule for fields cannot require 'purpose'"),
        ([{**OWNED, "from": "2026-06-01"}], "a rule for contracts has no 'from'"),
        ([{**OWNED, "for": "consumer", "must": {"layer": "gold"}}], "there is no layer 'gold'"),
        ([{**OWNED, "must": {"layer": "raw"}}], "a rule for contracts cannot require 'layer'"),
    ],
)
def test_a_bad_rule_is_refused_when_the_policy_is_read(rules: list[Any], problem: str) -> None:
    with pytest.raises(InvalidDocument, match=problem):
        contract({"id": "base", "tier": "enterprise", "require": rules})


def test_rules_travel_through_strict_odcs() -> None:
    policy = contract({"id": "base", "tier": "enterprise", "require": [PII, MONEY, KEYED]})

    assert contract_from(export_odcs(policy), "export").treaty.require == policy.treaty.require
