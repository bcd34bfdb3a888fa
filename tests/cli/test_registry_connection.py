"""The registry that a command uses, and errors if there is none."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty, Write
from tests.cli.order_contracts import V1, V1_WITHOUT_TOTAL

HOME = "--registry"


def test_a_registry_is_named_by_an_option_a_variable_or_a_setting(
    treaty: Treaty, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = write("orders.yaml", V1)
    treaty("register", file, HOME, "by-option.db")
    monkeypatch.setenv("TREATY_REGISTRY", f"sqlite:///{tmp_path}/by-variable.db")
    treaty("register", file)
    monkeypatch.delenv("TREATY_REGISTRY")
    write("treaty.yaml", "registry: kept/by-setting.db\n")
    treaty("register", file)

    for made in ("by-option.db", "by-variable.db", "kept/by-setting.db"):
        assert (tmp_path / made).exists()


def test_a_registry_beside_the_project_file_is_found_from_a_folder_below(
    treaty: Treaty, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write("treaty.yaml", "name: shop\n")
    treaty("register", write("contracts/orders.yaml", V1))
    monkeypatch.chdir(tmp_path / "contracts")

    assert treaty("show", "orders").code == 0


def test_only_what_puts_something_into_a_registry_makes_one(treaty: Treaty, tmp_path: Path) -> None:
    result = treaty("search")

    assert result.code == 1
    assert result.errors == (
        "error: there is no registry at .treaty/registry.db; register a contract to create it, "
        "or choose another with --registry\n"
    )
    assert not (tmp_path / ".treaty").exists()


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("mysql://root:hunter2@db/treaty", "write sqlite:///file or postgresql://"),
        ("postgresql://treaty:hunter2@127.0.0.1:1/treaty", "cannot be used now"),
        ("orders.yaml", "cannot be used now"),
        (".", "cannot be used now"),
        ("", "the registry is blank"),
        ("orders.yaml/registry.db", "there is no registry at orders.yaml/registry.db"),
    ],
)
def test_a_registry_that_cannot_be_opened_is_one_clear_error(
    treaty: Treaty, write: Write, reference: str, said: str
) -> None:
    write("orders.yaml", V1)

    result = treaty("search", HOME, reference)

    assert result.code == 1
    assert said in result.errors
    assert "hunter2" not in result.errors
    assert "Traceback" not in result.errors


SCRIPT = """
import sys
sys.path[:0] = {path!r}
from treaty.cli.app import main
sys.argv = ["treaty", *{arguments!r}]
main()
"""


@contextmanager
def _unprivileged_user() -> Iterator[None]:
    """Run as a user to whom file permissions apply."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_database_that_may_only_be_read_is_one_clear_error(
    treaty: Treaty, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    treaty("register", write("orders.yaml", V1))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(tmp_path / ".treaty" / "registry.db", folder / "registry.db")
        shutil.copy(tmp_path / "orders.yaml", folder / "orders.yaml")
        (folder / "registry.db").chmod(0o444)
        folder.chmod(0o555)
        monkeypatch.chdir(folder)
        with _unprivileged_user():
            result = treaty("register", "orders.yaml", HOME, "registry.db")
        monkeypatch.chdir(tmp_path)
        folder.chmod(0o755)

    assert result.code == 1
    assert "cannot be used now: attempt to write a readonly database" in result.errors
    assert "Traceback" not in result.errors


@pytest.mark.parametrize(
    ("package", "arguments", "extra"),
    [
        ("sqlalchemy", ["register", "-"], "treaty[registry]"),
        ("httpx2", ["search", HOME, "http://127.0.0.1:1"], "treaty[registry]"),
        ("uvicorn", ["serve"], "treaty[server]"),
        ("fastapi", ["serve"], "treaty[server]"),
    ],
)
def test_a_missing_extra_says_which_command_brings_it(
    package: str, arguments: list[str], extra: str, tmp_path: Path
) -> None:
    script = f"import sys; sys.modules[{package!r}] = None\n" + SCRIPT.format(path=sys.path, arguments=arguments)

    ran = subprocess.run(
        [sys.executable, "-c", script],
        input="dataset_id: a\nversion: 1.0.0\nowners: [{team: t}]\nfields: [{name: a, type: string}]\n",
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 1
    assert f"pip install '{extra}'" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_server_is_a_registry_like_any_other(treaty: Treaty, write: Write, served: str) -> None:
    at = (HOME, served)
    first = treaty("register", write("orders.yaml", V1), *at)
    again = treaty("register", "orders.yaml", *at)
    treaty("consumer", "subscribe", "ledger", "orders@1", "--class", "operational_reporting", "--field", "total", *at)
    refused = treaty("register", write("next.yaml", V1_WITHOUT_TOTAL), *at)

    assert (first.code, again.code, refused.code) == (0, 0, 3)
    assert "unchanged" in again.output
    assert "✗  ledger  operational_reporting\n     reads total" in refused.output
    assert "set version: 2.0.0" in refused.output
    assert treaty("can-i-publish", "next.yaml", *at).code == 3
    assert treaty("register", "--dry-run", "next.yaml", *at).code == 3
    assert treaty("can-i-retire", "orders@1", *at).code == 3
    assert "ledger" in treaty("show", "orders", *at).output
    assert json.loads(treaty("consumer", "list", *at, "--format", "json").output)["items"][0]["consumer"] == "ledger"
    assert treaty("admin", "audit", "verify", *at).code == 0
    assert treaty("show", "nothing", *at).code == 1
    assert treaty("version", "retire", "orders@1", *at).code == 3


def test_every_answer_is_the_same_from_a_server(treaty: Treaty, write: Write, served: str) -> None:
    treaty("register", write("orders.yaml", V1), HOME, served)

    for command in (
        ("search",),
        ("version", "history", "orders"),
        ("show", "orders"),
        ("policy", "list"),
        ("consumer", "graph", "orders"),
        (
            "waiver",
            "list",
        ),
        (
            "proposal",
            "list",
        ),
        ("admin", "channel", "list"),
        (
            "admin",
            "notices",
        ),
        ("admin", "token", "list"),
        ("admin", "audit", "list"),
        (
            "admin",
            "tick",
        ),
        ("consumer", "impact", "orders.yaml"),
        ("policy", "check", "orders.yaml"),
    ):
        there = treaty(*command, HOME, served, "--format", "json")
        here = treaty(*command, HOME, "served.db", "--format", "json")
        assert there == here, command


def test_a_token_signs_in_from_a_file_or_a_variable(
    treaty: Treaty, write: Write, served: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("token", treaty("admin", "token", "create", "ci", "--role", "admin", HOME, served).output)
    file = write("orders.yaml", V1)

    stranger = treaty("register", file, HOME, served)
    member = treaty("register", file, HOME, served, "--token-file", "token")
    monkeypatch.setenv("TREATY_TOKEN", Path("token").read_text().strip())
    by_variable = treaty("version", "activate", "orders", "1.0.0", HOME, served)
    monkeypatch.setenv("TREATY_TOKEN", "treaty_000000000000_" + "0" * 64)
    wrong = treaty("version", "activate", "orders", "1.0.0", HOME, served)

    assert (stranger.code, member.code, by_variable.code, wrong.code) == (1, 0, 0, 1)
    assert "orders 1.0.0  not allowed" in stranger.output
    assert "0" * 64 not in wrong.errors


@pytest.mark.parametrize(("content", "said"), [(None, "no token file token"), ("", "the token file token is empty")])
def test_a_token_file_without_a_token_is_one_clear_error(
    treaty: Treaty, write: Write, content: str | None, said: str
) -> None:
    if content is not None:
        write("token", content)

    result = treaty("search", HOME, "http://127.0.0.1:1", "--token-file", "token")

    assert result.code == 1
    assert said in result.errors


def test_a_server_that_is_not_there_is_one_clear_error(treaty: Treaty) -> None:
    with socket.socket() as taken:  # bound, but not listening
        taken.bind(("127.0.0.1", 0))
        result = treaty("search", HOME, f"http://127.0.0.1:{taken.getsockname()[1]}")

    assert result.code == 1
    assert "no registry can be reached at http://127.0.0.1" in result.errors
    assert len(result.errors.splitlines()) == 1


def test_a_registry_in_postgresql_is_a_registry_like_any_other(
    treaty: Treaty, write: Write, postgresql_database: str
) -> None:
    at = (HOME, postgresql_database)

    assert treaty("register", write("orders.yaml", V1), *at).code == 0
    assert (
        treaty(
            "consumer", "subscribe", "ledger", "orders@1", "--class", "operational_reporting", "--field", "total", *at
        ).code
        == 0
    )
    assert "ledger" in treaty("register", write("next.yaml", V1_WITHOUT_TOTAL), *at).output
    assert treaty("can-i-publish", "next.yaml", *at).code == 3
    assert treaty("version", "deprecate", "orders@1", "--plan", "https://example.com/plan", *at).code == 0
    assert treaty("can-i-retire", "orders@1", *at).code == 3
    assert "orders" in treaty("search", "order", *at).output
    assert treaty("admin", "audit", "verify", *at).code == 0


def test_a_misspelt_contract_is_answered_with_the_most_similar_one(treaty: Treaty, write: Write) -> None:
    treaty("register", write("orders.yaml", V1))

    assert treaty("show", "oders").errors == "error: no contract 'oders' is registered; did you mean 'orders'?\n"
    assert treaty("show", "zzz").errors == "error: no contract 'zzz' is registered; find one with: treaty search\n"


def test_the_state_folder_is_kept_out_of_git(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    result = treaty("register", write("orders.yaml", V1))

    assert (tmp_path / ".treaty/.gitignore").read_text() == "*\n"
    assert result.errors == "registry: .treaty/registry.db\n"
