"""`treaty init`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Treaty
from treaty.cli.drafts import DraftedContract


def test_a_new_project_lints_clean_and_can_be_planned(treaty: Treaty) -> None:
    result = treaty("init", "shop")

    assert result.code == 0
    assert "wrote shop/treaty.yaml" in result.output
    assert "Next, in shop:\n  treaty plan" in result.output
    assert treaty("lint", "--strict", "shop", "--config", "shop/treaty.yaml").code == 0
    plan = treaty("plan", "shop", "--offline")
    assert (plan.code, plan.output.splitlines()[0]) == (0, "shop: 4 steps · no problems")


def test_the_sample_has_fifty_rows_and_three_violate_the_contract(treaty: Treaty, tmp_path: Path) -> None:
    treaty("init")

    header, *rows = (tmp_path / "landing/orders-2026-01.csv").read_text().splitlines()
    assert header == "order_id,placed_at,country,gross_total"
    assert len(rows) == 50
    assert [row for row in rows if row.startswith(",") or "yesterday" in row or ",-" in row] == [
        ",2026-01-05T10:15:00Z,DE,18.40",
        "o-1024,yesterday,FR,52.00",
        "o-1037,2026-01-13T08:45:00Z,NL,-12.50",
    ]


def test_the_readme_lists_five_commands_in_two_columns(treaty: Treaty, tmp_path: Path) -> None:
    treaty("init")

    lines = [line for line in (tmp_path / "README.md").read_text().splitlines() if line.startswith("    treaty ")]
    assert lines == [
        "    treaty lint contracts           check whether the contract is understandable",
        "    treaty plan                     see what a run would do",
        "    treaty run                      read the data, check it, publish it",
        "    treaty read orders@1            see what consumers read",
        "    treaty quarantine show orders   see the rows that violate the contract, and why",
    ]


def test_nothing_is_overwritten(treaty: Treaty, tmp_path: Path) -> None:
    (tmp_path / "treaty.yaml").write_text("name: mine\n")
    (tmp_path / "README.md").write_text("mine\n")

    result = treaty("init")

    assert result.code == 1
    assert "treaty.yaml already exists; nothing was written" in result.errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "treaty.yaml"]


def test_a_readme_of_your_own_stays(treaty: Treaty, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine\n")

    assert treaty("init").code == 0
    assert (tmp_path / "README.md").read_text() == "mine\n"


def test_a_folder_with_an_odd_name_becomes_a_valid_project(treaty: Treaty) -> None:
    assert treaty("init", "a: {b} 'c'").code == 0
    assert treaty("lint", "a: {b} 'c'", "--config", "a: {b} 'c'/treaty.yaml").code == 0


def test_file_is_refused_as_project_folder(treaty: Treaty, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")

    result = treaty("init", "notes.txt")

    assert result.code == 1
    assert result.errors == "error: notes.txt is a file; give a folder\n"


def test_a_draft_without_a_key_says_what_to_do_before_the_first_run(
    treaty: Treaty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = DraftedContract("sales", "id: sales\n", "sales@0", has_key=False)
    monkeypatch.setattr("treaty.cli.drafts.draft_from_data", lambda *_: draft)
    (tmp_path / "sales.csv").write_text("day;total\n1;2\n")

    result = treaty("init", "--from", "sales.csv")

    assert "no key was found; mark its fields in contracts/sales.yaml with primaryKey: true\n" in result.output
    assert 'separator: ";"' in (tmp_path / "sources" / "sales.yaml").read_text()


def test_data_that_does_not_exist_is_named_before_spark_starts(treaty: Treaty, tmp_path: Path) -> None:
    result = treaty("init", "shop", "--from", "sales.csv")

    assert (result.code, result.errors) == (1, "error: there is no file sales.csv; check the path\n")
    assert not (tmp_path / "shop").exists()
