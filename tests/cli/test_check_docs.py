"""The page on pull requests names every option and format."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from tests.cli.conftest import Treaty
from treaty.cli.commands.check import State
from treaty.cli.render.review import CheckFormat
from treaty.consumers import subscription_files
from treaty.governance.branch_findings import BRANCH_FINDINGS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "pull-requests.md").read_text()


def test_every_format_state_objection_and_key_is_on_the_page() -> None:
    assert [one for one in (*CheckFormat, *State, *BRANCH_FINDINGS) if f"| `{one}` |" not in PAGE] == []
    assert [key for key in (*subscription_files.TEXTS, subscription_files.FIELDS) if f"`{key}`" not in PAGE] == []


def test_every_option_is_documented(treaty: Treaty) -> None:
    commands = (ROOT / "docs" / "commands.md").read_text()
    options = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", treaty("check", "--help").output, re.MULTILINE))

    assert len(options) > 10
    assert [one for one in options - {"--config", "--help"} if one not in PAGE + commands] == []


def test_every_input_output_and_hook_is_on_the_page() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())

    named = [*action["inputs"], *action["outputs"]]
    assert [one for one in named if f"`{one}`" not in PAGE] == []
    assert [one["id"] for one in hooks if f"id: {one['id']}" not in PAGE] == []
