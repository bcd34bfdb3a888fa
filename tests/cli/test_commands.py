"""All commands: help, completion, shared options, `treaty explain` and their documentation."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from tests.cli.conftest import Treaty
from treaty.cli.app import COMMANDS, load_command
from treaty.cli.commands import channels, check, consumer, exceptions, migrate, proposal, show
from treaty.cli.exit_codes import MEANINGS
from treaty.cli.git.changed_files import State as GitState
from treaty.compatibility import KINDS
from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts.schemas import block_descriptions, field_key_names
from treaty.governance.lint import RULES
from treaty.pipeline.layers.reconciliation.reconciliation_tables import State
from treaty.pipeline.project.declarations import ReasonClass
from treaty.registry.model import ProposalAnswer
from treaty.registry.notices.channels import ChannelKind
from treaty.registry.store.migration_records import MigrationState
from treaty.server.content_negotiation import DocumentFormat
from treaty.settings import DOCUMENTED, ENVIRONMENT

ROOT = Path(__file__).parents[2]
REGISTRY_COMMANDS = {"register", "search", "show", "can-i-publish", "can-i-retire", "version", "consumer", "proposal"}
REGISTRY_COMMANDS |= {"waiver", "policy", "catalog", "admin"}


def _leaves(path: str, command: Any) -> Iterator[str]:
    """Yield every command that does something, such as `admin token create`."""
    if not hasattr(command, "commands"):
        yield path
        return
    if command.invoke_without_command:
        yield path
    for name, below in command.commands.items():
        yield from _leaves(f"{path} {name}", below)


def _groups(path: str, command: Any) -> Iterator[tuple[str, list[str]]]:
    if hasattr(command, "commands"):
        yield path, list(command.commands)
        for name, below in command.commands.items():
            yield from _groups(f"{path} {name}", below)


LEAVES = [leaf for name in COMMANDS for leaf in _leaves(name, load_command(name))]
GROUPS = [group for name in COMMANDS for group in _groups(name, load_command(name))]


def test_the_help_lists_every_command(treaty: Treaty) -> None:
    output = treaty("--help").output

    assert [name for name in COMMANDS if f"  {name} " not in output] == []


@pytest.mark.parametrize("command", LEAVES)
def test_every_command_has_help(treaty: Treaty, command: str) -> None:
    result = treaty(*command.split(), "--help")

    assert result.code == 0
    assert f"Usage: treaty {command}" in result.output


@pytest.mark.parametrize(("group", "names"), GROUPS)
def test_a_group_lists_its_commands(treaty: Treaty, group: str, names: list[str]) -> None:
    output = treaty(*group.split(), "--help").output

    assert [name for name in names if f"  {name} " not in output] == []


@pytest.mark.parametrize(
    "command", [leaf for leaf in LEAVES if leaf.split()[0] in REGISTRY_COMMANDS and leaf != "admin secrets key"]
)
def test_every_command_on_a_registry_has_the_same_options(treaty: Treaty, command: str) -> None:
    output = treaty(*command.split(), "--help").output

    for option in ("--registry", "--token-file", "--format", "--config"):
        assert option in output


def test_an_unknown_command_gets_a_suggestion(treaty: Treaty) -> None:
    result = treaty("consumers")

    assert result.code == 2
    assert "Did you mean 'consumer'" in result.errors


def _complete(*words: str) -> list[str]:
    """Return what bash would offer after these words."""
    environment = {
        "_TREATY_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    ran = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv = ['treaty']; from treaty.cli.app import main; main()"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return ran.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("treaty", "con"), ["convert", "consumer"]),
        (("treaty", "version", "de"), ["deprecate"]),
        (("treaty", "admin", "token", ""), ["create", "list", "revoke"]),
        (("treaty", "waiver", "add", "--un"), ["--until"]),
    ],
)
def test_the_shell_completes_commands_and_options(words: tuple[str, ...], offered: list[str]) -> None:
    assert _complete(*words) == offered


def test_the_completion_script_can_be_shown(treaty: Treaty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")

    assert "_TREATY_COMPLETE=complete_bash" in treaty("--show-completion", "bash").output


def test_the_choices_of_commands_equal_those_of_the_registry() -> None:
    assert [str(one) for one in consumer.ConsumerClass] == [str(one) for one in ConsumerClass]
    assert [str(one) for one in channels.ChannelKind] == [str(one) for one in ChannelKind]
    assert tuple(proposal.ProposalState) == get_args(ProposalAnswer.model_fields["state"].annotation)
    assert tuple(show.DocumentForm) == (*DocumentFormat, "given")
    assert [str(one) for one in migrate.MigrationState] == [str(one) for one in MigrationState]


def test_the_choices_of_commands_equal_those_of_git_and_the_pipeline() -> None:
    assert [str(one) for one in check.State] == [str(one) for one in GitState]
    assert tuple(exceptions.ExceptionState) == (*State, "any")
    assert [str(one) for one in exceptions.ReasonClass] == [str(one) for one in ReasonClass]


@pytest.mark.parametrize(("book", "ids"), [("kinds", list(KINDS)), ("rules", list(RULES))])
def test_explain_lists_every_kind_and_rule(treaty: Treaty, book: str, ids: list[str]) -> None:
    text = treaty("explain", book).output
    listed = [one["id"] for one in json.loads(treaty("explain", book, "--format", "json").output)]
    both = json.loads(treaty("explain", "--format", "json").output)

    assert [one for one in ids if one not in text] == []
    assert [one for one in ids if one not in treaty("explain").output] == []
    assert sorted(listed) == sorted(ids)
    assert [one["id"] for one in both[book]] == listed


@pytest.mark.parametrize("entry", ["field_removed", "name-bare"])
def test_explain_shows_one_page(treaty: Treaty, entry: str) -> None:
    assert "Why" in treaty("explain", entry).output
    assert treaty("explain", entry, "--format", "markdown").output.startswith(f"# {entry}")
    assert json.loads(treaty("explain", entry, "--format", "json").output)["id"] == entry


@pytest.mark.parametrize(("entry", "similar"), [("field_remved", "field_removed"), ("name-bear", "name-bare")])
def test_a_misspelt_entry_gets_a_suggestion(treaty: Treaty, entry: str, similar: str) -> None:
    result = treaty("explain", entry)

    assert result.code == 1
    assert f"did you mean {similar}" in result.errors


@pytest.mark.parametrize("book", ["kinds", "rules"])
def test_the_written_reference_equals_the_code(treaty: Treaty, book: str) -> None:
    written = (ROOT / "docs" / f"{book}.md").read_text()

    assert treaty("explain", book, "--format", "markdown").output == written, "run: make docs"


def test_every_command_has_a_section_and_every_section_a_command() -> None:
    page = (ROOT / "docs" / "commands.md").read_text()
    headings = re.findall(r"^### `treaty ([^`]+)`$", page, re.MULTILINE)
    documented = [
        next((leaf for leaf in sorted(LEAVES, key=len, reverse=True) if f"{heading} ".startswith(f"{leaf} ")), heading)
        for heading in headings
    ]

    assert sorted(documented) == sorted(LEAVES)


def test_every_exit_code_setting_variable_and_block_is_documented() -> None:
    commands = (ROOT / "docs" / "commands.md").read_text()
    settings = (ROOT / "docs" / "settings.md").read_text()
    documents = (ROOT / "docs" / "documents.md").read_text()

    assert [code for code, meaning in MEANINGS.items() if f"| {code.value} | {meaning}" not in commands] == []
    assert [name for name in (*DOCUMENTED, *ENVIRONMENT) if f"`{name}`" not in settings] == []
    assert [name for name, _ in block_descriptions() if f"`{name}`" not in documents] == []
    assert [name for name in field_key_names() if f"`{name}`" not in documents] == []


def test_every_command_in_the_readme_exists() -> None:
    used = re.findall(r"^\$? ?treaty ([a-z-]+(?: [a-z-]+)?)", (ROOT / "README.md").read_text(), re.MULTILINE)

    assert used
    assert [
        text
        for text in used
        if not any(f"{text} ".startswith(f"{leaf} ") for leaf in LEAVES) and text.split()[0] not in COMMANDS
    ] == []
