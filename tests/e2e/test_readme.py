"""What the README shows is what happens."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.console_blocks import steps_of

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
TREATY = str(Path(sys.executable).with_name("treaty"))
PLAIN = {"NO_COLOR": "1", "PATH": os.environ["PATH"], "HOME": "/nonexistent"}

USERS = """\
dataset_id: users.daily_active
version: {version}
status: active
owners: [{{team: growth, contact: "#growth"}}]
fields:
  - {{name: user_id, type: string}}
{ltv}"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose main branch has the users contract, and whose work tree drops `ltv`."""
    contract = tmp_path / "contracts" / "users.yaml"
    contract.parent.mkdir()
    contract.write_text(USERS.format(version="1.0.0", ltv="  - {name: ltv, type: number, required: false}\n"))
    for command in (
        ["init", "--quiet", "--initial-branch", "main"],
        ["add", "."],
        ["-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "first"],
    ):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    contract.write_text(USERS.format(version="1.1.0", ltv=""))
    return tmp_path


def test_commands_print_what_the_readme_shows(repository: Path) -> None:
    steps = [step for step in steps_of(README) if step.command.startswith("treaty ")]
    assert len(steps) == 4

    for step in steps:
        ran = subprocess.run(
            [TREATY, *shlex.split(step.command.removeprefix("treaty "))],
            cwd=repository,
            env=PLAIN,
            capture_output=True,
            text=True,
            check=False,
        )

        assert ran.returncode == (3 if step.command.startswith("treaty diff ") else 0), ran.stderr
        assert not step.shown or step.shown == ran.stdout


def test_make_help_lists_the_commands_of_the_readme() -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    for target in re.findall(r"^\$ make ([a-z]+)", README, re.MULTILINE):
        assert f"make {target}" in listed


def test_the_readme_fits_on_two_screens() -> None:
    assert len(README.splitlines()) <= 90


def test_every_relative_link_in_the_documents_exists() -> None:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
    broken = [
        f"{document.name}: {target}"
        for document in documents
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", document.read_text())
        if "://" not in target and not (document.parent / target).exists()
    ]

    assert broken == []
