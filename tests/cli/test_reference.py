"""`treaty kinds`, `treaty rules`, `treaty --help`, and documents that cannot lie."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

from tests.cli.conftest import Treaty
from treaty.cli.app import CHAPTERS, COMMANDS
from treaty.cli.commands import channel, exceptions, migrate, proposals, show, subscribe
from treaty.cli.exit_codes import MEANINGS
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
BELOW = [
    (name, one.name)
    for name in COMMANDS
    if hasattr(module := import_module(f"treaty.cli.commands.{name.replace('-', '_')}"), "app")
    for one in module.app.registered_commands
]
"""The commands of commands, such as `token create`."""


def test_the_help_lists_every_command(treaty: Treaty) -> None:
    output = treaty("--help").output

    assert [name for name in COMMANDS if f"  {name} " not in output] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(treaty: Treaty, command: str) -> None:
    result = treaty(command, "--help")

    assert result.code == 0
    assert "Usage: treaty" in result.output


@pytest.mark.parametrize(("command", "below"), BELOW)
def test_every_command_of_a_command_explains_itself(treaty: Treaty, command: str, below: str) -> None:
    result = treaty(command, below, "--help")

    assert result.code == 0
    assert f"Usage: treaty {command} {below}" in result.output


@pytest.mark.parametrize("command", sorted({command for command, _ in BELOW}))
def test_a_command_with_commands_lists_them(treaty: Treaty, command: str) -> None:
    output = treaty(command, "--help").output

    assert [below for name, below in BELOW if name == command and f"  {below} " not in output] == []


_OF_A_REGISTRY = [
    name for chapter in ("Registry", "Consumers", "Governance", "Operation") for name in CHAPTERS[chapter]
]
ON_A_REGISTRY = [
    *((name,) for name in _OF_A_REGISTRY if name not in {command for command, _ in BELOW} | {"serve"}),
    *(pair for pair in BELOW if pair[0] in _OF_A_REGISTRY),
]


@pytest.mark.parametrize("command", ON_A_REGISTRY, ids=" ".join)
def test_every_command_on_a_registry_takes_the_same_options(treaty: Treaty, command: tuple[str, ...]) -> None:
    output = treaty(*command, "--help").output

    for option in ("--registry", "--token-file", "--format", "--config"):
        assert option in output


def test_the_choices_of_commands_are_those_of_the_registry() -> None:
    assert [str(one) for one in subscribe.ConsumerClass] == [str(one) for one in ConsumerClass]
    assert [str(one) for one in channel.ChannelKind] == [str(one) for one in ChannelKind]
    assert tuple(proposals.State) == get_args(ProposalAnswer.model_fields["state"].annotation)
    assert tuple(show.Written) == (*DocumentFormat, "given")
    assert [str(one) for one in migrate.State] == [str(one) for one in MigrationState]


def test_the_choices_of_exceptions_are_those_of_the_pipeline() -> None:
    assert tuple(exceptions.State) == (*State, "any")
    assert [str(one) for one in exceptions.ReasonClass] == [str(one) for one in ReasonClass]


@pytest.mark.parametrize(("command", "ids"), [("kinds", list(KINDS)), ("rules", list(RULES))])
def test_the_tables_list_every_entry(treaty: Treaty, command: str, ids: list[str]) -> None:
    text = treaty(command).output
    listed = [one["id"] for one in json.loads(treaty(command, "--format", "json").output)]

    assert [one for one in ids if one not in text] == []
    assert sorted(listed) == sorted(ids)


@pytest.mark.parametrize(("command", "entry"), [("kinds", "field_removed"), ("rules", "name-bare")])
def test_one_entry_is_explained(treaty: Treaty, command: str, entry: str) -> None:
    assert "Why" in treaty(command, entry).output
    assert treaty(command, entry, "--format", "markdown").output.startswith(f"# {entry}")
    assert json.loads(treaty(command, entry, "--format", "json").output)["id"] == entry


@pytest.mark.parametrize(
    ("command", "entry", "meant"), [("kinds", "field_remved", "field_removed"), ("rules", "name-bear", "name-bare")]
)
def test_a_misspelt_entry_is_answered_with_what_was_meant(treaty: Treaty, command: str, entry: str, meant: str) -> None:
    result = treaty(command, entry)

    assert result.code == 1
    assert f"did you mean {meant}" in result.errors


@pytest.mark.parametrize("book", ["kinds", "rules"])
def test_the_written_reference_is_what_the_code_says(treaty: Treaty, book: str) -> None:
    written = (ROOT / "docs" / f"{book}.md").read_text()

    assert treaty(book, "--format", "markdown").output == written, "run: make docs"


def test_every_command_setting_variable_block_and_exit_code_is_documented() -> None:
    commands = (ROOT / "docs" / "commands.md").read_text()
    settings = (ROOT / "docs" / "settings.md").read_text()
    documents = (ROOT / "docs" / "documents.md").read_text()

    assert [name for name in COMMANDS if f"`treaty {name}" not in commands] == []
    assert [pair for pair in BELOW if f"`treaty {' '.join(pair)}" not in commands] == []
    assert [code for code, meaning in MEANINGS.items() if f"| {code.value} | {meaning}" not in commands] == []
    assert [name for name in (*DOCUMENTED, *ENVIRONMENT) if f"`{name}`" not in settings] == []
    assert [name for name, _ in block_descriptions() if f"`{name}`" not in documents] == []
    assert [name for name in field_key_names() if f"`{name}`" not in documents] == []


def test_every_command_in_the_readme_exists() -> None:
    used = set(re.findall(r"^\$? ?treaty ([a-z-]+)", (ROOT / "README.md").read_text(), re.MULTILINE))

    assert used <= set(COMMANDS)
    assert used
