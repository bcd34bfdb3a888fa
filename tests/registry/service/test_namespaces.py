"""Namespaces belong to teams, and new ids do not look like registered ones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.registry.backends import START, AnyRegistry, Backend
from tests.registry.offers import ORDERS, orders
from treaty.errors import Conflict, InvalidDocument, NotAllowed, NotFound, TreatyError

PAYMENTS, RISK = "payments", "risk"


def contract(name: str, team: str = PAYMENTS, version: str = "1.0.0", **more: Any) -> dict[str, Any]:
    return orders(version, id=name, owners=[{"team": team}], **more)


@pytest.fixture
def pay(backend: Backend, registry: AnyRegistry) -> Backend:
    """A registry in which `pay.` belongs to payments, and `pay.fraud_` to risk."""
    registry.governance.assign_namespace("pay.", "payments")
    registry.governance.assign_namespace("pay.fraud_", "risk")
    return backend


def test_only_the_team_of_a_namespace_and_stewards_register_in_it(pay: Backend) -> None:
    with pytest.raises(NotAllowed) as refused:
        pay.acting_as("rita", "owner", "risk").register(contract("pay.cards", RISK))
    pay.acting_as("paul", "contributor", "payments").register(contract("pay.cards"))
    pay.acting_as("stella", "steward").register(contract("pay.refunds", RISK))

    assert (
        "rita may not register 'pay.cards': the namespace 'pay.' belongs to team payments; "
        "ask a member of payments to register it, choose an id outside the namespace, "
        "or ask a steward for a namespace of your own: treaty admin namespace assign"
    ) in str(refused.value)
    assert pay.local.datasets().items == ["pay.cards", "pay.refunds"]


def test_the_longest_prefix_wins(pay: Backend) -> None:
    pay.acting_as("rita", "contributor", "risk").register(contract("pay.fraud_scores", RISK))

    with pytest.raises(NotAllowed, match=r"'pay\.fraud_' belongs to team risk"):
        pay.acting_as("paul", "owner", "payments").register(contract("pay.fraud_rules"))


@pytest.mark.parametrize("name", ["Pay.cards", "ｐａｙ.cards", "PAY．cards", "\u0440\u0430\u0443.cards"])
def test_a_lookalike_of_a_namespace_belongs_to_its_team(pay: Backend, name: str) -> None:
    with pytest.raises(NotAllowed, match=r"'pay\.' belongs to team payments"):
        pay.acting_as("rita", "owner", "risk").register(contract(name, RISK))


@pytest.mark.parametrize("name", ["payroll", "orders", "repay.cards", "pay"])
def test_other_ids_are_free(pay: Backend, name: str) -> None:
    assert pay.acting_as("rita", "contributor", "risk").register(contract(name, RISK)).status == "registered"


def test_contracts_of_other_teams_stay_with_them(backend: Backend, registry: AnyRegistry) -> None:
    risk = backend.acting_as("rita", "owner", "risk")
    risk.register(contract("pay.fraud", RISK))
    risk.register(contract("pay.limits", RISK))
    registry.register(contract("pay.cards"))
    registry.governance.assign_namespace("pay.limits.", "risk")

    answer = registry.governance.assign_namespace("pay.", "payments")

    assert answer.model_dump() == {
        "prefix": "pay.",
        "team": "payments",
        "assigned_at": START,
        "assigned_by": "local",
        "other_contracts": ["pay.fraud", "pay.limits"],
        "more": 0,
    }
    risk.register(contract("pay.fraud", RISK, "1.0.1", description={"purpose": "scores"}))
    with pytest.raises(NotAllowed, match=r"'pay\.' belongs to team payments"):
        risk.register(contract("pay.fraud", "sales", "1.0.2"))
    risk.register(contract("pay.fraud", PAYMENTS, "1.0.2"))


def test_policies_in_a_namespace_need_a_steward(pay: Backend) -> None:
    policy = contract("pay.policy", tier="domain")

    with pytest.raises(NotAllowed, match="paul may not govern"):
        pay.acting_as("paul", "owner", "payments").register(policy)
    pay.acting_as("stella", "steward").register(policy)

    assert [one.id for one in pay.local.governance.policies().items] == ["pay.policy"]


def test_a_released_namespace_is_free(pay: Backend, registry: AnyRegistry) -> None:
    registry.governance.release_namespace("pay.")

    pay.acting_as("rita", "contributor", "risk").register(contract("pay.cards", RISK))

    assert [(one.prefix, one.team) for one in registry.governance.namespaces().items] == [("pay.fraud_", "risk")]
    with pytest.raises(NotFound, match=r"the namespace 'pay\.' belongs to no team"):
        registry.governance.release_namespace("pay.")


def test_changes_of_namespaces_are_audited_and_covered(pay: Backend, registry: AnyRegistry) -> None:
    registry.governance.assign_namespace("pay.", "payments")  # nothing new
    registry.governance.assign_namespace("pay.", "treasury")
    registry.governance.release_namespace("pay.")
    registry.governance.assign_namespace("pay.", "payments")

    entries = [(one.action, one.subject, one.details["team"]) for one in registry.access.audit().items]
    assert entries == [
        ("namespace.assign", "pay.", "payments"),
        ("namespace.assign", "pay.fraud_", "risk"),
        ("namespace.assign", "pay.", "treasury"),
        ("namespace.release", "pay.", "treasury"),
        ("namespace.assign", "pay.", "payments"),
    ]
    assert registry.access.verify_audit().whole
    pay.tamper("namespaces", "UPDATE namespaces SET team = 'rivals' WHERE prefix = 'pay.'")
    (difference,) = registry.access.verify_audit().differences
    assert difference.subject == "namespace pay."


@pytest.mark.parametrize("role", ["viewer", "contributor", "owner"])
def test_only_stewards_manage_namespaces(pay: Backend, role: str) -> None:
    rival = pay.acting_as("rita", role, None if role == "viewer" else "risk")

    with pytest.raises(NotAllowed):
        rival.governance.assign_namespace("pay.", "risk")
    with pytest.raises(NotAllowed):
        rival.governance.release_namespace("pay.")

    assert [one.team for one in rival.governance.namespaces().items] == ["payments", "risk"]


@pytest.mark.parametrize("prefix", ["pay", ".", "", " pay."])
def test_a_namespace_ends_with_a_separator(registry: AnyRegistry, prefix: str) -> None:
    with pytest.raises(InvalidDocument):
        registry.governance.assign_namespace(prefix, "payments")


def test_a_lookalike_of_a_namespace_cannot_be_assigned(pay: Backend, registry: AnyRegistry) -> None:
    with pytest.raises(Conflict, match=r"'Pay\.' looks like 'pay\.', which belongs to team payments"):
        registry.governance.assign_namespace("Pay.", "risk")


def test_namespaces_come_in_pages(registry: AnyRegistry) -> None:
    for number in range(3):
        registry.governance.assign_namespace(f"a{number}.", "payments")

    first = registry.governance.namespaces(limit=2)
    rest = registry.governance.namespaces(limit=2, cursor=first.next)

    assert [one.prefix for one in (*first.items, *rest.items)] == ["a0.", "a1.", "a2."]
    assert rest.next is None


@pytest.mark.parametrize("name", ["Orders", "ORDERS", "ｏｒｄｅｒｓ", "οrdεrs".replace("ο", "o").replace("ε", "𝖾")])
def test_a_lookalike_of_a_contract_is_refused(registry: AnyRegistry, name: str) -> None:
    registry.register(orders())

    with pytest.raises(Conflict, match=f"the id '{name}' looks like 'orders', which is registered"):
        registry.register(orders(id=name))
    decision = registry.consumers.can_i_publish(orders(id=name))

    assert (decision.answer, decision.reasons[0].kind) == (False, "id_refused")
    assert registry.datasets().items == [ORDERS]


def test_versions_of_a_contract_are_not_lookalikes_of_it(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(orders(id="orders2"))

    assert registry.register(orders("1.0.1", description={"purpose": "said better"})).status == "registered"


def test_an_id_that_mixes_scripts_is_refused(registry: AnyRegistry) -> None:
    with pytest.raises(InvalidDocument, match="mixes Cyrillic and Latin letters in 'p\u0430y'"):
        registry.register(orders(id="p\u0430y.cards"))

    assert registry.datasets().items == []


def test_a_private_contract_is_not_named(registry: AnyRegistry) -> None:
    registry.register(orders(visibility="private"))

    with pytest.raises(Conflict, match="looks like that of a private contract"):
        registry.register(orders(id="Orders"))


def test_of_concurrent_lookalikes_one_gets_in(backend: Backend) -> None:
    names = ["orders", "Orders", "ORDERS", "oRDERS", "ｏｒｄｅｒｓ", "ordERS", "order_s", "order-s", "Order_S"]
    people = [backend.acting_as(f"writer {number}", "steward") for number, _ in enumerate(names)]

    def attempt(number: int) -> bool:
        try:
            people[number].register(orders(id=names[number]))
        except TreatyError:
            return False
        return True

    with ThreadPoolExecutor(len(names)) as pool:
        results = list(pool.map(attempt, range(len(names))))

    assert (sum(results[:6]), sum(results[6:])) == (1, 1)
    assert len(backend.local.datasets().items) == 2
