"""`treaty check` in the repository of a consumer: what is coming for what it reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Result, Treaty
from tests.cli.git_repositories import Repository, made
from tests.cli.pull_request_repository import V1, V1_ONE_MORE, V2
from tests.review.branch_builder import content
from treaty.consumers.subscriptions import ConsumerClass
from treaty.legacy.consumer_guess import ClassGuess
from treaty.legacy.scanned_reads import ScannedRead
from treaty.registry.service import Registry

FILE = "consumers.yaml"
DASHBOARD: dict[str, Any] = {
    "consumer": "sales-dashboard",
    "line": "shop.orders@1",
    "class": "operational_reporting",
    "fields": ["order_id", "gross_total"],
}
NOTICE = ("--replacement", "shop.orders@2", "--sunset", "2030-06-30", "--plan", "https://example.com/guides/orders-2")


@pytest.fixture
def producer(treaty: Treaty, tmp_path: Path) -> str:
    """A registry with one version of the orders; the name of its file."""
    (tmp_path / "producer").mkdir()
    _register(treaty, tmp_path, V1)
    return str(tmp_path / "registry.db")


@pytest.fixture
def repository(treaty: Treaty, producer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """The repository of a consumer, on a branch that changes nothing."""
    monkeypatch.delenv("GITHUB_BASE_REF", raising=False)
    made_here = made(tmp_path / "dashboard", {FILE: {"subscriptions": [DASHBOARD]}})
    made_here.branch("change")
    monkeypatch.chdir(made_here.folder)
    monkeypatch.setenv("TREATY_REGISTRY", producer)
    return made_here


def _register(treaty: Treaty, folder: Path, case: Any) -> None:
    file = folder / "producer" / "orders.yaml"
    file.write_bytes(content(case))
    result = treaty("register", str(file), "--registry", str(folder / "registry.db"))
    assert result.code == 0, result.output + result.errors


def _coming(treaty: Treaty, *arguments: str) -> tuple[int, Any]:
    result = treaty("check", "--format", "json", *arguments)
    review = json.loads(result.output)
    assert review["contracts"] == []
    (subscription,) = review["subscriptions"]
    return result.code, subscription


def _unwrapped(result: Result) -> str:
    return " ".join(result.output.split())


def _found(subscription: Any) -> list[tuple[str, str, str]]:
    return [(one["id"], one["severity"], one["message"]) for one in subscription["findings"]]


def test_a_consumer_without_changes_upstream_has_nothing_to_do(treaty: Treaty, repository: Repository) -> None:
    assert treaty("register", FILE).code == 0

    result = treaty("check")

    assert result.code == 0
    assert "✓ nothing is coming for sales-dashboard → shop.orders@1" in result.output
    assert "no contract changed · 1 subscription, none to act on" in result.output
    assert json.loads(treaty("check", "--offline", "--format", "json").output)["subscriptions"] == []


def test_deprecation_sunset_and_retirement_are_announced_with_their_dates(
    treaty: Treaty, repository: Repository, tmp_path: Path
) -> None:
    assert treaty("register", FILE).code == 0
    _register(treaty, tmp_path, V2)
    assert treaty("version", "deprecate", "shop.orders@1", *NOTICE).code == 0

    code, now = _coming(treaty)
    _, later = _coming(treaty, "--now", "2030-07-01")
    _, elsewhere = _coming(treaty, "--now", "2030-07-01", FILE)

    assert code == 0
    assert _found(now)[0] == (
        "consumer_line_ending",
        "warning",
        "shop.orders@1 is deprecated; sunset on 2030-06-30, retirement from 2030-07-07. Migrate to: shop.orders@2. "
        "See https://example.com/guides/orders-2",
    )
    assert (now["status"], now["sunset_on"], now["retire_on"]) == ("deprecated", "2030-06-30", "2030-07-07")
    assert (now["replacement"], now["newer_lines"]) == (
        "shop.orders@2",
        [{"line": "shop.orders@2", "version": "2.0.0"}],
    )
    assert next(one["message"] for one in later["findings"]) == (
        "shop.orders@1 is sunset since 2030-06-30; retirement from 2030-07-07. "
        "Immediate migration required to: shop.orders@2. See https://example.com/guides/orders-2"
    )
    assert elsewhere == later
    newer = next(one for one in now["findings"] if one["id"] == "consumer_newer_line")
    assert newer["message"] == "shop.orders@2 (2.0.0) is available"
    assert newer["hint"] == "gross_total: expect decimal(12,2) instead of decimal(18,4)"
    migration = next(one for one in now["findings"] if one["id"] == "consumer_migration_open")
    assert migration["message"].startswith("migration 4 from shop.orders@1 to shop.orders@2 is open until ")
    assert migration["hint"] == "once sales-dashboard reads shop.orders@2: treaty migrate move 4 sales-dashboard"


def test_a_retired_line_and_a_new_consumer_of_a_sunset_line_may_not_merge(
    treaty: Treaty, repository: Repository, tmp_path: Path
) -> None:
    _register(treaty, tmp_path, V2)
    assert treaty("version", "deprecate", "shop.orders@1", *NOTICE).code == 0

    new_code, new = _coming(treaty, "--now", "2030-07-01")
    assert treaty("version", "archive", "shop.orders", "1.4.0", "--override", "moved").code == 0
    gone_code, gone = _coming(treaty)

    assert (new_code, gone_code) == (3, 3)
    assert (new["registered"], new["findings"][0]["severity"], new["findings"][0]["hint"]) == (
        False,
        "error",
        "it takes no new consumers",
    )
    assert _found(gone)[0][:2] == ("consumer_line_ending", "error")
    assert _found(gone)[0][2].startswith("shop.orders@1 is archived")


def test_a_breaking_proposal_names_what_to_acknowledge(treaty: Treaty, repository: Repository, tmp_path: Path) -> None:
    critical = {**DASHBOARD, "class": "decision_automation"}
    repository.commit({FILE: {"subscriptions": [critical]}})
    assert treaty("register", FILE).code == 0
    _register(treaty, tmp_path, V2)

    code, coming = _coming(treaty)
    comment = treaty("check", "--format", "markdown").output

    assert code == 0
    assert [(one["version"], one["state"], one["effect"]) for one in coming["planned"]] == [
        ("2.0.0", "proposed", "hit")
    ]
    (proposed,) = [one for one in coming["findings"] if one["id"] == "consumer_change_proposed"]
    assert proposed["message"] == "shop.orders 2.0.0 is proposed and breaks sales-dashboard"
    assert proposed["hint"].startswith("agree to it: treaty migrate acknowledge ")
    assert "**What is coming for the consumers of this repository**" in comment
    assert "- ⚠️ **sales-dashboard** → `shop.orders@1` (1.4.0 · active · reads gross\\_total, order\\_id)" in comment
    assert "nothing to say" not in comment


@pytest.mark.parametrize(
    ("entry", "code", "expected"),
    [
        ({"line": "shop.orders@7"}, 3, [("consumer_line_unknown", "error", "the registry has no line shop.orders@7")]),
        ({"fields": ["nope"]}, 3, [("consumer_field_unknown", "error", "shop.orders@1 has no field 'nope'")]),
        (
            {"latency": "5 min"},
            0,
            [("consumer_latency_unmet", "warning", "sales-dashboard needs 5 min, and shop.orders@1 promises 30 min")],
        ),
        (
            {"version": "1.4.0"},
            0,
            [
                (
                    "consumer_newer_version",
                    "info",
                    "shop.orders 1.5.0 is newer than 1.4.0, which sales-dashboard reads",
                )
            ],
        ),
        (
            {"version": "1.3.0"},
            0,
            [("consumer_newer_version", "warning", "shop.orders 1.3.0 is not registered")],
        ),
    ],
)
def test_what_a_subscription_states_is_compared_with_the_line(
    treaty: Treaty, repository: Repository, tmp_path: Path, entry: dict[str, Any], code: int, expected: Any
) -> None:
    _register(treaty, tmp_path, V1_ONE_MORE)
    repository.commit({FILE: {"subscriptions": [{**DASHBOARD, **entry}]}})

    found, subscription = _coming(treaty)

    assert (found, _found(subscription)) == (code, expected)


def test_needs_that_are_not_met_are_refused_by_setting(
    treaty: Treaty, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({FILE: {"subscriptions": [{**DASHBOARD, "latency": "5 min"}]}})
    monkeypatch.setenv("TREATY_CONSUMERS_UNSUITABLE", "refuse")

    result = treaty("check", "--format", "github")

    assert result.code == 3
    assert result.output.startswith("::error file=consumers.yaml,line=2,title=consumer_latency_unmet")
    for form in ("gitlab", "sarif", "junit"):
        assert "sales-dashboard needs 5 min" in treaty("check", "--format", form).output


def test_purpose_and_policy_are_compared_with_what_a_subscription_states(
    treaty: Treaty, repository: Repository, tmp_path: Path
) -> None:
    rule = {"name": "stated", "for": "consumer", "must": {"contact": True}, "message": "consumers can be reached"}
    policy = {"id": "company", "tier": "enterprise", "version": "1.0.0", "fields": [], "require": [rule]}
    intended = [{"name": "ledger", "class": "operational_reporting", "purpose": "Book the sales"}]
    _register(treaty, tmp_path, policy)
    _register(treaty, tmp_path, {**V1_ONE_MORE, "parent": "company", "intended_consumers": intended})
    repository.commit({FILE: {"subscriptions": [{**DASHBOARD, "purpose": "Show totals"}]}})

    code, coming = _coming(treaty)
    would, registered = treaty("register", FILE, "--dry-run"), treaty("register", FILE)

    assert (code, would.code, registered.code) == (3, 3, 3)
    assert _found(coming) == [
        (
            "consumer_violates_policy",
            "error",
            "consumers can be reached: sales-dashboard states no contact (from company 1.0.0)",
        ),
        (
            "consumer_purpose_not_intended",
            "warning",
            "shop.orders@1 is not intended for the purpose 'Show totals': it is for Book the sales",
        ),
    ]
    repository.commit({FILE: {"subscriptions": [{**DASHBOARD, "purpose": "Book the sales", "contact": "#sales"}]}})
    assert _coming(treaty)[1]["findings"] == []
    assert treaty("register", FILE).code == 0


def test_a_server_answers_as_its_database_does(treaty: Treaty, repository: Repository, served: str) -> None:
    file = repository.folder.parent / "producer" / "orders.yaml"
    assert treaty("register", str(file), "--registry", served).code == 0
    assert treaty("register", FILE, "--registry", served).code == 0
    assert treaty("version", "deprecate", "shop.orders@1", *NOTICE, "--registry", served).code == 0

    code, coming = _coming(treaty, "--registry", served)

    assert (code, coming["status"], coming["sunset_on"]) == (0, "deprecated", "2030-06-30")
    assert [one["id"] for one in coming["findings"]] == ["consumer_line_ending"]


def test_a_critical_consumer_of_a_product_is_warned_or_refused_by_setting(
    treaty: Treaty, repository: Repository, producer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    critical = {**DASHBOARD, "consumer": "group-ledger", "class": "external_regulatory"}
    repository.commit({FILE: {"subscriptions": [critical]}})
    with Registry.open(producer) as registry:
        registry.consumers.record_lineage("shop.orders@1", None, layer="product")
    message = "group-ledger is external_regulatory, and reads shop.orders@1 directly, which is a product"
    warned = "consumer_reads_directly", "warning", message

    code, coming = _coming(treaty)
    would = treaty("register", FILE, "--dry-run")
    monkeypatch.setenv("TREATY_CONSUMERS_DIRECT_READS", "refuse")
    codes = [treaty("check").code, treaty("register", FILE, "--dry-run").code]
    refused = treaty("register", FILE)
    monkeypatch.setenv("TREATY_CONSUMERS_DIRECT_READS", "allow")
    allowed = _coming(treaty)[1]["findings"]
    monkeypatch.delenv("TREATY_CONSUMERS_DIRECT_READS")
    subscribed = treaty("register", FILE)
    (tmp_path / "next.yaml").write_bytes(content(V1_ONE_MORE))
    decision = json.loads(treaty("can-i-publish", str(tmp_path / "next.yaml"), "--format", "json").output)

    assert (code, coming["layer"], _found(coming), allowed) == (0, "product", [warned], [])
    assert (would.code, "would subscribe" in would.output, message in _unwrapped(would)) == (0, True, True)
    assert (*codes, refused.code) == (3, 3, 3)
    assert f"{message}; read a reconciliation or publication" in _unwrapped(refused)
    assert (subscribed.code, message in _unwrapped(subscribed)) == (0, True)
    assert (decision["answer"], [(one["kind"], one["severity"]) for one in decision["reasons"]]) == (
        True,
        [("consumer_reads_directly", "warning")],
    )


@pytest.mark.parametrize("is_waived", [False, True])
def test_a_consumer_is_warned_of_its_hidden_dependencies(
    treaty: Treaty, repository: Repository, producer: str, is_waived: bool
) -> None:
    guess = ClassGuess(ConsumerClass.OPERATIONAL_REPORTING, 0.8, "a dashboard")
    found = ScannedRead(
        "sales-dashboard", "shop.orders", frozenset({"margin"}), "sql", guess, places=("jobs/sales.sql:3",)
    )
    with Registry.open(producer) as registry:
        registry.dependency_map.record_scan("jobs", [found])
    if is_waived:
        waiver = {"rule": "consumer_hidden_dependency", "contract": "shop.orders", "path": "sales-dashboard"}
        waiver |= {"owner": "sales", "reason": "it ends with the old report", "until": "2999-12-31"}
        (repository.folder / "treaty.yaml").write_text(json.dumps({"waivers": [waiver]}), encoding="utf-8")
    assert treaty("register", FILE).code == 0

    code, coming = _coming(treaty)

    message = "sales-dashboard reads margin, which is not in the contract (scanned, jobs/sales.sql:3)"
    expected = [] if is_waived else [("consumer_hidden_dependency", "warning", message)]
    assert (code, _found(coming)) == (0, expected)
