"""Inputs of commands: files, folders, pipes and devices; wrong ones give one clear error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty, Write

TREATY = str(Path(sys.executable).with_name("treaty"))


def test_named_pipe_is_refused_unread(treaty: Treaty, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.yaml")

    result = treaty("lint", "fifo.yaml")

    assert result.code == 1
    assert "fifo.yaml is not a regular file; use - to read from a pipe" in result.errors


def test_a_device_is_refused_unread(treaty: Treaty) -> None:
    assert "/dev/zero is not a regular file" in treaty("lint", "/dev/zero").errors


@pytest.mark.parametrize(
    ("path", "said"),
    [("a" * 5_000, "File name too long"), ("", "the path is empty"), ("nothing.yaml", "no file nothing.yaml")],
)
def test_invalid_path_gives_one_clear_error(treaty: Treaty, path: str, said: str) -> None:
    result = treaty("lint", path)

    assert result.code == 1
    assert said in result.errors


@pytest.mark.parametrize(
    "command",
    [
        ("lint", "next.yaml"),
        ("diff", "next.yaml", "next.yaml"),
        ("convert", "next.yaml", "--to", "avro"),
        ("migrate", "plan", "next.yaml", "next.yaml"),
        ("test", "next.yaml", "orders.csv"),
        ("register", "next.yaml"),
        ("can-i-publish", "next.yaml"),
        ("consumer", "impact", "next.yaml"),
        ("policy", "check", "next.yaml"),
    ],
    ids=" ".join,
)
def test_an_invalid_document_has_one_exit_code_in_every_command(
    treaty: Treaty, write: Write, command: tuple[str, ...]
) -> None:
    write("next.yaml", "kind: DataContract\nschema: [\n")
    write("orders.csv", "order_id\n1\n")

    result = treaty(*command)

    assert result.code == 3
    assert "not valid YAML" in result.output + result.errors


def test_an_invalid_project_file_is_a_failure(treaty: Treaty, write: Write) -> None:
    write("treaty.yaml", "compatibility: [\n")

    result = treaty("lint", write("orders.yaml", {"fields": []}))

    assert result.code == 1
    assert "treaty.yaml:2: not valid YAML" in result.errors


def test_file_over_the_limit_is_refused_unread(treaty: Treaty, tmp_path: Path) -> None:
    with (tmp_path / "big.yaml").open("wb") as file:
        file.truncate(5_000_000_000)

    result = treaty("lint", "big.yaml")

    assert result.code == 3
    assert "at most 2,000,000 are read" in result.output


def test_folder_with_a_symlink_loop_is_read_once(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    write("a/orders.yaml", {"fields": []})
    (tmp_path / "a" / "loop").symlink_to(tmp_path / "a")

    assert "1 contract" in treaty("lint", "a").output


def test_unwritable_output_gives_one_clear_error() -> None:
    with Path("/dev/full").open("w") as full:
        held_back = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        ran = subprocess.run(
            [TREATY, "explain", "kinds"], stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=held_back
        )

    assert ran.returncode == 1
    assert ran.stderr == "error: cannot write the output: No space left on device\n"


def test_folder_is_refused_where_a_contract_is_expected(treaty: Treaty, tmp_path: Path) -> None:
    (tmp_path / "contracts").mkdir()

    result = treaty("migrate", "plan", "contracts", "contracts")

    assert result.code == 1
    assert result.errors == "error: contracts is a folder; give a contract file\n"


def test_check_outside_of_a_repository_says_what_to_do(treaty: Treaty, tmp_path: Path) -> None:
    result = treaty("check")

    assert result.code == 1
    assert "is not in a git repository; run the command in one, or compare two files with: treaty diff OLD NEW" in (
        result.errors
    )
