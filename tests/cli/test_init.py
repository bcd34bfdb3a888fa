"""`treaty init`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Treaty


def test_a_new_project_lints_clean(treaty: Treaty) -> None:
    result = treaty("init", "shop")

    assert result.code == 0
    assert "wrote shop/treaty.yaml" in result.output
    assert treaty("lint", "--strict", "shop", "--config", "shop/treaty.yaml").code == 0


def test_nothing_is_overwritten(treaty: Treaty, tmp_path: Path) -> None:
    (tmp_path / "treaty.yaml").write_text("name: mine\n")

    result = treaty("init")

    assert result.code == 1
    assert "treaty.yaml already exists; nothing was written" in result.errors
    assert not (tmp_path / "contracts").exists()


def test_a_folder_with_an_odd_name_becomes_a_valid_project(treaty: Treaty) -> None:
    assert treaty("init", "a: {b} 'c'").code == 0
    assert treaty("lint", "a: {b} 'c'", "--config", "a: {b} 'c'/treaty.yaml").code == 0


def test_file_is_refused_as_project_folder(treaty: Treaty, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")

    result = treaty("init", "notes.txt")

    assert result.code == 1
    assert result.errors == "error: notes.txt is a file; give a folder\n"
