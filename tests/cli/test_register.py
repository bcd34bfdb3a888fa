"""`treaty register`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty, Write
from tests.cli.order_contracts import CHILD, CITY, ID, POLICY, V1, V1_WITH_CITY, V1_WITHOUT_TOTAL, V2, WEAK_CHILD
from treaty.errors import Unavailable
from treaty.registry.model import Registration
from treaty.registry.service import Registry


def test_a_contract_is_registered_in_the_file_of_the_project(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    result = treaty("register", write("orders.yaml", V1))

    assert result.code == 0
    assert "✓  orders 1.0.0  registered" in result.output
    assert "1 document · 1 registered" in result.output
    assert (tmp_path / ".treaty" / "registry.db").exists()


def test_the_same_document_again_changes_nothing(treaty: Treaty, write: Write) -> None:
    file = write("orders.yaml", V1)
    treaty("register", file)

    result = treaty("register", file)

    assert result.code == 0
    assert "=  orders 1.0.0  already registered, unchanged" in result.output


def test_a_registered_version_does_not_change(treaty: Treaty, write: Write) -> None:
    treaty("register", write("orders.yaml", V1))

    result = treaty("register", write("other.yaml", {**V1_WITH_CITY, "version": "1.0.0"}))

    assert result.code == 3
    assert "version 1.0.0 is registered with different content and cannot be changed" in result.output


def test_policies_come_before_children_and_lower_versions_before_higher(treaty: Treaty, write: Write) -> None:
    write("all/a.yaml", {**CHILD, "version": "1.1.0", "fields": V1_WITH_CITY["fields"]})
    write("all/b.yaml", CHILD)
    write("all/c.yaml", {**POLICY, "id": "inner", "parent": "policy", "tier": "domain"})
    write("all/d.yaml", POLICY)

    items = json.loads(treaty("register", "all", "--format", "json").output)["items"]

    assert [(one["dataset_id"], one["version"], one["status"]) for one in items] == [
        ("policy", "1.0.0", "registered"),
        ("inner", "1.0.0", "registered"),
        ("orders", "1.0.0", "registered"),
        ("orders", "1.1.0", "registered"),
    ]


def test_circular_policies_are_reported(treaty: Treaty, write: Write) -> None:
    write("all/a.yaml", {**POLICY, "id": "a", "parent": "b"})
    write("all/b.yaml", {**POLICY, "id": "b", "parent": "a"})

    assert treaty("register", "all").code == 3


@pytest.fixture
def subscribed(treaty: Treaty, write: Write) -> None:
    """Orders with three consumers: one reads the total, one does not, one never said."""
    treaty("register", write("orders.yaml", V1))
    common = ("orders@1", "--class", "operational_reporting")
    treaty("consumer", "subscribe", "ledger", *common, "--field", "total", "--contact", "#ledger")
    treaty("consumer", "subscribe", "counter", *common, "--field", "order_id")
    treaty("consumer", "subscribe", "notebook", *common, "--contact", "#notebook")


@pytest.mark.usefixtures("subscribed")
def test_a_refused_version_names_whom_it_would_hit_and_how_to_go_on(treaty: Treaty, write: Write) -> None:
    result = treaty("register", write("next.yaml", V1_WITHOUT_TOTAL))

    assert result.code == 3
    assert "✗  orders 1.1.0  refused" in result.output
    assert "✗  field 'total' was removed; old data will fail validation\n     field_removed" in result.output
    assert "✗  ledger  operational_reporting · #ledger\n     reads total" in result.output
    assert "!  notebook  operational_reporting · #notebook\n     may read total" in result.output
    assert "Safe: these read none of the changed fields (1)\n    counter" in result.output
    for step in (
        "set version: 2.0.0",
        "add a migration: block",
        "talk to the affected consumers: #ledger, #notebook",
        "treaty explain field_removed",
    ):
        assert step in result.output


@pytest.mark.usefixtures("subscribed")
def test_a_refused_version_is_data_too(treaty: Treaty, write: Write) -> None:
    result = treaty("register", "--format", "json", write("next.yaml", V1_WITHOUT_TOTAL))

    (item,) = json.loads(result.output)["items"]
    assert result.code == 3
    assert (item["status"], item["required_version"]) == ("refused", "2.0.0")
    assert item["compatibility"]["compatible"] is False
    assert {one["name"]: one["effect"] for one in item["impact"]["affected"]} == {
        "ledger": "hit",
        "notebook": "unknown",
        "counter": "safe",
    }


@pytest.mark.usefixtures("subscribed")
def test_the_same_change_with_a_plan_opens_a_line(treaty: Treaty, write: Write) -> None:
    assert treaty("register", write("next.yaml", V2)).code == 0
    assert "@2" in treaty("show", "orders").output


@pytest.mark.parametrize(("version", "suggested"), [("3.0.0", False), ("2.1.0", True)])
def test_migration_plan_is_required_for_each_new_line(
    treaty: Treaty, write: Write, version: str, suggested: bool
) -> None:
    treaty("register", write("orders.yaml", V1))
    treaty("register", write("two.yaml", {**V2, "fields": [ID, CITY]}))

    output = treaty("register", write("three.yaml", {**V2, "version": version})).output

    assert ("orders@3 repeats the migration plan of orders@2" in output) is (version == "3.0.0")
    assert "the migration: block is the one of the previous line; write a new one" in output
    assert "add a migration: block" not in output
    assert ("set version: 3.0.0" in output) is suggested


def test_a_registered_version_is_not_suggested_again(treaty: Treaty, write: Write) -> None:
    treaty("register", write("policy.yaml", POLICY))
    treaty("register", write("orders.yaml", CHILD))
    stricter = {**POLICY, "version": "1.1.0", "slaProperties": [{"property": "freshness", "value": 5, "unit": "min"}]}
    treaty("register", write("stricter.yaml", stricter))

    result = treaty("register", write("next.yaml", {**CHILD, "version": "1.1.0"}))

    assert result.code == 3
    assert "set version" not in result.output
    assert "Next  see why, and what to do instead: treaty explain sla_relaxed" in result.output


def test_a_version_above_the_required_one_is_not_lowered(treaty: Treaty, write: Write) -> None:
    treaty("register", write("policy.yaml", POLICY))
    treaty("register", write("orders.yaml", {**V1, "slaProperties": WEAK_CHILD["slaProperties"]}))

    result = treaty("register", write("next.yaml", {**WEAK_CHILD, "version": "1.1.0", "description": {"purpose": "x"}}))

    assert result.code == 3
    assert "set version" not in result.output
    assert "Next" in result.output


def test_one_refused_document_does_not_keep_the_others_out(treaty: Treaty, write: Write) -> None:
    treaty("register", write("orders.yaml", V1))
    write("all/bad.yaml", V1_WITHOUT_TOTAL)
    write("all/broken.yaml", "kind: DataContract\nschema: [\n")
    write("all/good.yaml", {**V1, "id": "returns"})

    result = treaty("register", "all")

    assert result.code == 3
    assert "✓  returns 1.0.0  registered" in result.output
    assert "all/broken.yaml  invalid" in result.output
    assert "3 documents · 1 registered · 1 refused · 1 invalid" in result.output


def test_a_term_weaker_than_its_policy_is_refused(treaty: Treaty, write: Write) -> None:
    treaty("register", write("policy.yaml", POLICY))

    result = treaty("register", write("orders.yaml", WEAK_CHILD))

    assert result.code == 3
    assert "policy" in result.output


def test_a_dry_run_registers_nothing(treaty: Treaty, write: Write) -> None:
    treaty("register", write("orders.yaml", V1))

    fine = treaty("register", "--dry-run", write("next.yaml", V1_WITH_CITY))
    refused = treaty("register", "--dry-run", write("bad.yaml", V1_WITHOUT_TOTAL))

    assert (fine.code, refused.code) == (0, 3)
    assert "orders 1.1.0  would register" in fine.output
    assert "Why orders 1.1.0 is refused" in refused.output
    assert "1.1.0" not in treaty("version", "history", "orders").output


def test_a_dry_run_tells_what_would_only_be_proposed(treaty: Treaty, write: Write) -> None:
    treaty("register", write("orders.yaml", V1))
    treaty("consumer", "subscribe", "ledger", "orders@1", "--class", "external_regulatory", "--field", "total")

    result = treaty("register", "--dry-run", write("next.yaml", V2))

    assert result.code == 0
    assert "…  orders 2.0.0  would propose" in result.output
    assert "it waits for acknowledgement by ledger" in result.output


def test_a_dry_run_knows_what_it_cannot_judge_yet(treaty: Treaty, write: Write) -> None:
    treaty("register", write("other.yaml", {**V1, "id": "other"}))
    write("all/policy.yaml", POLICY)
    write("all/orders.yaml", CHILD)

    result = treaty("register", "--dry-run", "all")

    assert result.code == 0
    assert "it can be judged when policy is registered" in result.output


def test_the_mode_is_asked_for(treaty: Treaty, write: Write) -> None:
    treaty("register", write("orders.yaml", V1))

    file = write("next.yaml", V1_WITHOUT_TOTAL)
    results = [treaty("register", "--mode", "none", *more, file) for more in (("--dry-run",), ())]

    assert [result.code for result in results] == [0, 0]
    for result in results:
        assert "in another mode, these changes require 2.0.0 with a migration plan" in result.output


def test_a_breaking_change_waits_where_approvals_are_required(treaty: Treaty, write: Write) -> None:
    write("treaty.yaml", "approvals: required\n")
    treaty("register", write("orders.yaml", V1))

    result = treaty("register", write("next.yaml", V2))

    assert result.code == 0
    assert "orders 2.0.0  proposed" in result.output
    assert "treaty proposal approve " in result.output


def test_documents_registered_before_an_outage_are_listed(
    treaty: Treaty, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("all/a.yaml", V1)
    write("all/b.yaml", {**V1, "id": "returns"})
    register = Registry.register

    def break_down(self: Registry, document: bytes, *, compatibility: str | None = None) -> Registration:
        if b"returns" in document:
            raise Unavailable("the database is gone")
        return register(self, document, compatibility=compatibility)

    monkeypatch.setattr(Registry, "register", break_down)

    result = treaty("register", "all")

    assert result.code == 1
    assert "✓  orders 1.0.0  registered" in result.output
    assert result.errors == "error: the database is gone\n"


def test_a_folder_without_contracts_says_so(treaty: Treaty, write: Write) -> None:
    write("empty/other.yaml", "a: 1\n")

    result = treaty("register", "empty")

    assert result.code == 1
    assert "no contracts found in empty" in result.errors


SUBSCRIPTIONS = {
    "subscriptions": [
        {
            "consumer": "ledger",
            "line": "orders@1",
            "class": "external_regulatory",
            "fields": ["total"],
            "team": "books",
        },
        {"consumer": "notebook", "line": "orders@1", "class": "exploratory_analytics"},
    ]
}


def write_subscriptions(folder: Path, *entries: dict[str, object]) -> str:
    file = folder / "consumers.json"
    file.write_text(json.dumps({"subscriptions": list(entries) or SUBSCRIPTIONS["subscriptions"]}))
    return str(file)


def test_subscriptions_of_a_file_are_registered_after_the_contracts(
    treaty: Treaty, write: Write, tmp_path: Path
) -> None:
    write("all/orders.yaml", V1)
    (tmp_path / "all" / "consumers.json").write_text(json.dumps(SUBSCRIPTIONS))

    result = treaty("register", "all")

    assert result.code == 0
    assert "✓  orders 1.0.0  registered" in result.output
    assert "✓  ledger → orders@1  subscribed" in result.output
    assert "3 documents · 1 registered · 2 subscribed" in result.output
    listed = json.loads(treaty("consumer", "list", "--consumer", "ledger", "--format", "json").output)["items"]
    assert [(one["team"], one["fields"], one["consumer_class"]) for one in listed] == [
        ("books", ["total"], "external_regulatory")
    ]


def test_the_same_subscriptions_again_change_nothing(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    treaty("register", write("orders.yaml", V1))
    file = write_subscriptions(tmp_path)
    treaty("register", file)

    result = treaty("register", file)

    assert "=  ledger → orders@1  already registered, unchanged" in result.output
    assert "2 documents · 2 unchanged" in result.output


def test_dry_run_subscribes_no_consumer(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    treaty("register", write("orders.yaml", V1))

    result = treaty("register", write_subscriptions(tmp_path), "--dry-run")

    assert "✓  ledger → orders@1  would subscribe" in result.output
    assert "no subscriptions" in treaty("consumer", "list").output


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"consumer": "a", "line": "nowhere@1", "class": "exploratory_analytics"}, "nowhere@1"),
        (
            {"consumer": "a", "line": "orders@1", "class": "exploratory_analytics", "fields": ["nope"]},
            "no field 'nope'",
        ),
        ({"consumer": "a", "line": "orders@1", "class": "vip"}, "unknown class 'vip'"),
    ],
)
def test_wrong_subscription_is_refused_and_the_others_are_registered(
    treaty: Treaty, write: Write, tmp_path: Path, entry: dict[str, object], message: str
) -> None:
    write("all/orders.yaml", V1)
    (tmp_path / "all" / "a.json").write_text(json.dumps({"subscriptions": [entry]}))
    (tmp_path / "all" / "b.json").write_text(json.dumps(SUBSCRIPTIONS))

    result = treaty("register", "all")

    assert (result.code, message in result.output, "✓  ledger → orders@1  subscribed" in result.output) == (
        3,
        True,
        True,
    )


@pytest.mark.parametrize("command", [("register",), ("lint",)], ids=str)
def test_a_contract_with_hostile_sql_is_refused(treaty: Treaty, write: Write, command: tuple[str, ...]) -> None:
    rule = {"id": "jar", "type": "sql", "query": "ADD JAR 'x.jar'", "mustBe": 0}
    document = {"version": "1.0.0", "fields": [{**ID, "quality": [rule]}]}

    result = treaty(*command, write("orders.yaml", document))

    assert result.code == 3
    assert "the SQL of rule 'jar' is no query" in " ".join(result.output.split())
