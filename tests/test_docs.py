"""The documentation names only what exists: files, links, commands with their options, make targets, modules."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click import Context
from typer.main import get_command

from treaty.cli.app import build_app

ROOT = Path(__file__).parents[1]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text()
    for path in (
        *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "benchmarks/README.md")),
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "examples").glob("*/README.md")),
    )
}
SCRIPTS = {str(path.relative_to(ROOT)): path.read_text() for path in sorted((ROOT / "examples").glob("*/*.sh"))}
CODE_PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md")
"""Pages about the code: their paths are relative to the repository or to the package."""

TOP_FOLDERS = ("src/", "tests/", "docs/", "benchmarks/", "examples/", "templates/", ".github/", ".ci/")
PLACEHOLDER = re.compile(r"[A-Z<…*{]")
GENERATED = {"examples/retail/pipeline/landing"}
"""Folders that a command on the page creates."""


def code_of(text: str) -> Iterator[str]:
    """Yield the code on a page: each line of the fenced blocks, and each inline span."""
    for block in re.findall(r"```\w*\n(.*?)```", text, re.DOTALL):
        yield from block.splitlines()
    yield from re.findall(r"(?<!`)`([^`\n]+)`(?!`)", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def paths_on(page: str) -> Iterator[str]:
    """Yield the paths that a page names as files or folders of this repository."""
    about_code = page in CODE_PAGES
    for code in code_of(PAGES[page]):
        for token in re.findall(r"[\w.][\w./-]*/[\w./<>-]*", code):
            is_source = about_code and token.endswith((".py", ".html", ".css", "/"))
            if not PLACEHOLDER.search(token) and (token.startswith(TOP_FOLDERS) or is_source):
                yield token


@pytest.mark.parametrize("page", PAGES)
def test_every_path_exists(page: str) -> None:
    homes = (ROOT, ROOT / "src", ROOT / "src/treaty")
    dead = {path for path in paths_on(page) if not any((home / path).exists() for home in homes)} - GENERATED

    assert dead == set()


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file(page: str) -> None:
    links = re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", PAGES[page])

    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []


@cache
def root_command() -> Any:
    """Return the complete command line."""
    return get_command(build_app())


def unknown_parts(words: list[str]) -> Iterator[str]:
    """Yield the command or the options of one call of `treaty` that do not exist."""
    command, name = root_command(), "treaty"
    while words and hasattr(command, "get_command") and re.fullmatch(r"[a-z][a-z-]*", words[0]):
        name, inner = f"{name} {words[0]}", command.get_command(Context(command), words[0])
        if inner is None:
            yield name
            return
        command, words = inner, words[1:]
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for word in words:
        option = re.match(r"--[a-z][a-z-]*", word)
        if option and option[0] not in options | {"--help", "--install-completion", "--show-completion"}:
            yield f"{name} {option[0]}"


CALL = re.compile(r"(?:^|\$ |[|;&(] ?|/)treaty ((?:[a-z]|--)[^|;&)`]*)")
CALL_IN_SCRIPT = re.compile(r"(?:^|expect \d ['\"]?|\$ |[|;&(] ?|/)treaty ((?:[a-z]|--)[^|;&)`'\"]*)")


@pytest.mark.parametrize("page", PAGES)
def test_every_command_and_option_exists(page: str) -> None:
    calls = [call for code in code_of(PAGES[page]) for call in CALL.findall(code)]
    unknown = {part for call in calls for part in unknown_parts(call.split("#")[0].split())}

    assert unknown == set()


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_command_of_a_script_exists(script: str) -> None:
    lines = SCRIPTS[script].replace("\\\n", " ").splitlines()
    calls = [call for line in lines for call in CALL_IN_SCRIPT.findall(line)]
    unknown = {part for call in calls for part in unknown_parts(call.split("#")[0].split())}

    assert calls
    assert unknown == set()


@pytest.mark.parametrize("page", PAGES)
def test_every_make_target_exists(page: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {target for code in code_of(PAGES[page]) for target in re.findall(r"(?:^|\$ )make ([a-z-]+)", code)}

    assert named - targets == set()


@pytest.mark.parametrize("page", PAGES)
def test_every_imported_name_exists(page: str) -> None:
    imports = re.findall(r"^from (treaty[\w.]*) import ([\w, ]+)", PAGES[page], re.MULTILINE)

    for module, names in imports:
        for name in names.split(","):
            assert hasattr(import_module(module), name.strip()), f"from {module} import {name}"


def test_the_recipe_for_a_kind_of_change_works() -> None:
    (code,) = (
        block for block in re.findall(r"```python\n(.*?)```", PAGES["CONTRIBUTING.md"], re.DOTALL) if "@kind(" in block
    )
    script = (
        textwrap.dedent(code)
        + '\nfrom treaty.compatibility import KINDS\nprint(KINDS["field_colour_changed"].summary)\n'
    )

    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert ran.stdout == "A field's colour changed.\n"
