"""Policies, lint, waivers, consumers and the registry in a review."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.review.branch_builder import reviewed, rules
from treaty.consumers.subscription_files import DeclaredSubscription
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.errors import Unavailable
from treaty.review import Affected, ContractReview, Document, LineOutlook, RegistryAnswer, Section, Step

ID: dict[str, Any] = {"name": "order_id", "logicalType": "string", "required": True, "description": "Minted once."}
TOTAL: dict[str, Any] = {
    "name": "total",
    "logicalType": "number",
    "physicalType": "decimal(18,4)",
    "unit": "EUR",
    "description": "What the customer pays, tax included.",
}
NARROW: dict[str, Any] = {**TOTAL, "physicalType": "decimal(12,2)"}
CITY: dict[str, Any] = {"name": "city", "logicalType": "string", "description": "Where the parcel goes to."}
V1 = {"version": "1.0.0", "fields": [ID, TOTAL, CITY]}
BROKEN = {"version": "1.1.0", "fields": [ID, NARROW]}
READERS = {
    "subscriptions": [
        {
            "consumer": "ledger",
            "line": "orders@1",
            "class": "external_regulatory",
            "fields": ["total"],
            "contact": "#l",
        },
        {"consumer": "planner", "line": "orders@1", "class": "service_orchestration", "fields": ["order_id", "city"]},
        {"consumer": "counter", "line": "orders@1", "class": "operational_reporting", "fields": ["order_id"]},
        {"consumer": "notebook", "line": "orders@1", "class": "exploratory_analytics"},
        {"consumer": "elsewhere", "line": "orders@2", "class": "exploratory_analytics", "fields": ["total"]},
    ]
}
LEVEL = {"property": "freshness", "value": 1, "unit": "h"}
POLICY = {"id": "policy", "tier": "enterprise", "slaProperties": [LEVEL]}
CHILD = {**V1, "parent": "policy", "slaProperties": [LEVEL]}


def _only(before: dict[str, Any], after: dict[str, Any], **more: Any) -> ContractReview:
    (one,) = reviewed(before, after, **more).contracts
    return one


def test_affected_consumers_are_named_with_their_fields() -> None:
    one = _only({"orders.yaml": V1, "readers.yaml": READERS}, {"orders.yaml": BROKEN, "readers.yaml": READERS})

    assert [(party.name, party.effect, party.fields) for party in one.affected] == [
        ("ledger", "hit", ("total",)),
        ("planner", "hit", ("city",)),
        ("notebook", "unknown", ("city", "total")),
        ("counter", "safe", ()),
    ]
    assert [party.critical for party in one.having("hit")] == [True, True]


def test_each_consumer_gets_advice_for_its_own_fields() -> None:
    one = _only({"orders.yaml": V1, "readers.yaml": READERS}, {"orders.yaml": BROKEN, "readers.yaml": READERS})

    ledger, planner = one.having("hit")
    assert [step.field for step in ledger.steps] == ["total"]
    assert ledger.steps[0].action == "expect decimal(12,2) instead of decimal(18,4)"
    assert planner.steps == (Step("city", "removed: stop reading it"),)


def test_a_derived_contract_is_affected_by_the_fields_it_uses() -> None:
    made = {"id": "sales", "lineage": [{"contract": "orders@1", "fields": ["total"]}], "fields": [ID]}

    one = _only({"orders.yaml": V1, "sales.yaml": made}, {"orders.yaml": BROKEN, "sales.yaml": made})

    assert [(party.name, party.kind, party.fields, party.known_from) for party in one.affected] == [
        ("sales@1", "line", ("total",), "sales.yaml")
    ]


NET: dict[str, Any] = {"name": "net", "logicalType": "number"}
FROM_TOTAL = {"transformSourceObjects": ["orders"], "transformLogic": "total * 0.81"}


@pytest.mark.parametrize(
    "made",
    [
        {"fields": [ID, NET], "lineage": [{"contract": "orders@1", "mappings": {"net": ["total"]}}]},
        {"fields": [ID, {**NET, **FROM_TOTAL}]},
    ],
    ids=["declared", "stated by properties"],
)
def test_consumer_behind_a_derived_contract_is_affected_by_field(made: dict[str, Any]) -> None:
    readers = "subscriptions:\n" + "".join(
        f"  - {{consumer: {name}, line: sales@1, class: external_regulatory, fields: [{field}], contact: '#{name}'}}\n"
        for name, field in (("regulator", "net"), ("auditor", "id"))
    )
    files = {"sales.yaml": {"id": "sales", **made}, "readers.yaml": readers}

    one = _only({"orders.yaml": V1, **files}, {"orders.yaml": BROKEN, **files})

    assert [(party.name, party.effect, party.contact, party.path) for party in one.affected] == [
        ("regulator", "hit", "#regulator", ("orders@1", "sales@1", "regulator")),
        ("sales@1", "hit", "#checkout", ()),
    ]


def test_consumers_of_a_removed_contract_are_affected() -> None:
    one = _only({"orders.yaml": V1, "readers.yaml": READERS}, {"readers.yaml": READERS})

    assert [party.name for party in one.having("hit")] == ["counter", "ledger", "notebook", "planner"]


def test_invalid_subscription_is_reported_with_its_line() -> None:
    wrong = "subscriptions:\n  - consumer: a\n    line: orders@1\n    class: vip\n    feilds: [a]\n"

    one = _only({}, {"readers.yaml": wrong})

    assert [(finding.place.line if finding.place else 0, finding.message) for finding in one.errors] == [
        (4, "unknown class 'vip'"),
        (5, "unknown key 'feilds'"),
    ]


def test_invalid_unchanged_file_is_reported_without_failing() -> None:
    wrong = "subscriptions:\n  - consumer: a\n    line: orders@1\n    class: vip\n"
    more = {**V1, "version": "1.1.0", "fields": [*V1["fields"], {**CITY, "name": "district"}]}

    review = reviewed({"orders.yaml": V1, "r.yaml": wrong}, {"orders.yaml": more, "r.yaml": wrong})

    assert [(one.path, len(one.warnings)) for one in review.contracts] == [("orders.yaml", 0), ("r.yaml", 1)]
    assert review.may_merge


def test_a_policy_in_the_repository_binds_its_children() -> None:
    weak = {**CHILD, "version": "1.1.0", "slaProperties": [{**LEVEL, "value": 2}]}

    one = _only({"policy.yaml": POLICY, "orders.yaml": CHILD}, {"policy.yaml": POLICY, "orders.yaml": weak})

    (finding,) = one.findings_of(Section.POLICY)
    assert finding.id == "sla_relaxed"
    assert "policy 1.0.0" in finding.message
    assert not one.may_merge


def test_a_waiver_sets_a_policy_aside_until_it_ends() -> None:
    plan = {"guide": "g", "window": "30 d", "owner": "checkout"}
    weak = {**CHILD, "version": "2.0.0", "slaProperties": [{**LEVEL, "value": 2}], "migration": plan}
    waiver = {"rule": "sla_relaxed", "contract": "orders", "owner": "o", "reason": "r"}
    files = {"policy.yaml": POLICY, "orders.yaml": CHILD}, {"policy.yaml": POLICY, "orders.yaml": weak}

    held = _only(*files, project=rules([{**waiver, "until": "2026-03-01"}]))
    ended = _only(*files, project=rules([{**waiver, "until": "2026-02-28"}]))

    assert held.may_merge
    assert [waived.finding.id for waived in held.waived] == ["sla_relaxed"]
    assert not ended.may_merge


def test_unknown_policy_is_reported() -> None:
    one = _only({}, {"orders.yaml": CHILD})

    assert [finding.id for finding in one.findings_of(Section.POLICY)] == ["policy_unknown"]
    assert one.may_merge


def test_a_stricter_policy_names_the_children_it_finds_in_breach() -> None:
    strict = {**POLICY, "version": "1.1.0", "slaProperties": [{**LEVEL, "value": 30, "unit": "min"}]}

    one = _only({"policy.yaml": POLICY, "orders.yaml": CHILD}, {"policy.yaml": strict, "orders.yaml": CHILD})

    (finding,) = one.findings_of(Section.POLICY)
    assert finding.id == "policy_breaks_child"
    assert finding.message.startswith("orders 1.0.0 would violate this policy: ")


def test_lint_findings_of_the_base_are_only_counted() -> None:
    bare = {"name": "status", "logicalType": "string", "description": "Whether the order was reviewed."}
    old = {"version": "1.0.0", "fields": [ID, bare]}
    new = {"version": "1.1.0", "fields": [ID, bare, {**bare, "name": "flag"}]}

    one = _only({"orders.yaml": old}, {"orders.yaml": new}, project=rules(lint={"name-bare": "error"}))

    assert [(finding.id, finding.path) for finding in one.errors] == [("name-bare", "flag")]
    assert one.older_lint > 0


def test_a_waiver_lets_a_foreign_schema_break() -> None:
    before = {"a.sql": "CREATE TABLE orders (id INT NOT NULL, city STRING)"}
    after = {"a.sql": "CREATE TABLE orders (id INT NOT NULL)"}
    waiver = {"rule": "field_removed", "path": "city", "owner": "o", "reason": "r", "until": "2026-12-31"}

    assert not _only(before, after).may_merge
    assert _only(before, after, project=rules([waiver])).may_merge


def test_findings_have_lines_of_the_branch() -> None:
    one = _only({"orders.yaml": V1}, {"orders.yaml": BROKEN})

    places = {finding.id: finding.place for finding in one.findings_of(Section.COMPATIBILITY)}
    assert {place.source for place in places.values() if place} == {"orders.yaml"}
    assert all(place and place.line for place in places.values())


@dataclass
class Desk:
    """A registry with fixed answers that records its calls."""

    says: RegistryAnswer = field(default_factory=RegistryAnswer)
    down: str | None = None
    name: str = "https://registry.example"
    asked: list[str] = field(default_factory=list)

    def judge(self, document: Document) -> RegistryAnswer:
        """Answer, or not."""
        return self._answer(document.contract.id)

    def removal(self, contract: Contract) -> RegistryAnswer:
        """Answer, or not."""
        return self._answer(contract.id)

    def outlook(self, declared: DeclaredSubscription) -> LineOutlook | None:
        """Know no line."""
        return None

    def _answer(self, name: str) -> RegistryAnswer:
        self.asked.append(name)
        if self.down:
            raise Unavailable(self.down)
        return self.says


def test_unreachable_registry_is_called_once_and_reported() -> None:
    gateway = Desk(down="no answer")
    files = {"a.yaml": {**V1, "id": "a"}, "b.yaml": {**V1, "id": "b"}}

    review = reviewed({}, files, registry=gateway)

    assert review.registry_failure == "no answer"
    assert gateway.asked == ["a"]
    assert review.may_merge


def test_findings_of_the_registry_are_included() -> None:
    taken = Finding("version_taken", Severity.ERROR, "taken")
    known = Finding("field_removed", Severity.ERROR, "said by both", "city")
    gateway = Desk(RegistryAnswer("1.1.0", False, "3.0.0", (taken, known)))

    one = _only({"orders.yaml": V1}, {"orders.yaml": BROKEN}, registry=gateway)

    assert [finding.id for finding in one.findings_of(Section.REGISTRY)] == ["version_taken"]
    assert one.required_version == "3.0.0"
    assert not one.version_is_enough


def test_a_consumer_known_to_repository_and_registry_is_named_once() -> None:
    known = Affected("ledger", "consumer", "hit", ("total",), (Step(None, "said"),), known_from="registry")
    gateway = Desk(RegistryAnswer("1.0.0", affected=(known,)))

    one = _only({"orders.yaml": V1, "r.yaml": READERS}, {"orders.yaml": BROKEN, "r.yaml": READERS}, registry=gateway)

    (ledger,) = [party for party in one.affected if party.name == "ledger"]
    assert ledger.known_from == "r.yaml:2, registry"
    assert ledger.contact == "#l"


@pytest.mark.parametrize(("says", "may_merge"), [(RegistryAnswer("1.0.0", True), True), (RegistryAnswer(), False)])
def test_a_contract_that_the_registry_retired_may_be_removed(says: RegistryAnswer, may_merge: bool) -> None:
    assert _only({"orders.yaml": V1}, {}, registry=Desk(says)).may_merge is may_merge


def test_the_same_branch_gives_the_same_review_in_any_order() -> None:
    before = {f"{name}.yaml": {**V1, "id": name} for name in "cab"}
    after = {f"{name}.yaml": {**BROKEN, "id": name} for name in "bca"}

    assert [one.path for one in reviewed(before, after).contracts] == ["a.yaml", "b.yaml", "c.yaml"]
