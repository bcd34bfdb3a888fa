"""`treaty check` with a registry, and `treaty register --changed` after the merge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Treaty
from tests.cli.git_repositories import Repository, made
from tests.cli.pull_request_repository import REFUSED, V1, V1_ONE_MORE, V2
from tests.documents import document
from treaty.consumers.subscriptions import ConsumerClass
from treaty.legacy.consumer_guess import ClassGuess
from treaty.legacy.scanned_reads import ScannedRead
from treaty.registry.service import Registry

ORDERS = "contracts/orders.yaml"
CLOSE = ClassGuess(ConsumerClass.EXTERNAL_REGULATORY, 0.8, "its name contains 'close'")
LEDGER = ("shop.orders@1", "--class", "operational_reporting", "--field", "gross_total", "--contact", "#ledger")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository with orders, on a branch of its own."""
    monkeypatch.delenv("GITHUB_BASE_REF", raising=False)
    repository = made(tmp_path / "shop", {ORDERS: V1, ".gitignore": ".treaty/\n"})
    repository.branch("change")
    return repository


@pytest.fixture
def here(treaty: Treaty, shop: Repository, monkeypatch: pytest.MonkeyPatch) -> Treaty:
    """Run commands in the repository, whose contract is registered."""
    monkeypatch.chdir(shop.folder)
    assert treaty("register", ORDERS).code == 0
    assert treaty("consumer", "subscribe", "ledger", *LEDGER).code == 0
    return treaty


def _checked(treaty: Treaty, *arguments: str) -> Any:
    (one,) = json.loads(treaty("check", "--format", "json", *arguments).output)["contracts"]
    return one


def test_consumers_of_the_registry_are_named_by_field(here: Treaty, shop: Repository) -> None:
    shop.commit({ORDERS: REFUSED})

    one = _checked(here)

    assert [(party["name"], party["effect"], party["fields"]) for party in one["affected"]] == [
        ("ledger", "hit", ["gross_total"])
    ]
    assert one["affected"][0]["steps"] == [
        {"field": "gross_total", "action": "expect decimal(12,2) instead of decimal(18,4)"}
    ]
    assert one["registry"] == []  # it says what the base says too


def test_offline_calls_no_registry(here: Treaty, shop: Repository) -> None:
    shop.commit({ORDERS: REFUSED})

    one = _checked(here, "--offline")

    assert (one["affected"], one["registered"]) == ([], None)


def test_concurrently_registered_version_is_reported(here: Treaty, shop: Repository) -> None:
    shop.commit({ORDERS: V1_ONE_MORE})
    other = {**V1_ONE_MORE, "name": "Orders"}
    shop.write({"elsewhere/orders.yaml": other})
    assert here("register", "elsewhere/orders.yaml").code == 0
    (shop.folder / "elsewhere/orders.yaml").unlink()

    result = here("check")

    assert result.code == 3
    assert "version 1.5.0 is registered with different content" in result.output
    assert here("check", "--fix").errors == f"fixed {ORDERS}: version 1.5.1\n"
    assert here("check").code == 0


def test_a_policy_that_only_the_registry_has_binds(here: Treaty, shop: Repository, tmp_path: Path) -> None:
    policy = {
        **V1,
        "id": "policy",
        "tier": "enterprise",
        "fields": [],
        "slaProperties": [{"property": "freshness", "value": 1, "unit": "min"}],
    }
    Repository(tmp_path).write({"policy.yaml": policy})
    assert here("register", str(tmp_path / "policy.yaml")).code == 0
    shop.commit({ORDERS: {**V1, "version": "1.4.1", "parent": "policy"}})

    one = _checked(here)

    assert not one["may_merge"]
    assert [finding["id"] for finding in one["registry"]] == ["sla_relaxed"]


@pytest.mark.parametrize(("setting", "code"), [("warn", 0), ("fail", 1)])
def test_unreachable_registry_is_reported_as_configured(
    here: Treaty, shop: Repository, monkeypatch: pytest.MonkeyPatch, setting: str, code: int
) -> None:
    shop.commit({ORDERS: V1_ONE_MORE})
    monkeypatch.setenv("TREATY_CHECK_ON_REGISTRY_DOWN", setting)

    result = here("check", "--registry", "http://127.0.0.1:9")

    assert result.code == code
    assert "the registry did not answer, so only the repository was checked" in result.output
    assert "✓ shop.orders  1.4.0 → 1.5.0" in result.output


def test_a_line_that_the_registry_retired_may_be_removed(here: Treaty, shop: Repository) -> None:
    shop.commit({ORDERS: None})
    refused = _checked(here)

    here("version", "archive", "shop.orders", "1.4.0", "--override", "nobody reads it")
    assert here("consumer", "unsubscribe", "ledger", "shop.orders@1").code == 0

    assert not refused["may_merge"]
    assert [party["name"] for party in refused["affected"]] == ["ledger"]
    assert _checked(here)["may_merge"]


def test_what_a_merge_changed_is_registered_once(here: Treaty, shop: Repository) -> None:
    shop.commit({ORDERS: V2, "products/stock/datacontract.yaml": {**V1, "id": "shop.stock"}, "notes.yaml": "a: 1\n"})

    first = here("register", "--changed")
    again = here("register", "--changed")

    assert first.code == 0
    assert "✓  shop.orders 2.0.0  registered\n   notified: ledger" in first.output
    assert "2 documents · 2 registered" in first.output
    assert again.code == 0
    assert "2 documents · 2 unchanged" in again.output


def test_a_break_that_waits_for_its_consumers_is_proposed_once(here: Treaty, shop: Repository) -> None:
    critical = ("--class", "external_regulatory", "--field", "gross_total")
    assert here("consumer", "subscribe", "tax", "shop.orders@1", *critical).code == 0
    shop.commit({ORDERS: V2})

    first, again = here("register", "--changed"), here("register", "--changed")

    assert first.code == 0
    assert "shop.orders 2.0.0  proposed" in first.output
    assert again.output == first.output


def test_a_merge_that_changed_no_contract_registers_nothing(here: Treaty, shop: Repository) -> None:
    shop.commit({"a.txt": "a"})

    result = here("register", "--changed")

    assert (result.code, result.output) == (0, "no contract changed since HEAD^1; nothing to register\n")
    assert json.loads(here("register", "--changed", "--format", "json").output) == {"items": [], "next": None}


def test_other_content_under_a_registered_version_is_an_error(here: Treaty, shop: Repository) -> None:
    shop.commit({ORDERS: {**V1_ONE_MORE, "version": "1.4.0"}})

    result = here("register", "--changed")

    assert result.code == 3
    assert "version 1.4.0 is registered with different content and cannot be changed" in result.output


def test_all_since_a_commit_is_registered_upstreams_first(here: Treaty, shop: Repository) -> None:
    made_from = {**V1, "id": "a.sales", "version": "1.0.0", "lineage": [{"contract": "z.stock@1"}]}
    shop.commit({"a.yaml": made_from, "gone.yaml": {**V1, "id": "gone"}})
    shop.commit({"z.yaml": {**V1, "id": "z.stock"}, "gone.yaml": None})

    items = json.loads(here("register", "--changed", "--base", "main", "--format", "json").output)["items"]

    assert [one["dataset_id"] for one in items] == ["z.stock", "a.sales"]


def test_removed_contracts_are_reported(here: Treaty, shop: Repository) -> None:
    shop.commit({ORDERS: None})

    result = here("register", "--changed")

    assert result.code == 0
    assert result.errors.startswith(f"{ORDERS} was removed; its versions stay registered until: treaty version retire")


def test_the_first_push_registers_everything(here: Treaty, shop: Repository) -> None:
    assert "1 document · 1 unchanged" in here("register", "--changed", "--base", "0" * 40).output


def test_a_shallow_clone_says_what_to_do_and_can_do_it_itself(
    here: Treaty, shop: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.commit({ORDERS: V1_ONE_MORE})
    before = shop.git("rev-parse", "main")
    clone = shop.clone(tmp_path / "clone", "--depth=1")
    monkeypatch.chdir(clone.folder)

    told = here("register", "--changed", "--base", before)
    fetched = here("register", "--changed", "--base", before, "--fetch", "--registry", str(tmp_path / "r.db"))
    second = shop.clone(tmp_path / "second", "--depth=1")
    monkeypatch.chdir(second.folder)
    deepened = here("register", "--changed", "--fetch", "--registry", str(tmp_path / "r.db"))

    assert told.code == 1
    assert "the clone is shallow" in told.errors
    assert "1 document · 1 registered" in fetched.output
    assert "1 document · 1 unchanged" in deepened.output


@pytest.mark.parametrize("arguments", [("--changed", ORDERS), (), ("--base", "main", ORDERS), ("--fetch", ORDERS)])
def test_what_does_not_go_together_is_refused(here: Treaty, arguments: tuple[str, ...]) -> None:
    assert here("register", *arguments).code == 2


def test_fields_of_a_wide_event_that_no_consumer_reads_are_reported(here: Treaty, shop: Repository) -> None:
    parts = [
        {"name": f"part_{number}", "logicalType": "string", "description": "One of many parts."}
        for number in range(1, 22)
    ]
    wide = {
        **V1,
        "version": "1.5.0",
        "event": {"type": "OrderPlaced", "meaning": "The order was accepted."},
        "fields": [*V1["fields"], *parts],
    }
    shop.commit({ORDERS: wide})

    messages = [finding["message"] for finding in _checked(here)["lint"]]
    offline = [finding["message"] for finding in _checked(here, "--offline")["lint"]]

    assert any("no consumer reads" in message and "gross_total" not in message for message in messages)
    assert not any("no consumer reads" in message for message in offline)


def _ending(announced: str, sunset: str) -> dict[str, Any]:
    notice = {"announced": announced, "sunset_date": sunset, "replacement": "shop.sales"}
    return {**V1, "status": "deprecated", "deprecation": notice}


def test_the_same_version_with_a_deprecation_may_merge_and_names_who_must_migrate(
    here: Treaty, shop: Repository
) -> None:
    shop.commit({ORDERS: _ending("2099-01-03", "2099-03-03")})

    one = _checked(here)
    comment = here("check", "--format", "markdown").output

    assert (one["may_merge"], one["required_version"]) == (True, "1.4.0")
    assert [(finding["id"], finding["severity"]) for finding in one["registry"]] == [("lifecycle_step", "info")]
    (party,) = one["affected"]
    assert (party["name"], party["effect"]) == ("ledger", "warned")
    assert party["steps"][0]["action"] == (
        "shop.orders@1 will be deprecated on 2099-01-03; sunset on 2099-03-03. Migrate to: shop.sales"
    )
    assert "| `shop.orders` | 1.4.0 | compatible under backward | **ledger** (to migrate) |" in comment
    assert "**Consumers to migrate**\n\n- **ledger**" in comment
    assert "1.4.0 stays: only its status or deprecation changes" in here("check").output
    assert _checked(here, "--offline")["may_merge"]


def test_a_sunset_too_soon_may_not_merge(here: Treaty, shop: Repository) -> None:
    shop.commit({ORDERS: _ending("2099-01-03", "2099-01-20")})

    one = _checked(here)

    assert not one["may_merge"]
    assert [(finding["id"], finding["message"]) for finding in one["registry"] if finding["severity"] == "error"] == [
        ("sunset_too_soon", "the sunset 2099-01-20 is less than 30 days after 2099-01-03; use 2099-02-02 or later")
    ]


def test_more_than_the_status_needs_a_new_version(here: Treaty, shop: Repository) -> None:
    shop.commit({ORDERS: {**_ending("2099-01-03", "2099-03-03"), "name": "Orders"}})

    result = here("check")

    assert result.code == 3
    assert "version 1.4.0 is registered with different content" in " ".join(result.output.split())


def test_an_id_in_a_namespace_of_another_team_is_an_error(here: Treaty, shop: Repository) -> None:
    assert here("admin", "namespace", "assign", "pay.", "payments").code == 0
    cards = {**V1, "id": "pay.cards"}
    ours = {**cards, "id": "pay.limits", "owners": [{"team": "payments", "contact": "#payments"}]}
    shop.commit({"cards.yaml": cards, "limits.yaml": ours})

    result = here("check", "--format", "json")
    cards_review, limits_review = json.loads(result.output)["contracts"]

    assert result.code == 3
    assert cards_review["registry"] == [
        {
            "id": "namespace_of_other_team",
            "severity": "error",
            "message": "the namespace 'pay.' belongs to team payments, which does not own the contract; choose an id "
            "outside the namespace, or ask a steward: treaty admin namespace assign pay. checkout",
            "path": None,
            "hint": None,
            "source": "cards.yaml",
            "line": 3,
        }
    ]
    assert limits_review["may_merge"]


def test_an_id_that_looks_like_a_registered_one_is_an_error(here: Treaty, shop: Repository) -> None:
    shop.commit({"copy.yaml": {**V1, "id": "shop.Orders"}})

    result = here("check")

    assert result.code == 3
    assert "the id 'shop.Orders' looks like 'shop.orders', which is registered" in result.output
    assert "contract (treaty show shop.orders), or choose another id" in " ".join(result.output.split())
    assert here("check", "--offline").code == 0


def test_critical_consumers_that_read_directly_are_named(here: Treaty, shop: Repository) -> None:
    found = ScannedRead("close", "shop.orders", frozenset({"id"}), "sql", CLOSE)
    with Registry.open(str(shop.folder / ".treaty" / "registry.db")) as registry:
        registry.consumers.record_lineage("shop.orders@1", None, layer="product")
        registry.dependency_map.record_scan("jobs", [found])
    shop.commit({ORDERS: V1_ONE_MORE})

    one = _checked(here)

    message = "close is external_regulatory, and reads shop.orders@1 directly (scanned), which is a product"
    assert [(finding["id"], finding["severity"], finding["message"]) for finding in one["registry"]] == [
        ("consumer_reads_directly", "warning", message)
    ]


@pytest.mark.parametrize(
    ("start", "is_waived", "code", "severity"),
    [("2020-01-01", False, 3, "error"), ("2020-01-01", True, 0, "warning"), ("2999-01-01", False, 0, "warning")],
)
def test_a_direct_read_that_a_policy_forbids_by_now_is_an_error(
    here: Treaty, shop: Repository, start: str, is_waived: bool, code: int, severity: str
) -> None:
    rule = {"name": "edge", "for": "consumer", "from": start, "where": {"layer": "product"}}
    rule |= {"must": {"layer": "publication"}, "message": "critical consumers read publications"}
    base = {"id": "base", "version": "1.0.0", "tier": "enterprise", "require": [rule]}
    waiver = {"owner": "tax", "reason": "a tax code is missing", "until": "2999-12-31"}
    found = ScannedRead("close", "shop.orders", frozenset({"id"}), "sql", CLOSE)
    with Registry.open(str(shop.folder / ".treaty" / "registry.db")) as registry:
        registry.register(document(base))
        registry.register(document({**V1, "version": "1.4.1", "parent": "base"}))
        registry.consumers.record_lineage("shop.orders@1", None, layer="product")
        registry.dependency_map.record_scan("jobs", [found])
        if is_waived:
            registry.governance.waive("consumer_violates_policy", contract="shop.orders", path="close", **waiver)
    shop.commit({ORDERS: {**V1_ONE_MORE, "parent": "base"}})

    result = here("check", "--format", "json")
    (one,) = json.loads(result.output)["contracts"]

    reads = [finding for finding in one["registry"] if finding["id"] == "consumer_reads_directly"]
    assert (result.code, [finding["severity"] for finding in reads]) == (code, [severity])
    if severity == "error":
        assert "critical consumers read publications: close reads a product directly" in reads[0]["message"]
        assert "a waiver of consumer_violates_policy with the path close" in reads[0]["hint"]
