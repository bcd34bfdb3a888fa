"""`treaty check`: the findings of a branch compared with its base."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Treaty
from tests.cli.git_repositories import Repository, made
from tests.cli.pull_request_repository import CONSUMERS, FILES, REFUSED, V1, V1_ONE_MORE, V2
from treaty.cli.commands import check
from treaty.cli.git import changed_files
from treaty.cli.render.review import CheckFormat


@pytest.fixture(scope="module")
def _first(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = made(tmp_path_factory.mktemp("first") / "shop", FILES)
    repository.branch("change")
    return repository


@pytest.fixture
def shop(_first: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository with orders and two consumers, on a branch of its own."""
    for name in ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_DIFF_BASE_SHA", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"):
        monkeypatch.delenv(name, raising=False)
    return _first.copy(tmp_path / "shop")


def _data(treaty: Treaty, *arguments: str) -> Any:
    return json.loads(treaty("check", "--format", "json", *arguments).output)


@pytest.fixture
def here(treaty: Treaty, shop: Repository, monkeypatch: pytest.MonkeyPatch) -> Treaty:
    """Run commands in the repository."""
    monkeypatch.chdir(shop.folder)
    return treaty


def test_a_break_is_refused_with_both_consumers_named_by_field(here: Treaty, shop: Repository) -> None:
    shop.commit({"contracts/orders.yaml": REFUSED})

    result = here("check")

    assert result.code == 3
    for said in (
        "✗ shop.orders  1.4.0 → 1.5.0  contracts/orders.yaml",
        "these changes require 2.0.0 (MAJOR); 1.5.0 is declared",
        "delivery-planner  service_orchestration · critical · #planning\n            reads delivery_city",
        "group-ledger  external_regulatory · critical · #ledger\n            reads gross_total",
        "talk to the affected consumers: #ledger, #planning",
        "1 contract · 1 changed · 2 consumers affected · 1 may not merge  compared with main",
    ):
        assert said in result.output


def test_with_version_plan_and_declared_rename_it_passes(here: Treaty, shop: Repository) -> None:
    shop.commit({"contracts/orders.yaml": V2})

    result = here("check")

    assert result.code == 0
    assert "may merge: not compatible under backward; accepted as a new line with a migration plan" in result.output
    assert "→ delivery_city: read ship_to_city instead of delivery_city" in result.output
    assert "→ gross_total: expect decimal(12,2) instead of decimal(18,4)" in result.output


def test_branch_without_contract_changes_has_no_findings(here: Treaty, shop: Repository) -> None:
    shop.commit({"README.md": "words"})

    result = here("check")

    assert result.code == 0
    assert result.output.startswith("no contract changed  compared with main")


def test_what_main_did_meanwhile_is_not_the_branch_s(here: Treaty, shop: Repository) -> None:
    shop.commit({"contracts/orders.yaml": V1_ONE_MORE})
    shop.git("checkout", "--quiet", "main")
    shop.commit({"contracts/other.yaml": {**V1, "id": "shop.other"}})
    shop.git("checkout", "--quiet", "change")

    data = _data(here)

    assert [one["contract"] for one in data["contracts"]] == ["shop.orders"]
    assert data["may_merge"] is True


@pytest.mark.parametrize(
    ("state", "seen"), [("working", ["disk", "new"]), ("staged", ["staged"]), ("committed", ["committed"])]
)
def test_the_state_says_which_files_are_looked_at(here: Treaty, shop: Repository, state: str, seen: list[str]) -> None:
    def named(name: str) -> dict[str, Any]:
        return {**V1, "name": name, "version": "1.4.1"}

    shop.write({".gitignore": "ignored.yaml\n"})
    shop.commit({"contracts/orders.yaml": named("committed")})
    shop.write({"contracts/orders.yaml": named("staged")})
    shop.git("add", "--all")
    shop.write(
        {"contracts/orders.yaml": named("disk"), "new.yaml": {**V1, "id": "b", "name": "new"}, "ignored.yaml": V1}
    )

    contracts = _data(here, "--state", state)["contracts"]

    after = [change["after"] for one in contracts for change in one["changes"] if change["path"] == "name"]
    assert after + [one["contract"].replace("b", "new") for one in contracts if one["state"] == "added"] == seen


def test_odd_names_of_files_and_folders_do_no_harm(here: Treaty, shop: Repository) -> None:
    names = ['a "b"\n::error::x.yaml', "-x.yaml", "ü/ .yaml", "$(touch pwned).yaml", ":(top)x.yaml"]
    shop.commit({name: {**V1, "id": f"n{place}"} for place, name in enumerate(names)})

    data = _data(here)

    assert sorted(one["path"] for one in data["contracts"]) == sorted(names)
    assert not (shop.folder / "pwned").exists()
    assert "\n::error::x" not in here("check", "--format", "github").output.replace("\n::error file=", "")


@pytest.mark.parametrize("form", CheckFormat)
def test_a_name_that_is_no_unicode_is_spelt_out(here: Treaty, shop: Repository, form: str) -> None:
    with open(os.fsencode(shop.folder) + b"/\xff.yaml", "wb") as file:  # noqa: PTH123 - paths are texts
        text = (shop.folder / "contracts/orders.yaml").read_bytes().replace(b"shop.orders", b"shop.other")
        file.write(text.replace(b"1.4.0", b"v1"))

    result = here("check", "--format", form)

    assert result.code == 3
    assert "\\udcff.yaml" in result.output or "%FF.yaml" in result.output


def test_links_are_not_followed(here: Treaty, shop: Repository, tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("apiVersion: v3.2.0\nkind: DataContract\nid: secret\n")
    (shop.folder / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    shop.commit({})
    (shop.folder / "new.yaml").symlink_to(tmp_path / "secret.yaml")

    assert _data(here)["contracts"] == []


def test_settings_of_a_repository_run_no_programs(here: Treaty, shop: Repository) -> None:
    shop.commit({"contracts/orders.yaml": V1_ONE_MORE, ".gitattributes": "*.yaml diff=evil filter=evil\n"})
    for name in ("core.fsmonitor", "diff.external", "diff.evil.command", "diff.evil.textconv", "core.pager"):
        shop.git("config", name, f"touch {shop.folder}/pwned #")

    assert here("check").code == 0
    assert not (shop.folder / "pwned").exists()


def test_only_some_paths_are_looked_at_and_others_ignored(here: Treaty, shop: Repository) -> None:
    shop.commit({f"{name}/orders.yaml": {**V1, "id": name} for name in ("a", "b", "tests")})
    shop.write({"treaty.yaml": "check: {ignore: ['tests/*']}\n"})

    assert [one["contract"] for one in _data(here)["contracts"]] == ["a", "b"]
    assert [one["contract"] for one in _data(here, "a", "tests")["contracts"]] == ["a"]
    assert here("check", "..").code == 1


def test_a_policy_and_readers_that_the_branch_leaves_alone_are_found(here: Treaty, shop: Repository) -> None:
    level = {"property": "freshness", "value": 1, "unit": "h"}
    policy = {"id": "shop.policy", "tier": "enterprise", "slaProperties": [level]}
    shop.git("checkout", "--quiet", "main")
    shop.commit(
        {
            "policy.json": json.dumps(
                {"apiVersion": "v3.2.0", "kind": "DataContract", "version": "1.0.0", "status": "active", **policy}
            )
        }
    )
    shop.branch("second")
    weak = {**V1, "version": "1.4.1", "parent": "shop.policy", "slaProperties": [{**level, "value": 3}]}
    shop.commit({"contracts/orders.yaml": weak})

    for state in ("working", "staged", "committed"):
        (one,) = _data(here, "--state", state)["contracts"]
        assert [finding["id"] for finding in one["policy"]] == ["sla_relaxed"], state


def test_a_waiver_holds_until_its_day(here: Treaty, shop: Repository) -> None:
    shop.git("checkout", "--quiet", "main")
    shop.commit({"a.sql": "CREATE TABLE a (id INT NOT NULL, city STRING)"})
    shop.branch("second")
    shop.commit({"a.sql": "CREATE TABLE a (id INT NOT NULL)"})
    waiver = "waivers: [{rule: field_removed, owner: shop, reason: unused, until: '2026-06-30'}]\n"
    shop.write({"treaty.yaml": waiver})

    assert here("check", "--now", "2026-06-30").code == 0
    assert here("check", "--now", "2026-07-01").code == 3


def test_a_waiver_of_the_project_excuses_a_kind_of_change(here: Treaty, shop: Repository) -> None:
    text = (shop.folder / "contracts/orders.yaml").read_text()
    narrowed = text.replace("decimal(18,4)", "decimal(12,2)").replace("version: 1.4.0", "version: 1.5.0")
    shop.commit({"contracts/orders.yaml": narrowed})
    waiver = "waivers: [{rule: field_type_changed, path: gross_total, owner: shop, reason: r, until: '2026-06-30'}]\n"
    refused = here("check", "--now", "2026-06-30")
    shop.write({"treaty.yaml": waiver})

    waived, ended = here("check", "--now", "2026-06-30"), here("check", "--now", "2026-07-01")
    shop.write({"treaty.yaml": waiver.replace("gross_total", "order_id")})
    elsewhere = here("check", "--now", "2026-06-30")

    assert [result.code for result in (refused, waived, ended, elsewhere)] == [3, 0, 3, 3]
    assert "waived by shop until 2026-06-30" in waived.output


def test_fixing_writes_the_version_and_the_changelog(here: Treaty, shop: Repository) -> None:
    text = (shop.folder / "contracts/orders.yaml").read_text()
    broken = text.replace("decimal(18,4)", "decimal(12,2)").replace("version: 1.4.0", "version: 1.4.0 # was it")
    shop.commit({"contracts/orders.yaml": broken})

    result = here("check", "--fix")

    assert result.errors == "fixed contracts/orders.yaml: version 2.0.0\n"
    assert result.code == 3  # a plan is for people to write
    fixed = (shop.folder / "contracts/orders.yaml").read_text()
    assert fixed.startswith(broken.replace("version: 1.4.0 #", "version: 2.0.0 #"))
    assert "changelog:\n  - version: 2.0.0\n    changes:\n    - 'field ''gross_total'' type changed" in fixed
    assert here("check", "--fix").errors == ""


def test_fixing_says_what_it_leaves_alone(here: Treaty, shop: Repository) -> None:
    text = (shop.folder / "contracts/orders.yaml").read_text().replace("version: 1.4.0", "version: &v 1.4.0")
    shop.commit({"contracts/orders.yaml": text.replace("What the customer typed in.", "What the customer gave.")})

    result = here("check", "--fix")

    assert "contracts/orders.yaml: not changed: its version is an alias" in result.errors
    assert result.code == 3


def test_fixing_needs_files_to_write(here: Treaty) -> None:
    assert here("check", "--fix", "--state", "staged").code == 2


def test_every_format_can_be_saved_from_one_run(here: Treaty, shop: Repository, tmp_path: Path) -> None:
    shop.commit({"contracts/orders.yaml": REFUSED})
    wanted = [part for one in CheckFormat for part in ("--save", f"{one}={tmp_path / one}")]

    here("check", *wanted)

    for one in CheckFormat:
        assert (tmp_path / one).read_text() == here("check", "--format", one).output
    assert here("check", "--save", "pdf=x").code == 2


def test_the_states_of_the_command_are_those_of_the_check() -> None:
    assert [str(one) for one in check.State] == [str(one) for one in changed_files.State]


def test_a_subscription_in_the_branch_counts(here: Treaty, shop: Repository) -> None:
    only = {"subscriptions": CONSUMERS["subscriptions"][:1]}
    shop.commit({"contracts/orders.yaml": REFUSED, "consumers/shop.yaml": only})

    (one,) = _data(here)["contracts"]

    assert [party["name"] for party in one["affected"]] == ["group-ledger"]
