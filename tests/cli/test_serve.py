"""`treaty serve` as a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty, Write
from tests.cli.order_contracts import V1

TREATY = str(Path(sys.executable).with_name("treaty"))


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("TREATY_")}


@contextmanager
def _serving(folder: Path, *arguments: str, until: str = "stop") -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Start a server on a free port, and read what it says until a word: how to stop it."""
    with subprocess.Popen(
        [TREATY, "serve", "--port", "0", *arguments],
        cwd=folder,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        too_late = threading.Timer(60, process.kill)
        too_late.start()
        assert process.stdout is not None
        said: list[str] = []
        try:
            for line in process.stdout:
                said.append(line.rstrip())
                if until in line:
                    break
            yield process, said
        finally:
            process.terminate()
            process.wait(timeout=30)
            too_late.cancel()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=["terminated", "interrupted"])
def test_it_says_where_it_is_who_may_come_in_and_how_to_stop(tmp_path: Path, how: signal.Signals) -> None:
    with _serving(tmp_path, "--database", "kept.db") as (process, said):
        address = said[0].removeprefix("Treaty is running at ")
        with urllib.request.urlopen(f"{address}/healthz") as answer:  # noqa: S310
            assert answer.status == 200
        process.send_signal(how)
        code = process.wait(timeout=30)

    assert said[1:] == [
        "  database   kept.db",
        "  access     open to this machine because no token exists; create one with: treaty admin token create",
        f"  pages      {address}/",
        f"  API        {address}/docs",
        f"  schemas    {address}/schema-registry",
        "  stop       Ctrl+C",
    ]
    assert code == 0
    assert (tmp_path / "kept.db").exists()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_it_says_where_it_listens_as_one_line_of_json(tmp_path: Path, workers: str) -> None:
    with _serving(tmp_path, "--workers", workers, "--format", "json", until="address") as (_, said):
        address = json.loads(said[0])["address"]
        with urllib.request.urlopen(f"{address}/healthz") as answer:  # noqa: S310
            assert answer.status == 200

    assert said == [json.dumps({"address": address})]


def test_once_there_is_a_token_one_must_sign_in(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    write("token", treaty("admin", "token", "create", "admin", "--role", "admin").output)
    write("treaty.yaml", "access: {read: members}\n")

    with _serving(tmp_path) as (_, said):
        address = said[0].removeprefix("Treaty is running at ")
        stranger = treaty("search", "--registry", address)
        member = treaty("register", write("orders.yaml", V1), "--registry", address, "--token-file", "token")

    assert "  access     sign in to read and to make changes" in said
    assert (stranger.code, member.code) == (1, 0)


def test_other_machines_are_let_in_only_where_one_must_sign_in(treaty: Treaty) -> None:
    result = treaty("serve", "--host", "0.0.0.0", "--port", "0")  # noqa: S104

    assert result.code == 1
    assert "no token or OIDC provider is configured" in result.errors
    assert "treaty admin token create admin --role admin" in result.errors


@pytest.mark.parametrize(
    ("arguments", "settings", "code", "said"),
    [
        (("--database", "https://contracts.example.com"), "", 2, "the address of a server is not a database"),
        (("--port", "70000"), "", 2, "range"),
        ((), "access: {oidc: {issuer: 'https://login.example.com'}}\n", 1, "access.oidc: audience is missing"),
        ((), "notices: {smtp: {host: mail.example.com}}\n", 1, "notices.smtp: sender is missing"),
    ],
)
def test_a_server_that_cannot_start_is_one_clear_error(
    treaty: Treaty, write: Write, arguments: tuple[str, ...], settings: str, code: int, said: str
) -> None:
    write("treaty.yaml", settings)

    result = treaty("serve", *arguments)

    assert result.code == code
    assert said in " ".join(result.errors.split())
    assert "Traceback" not in result.errors


def test_a_port_that_is_taken_is_one_clear_error(tmp_path: Path) -> None:
    with _serving(tmp_path) as (_, said):
        port = said[0].rpartition(":")[2]
        ran = subprocess.run(
            [TREATY, "serve", "--port", port, "--database", "other.db"],
            cwd=tmp_path,
            env=_environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    assert ran.returncode == 1
    assert ran.stderr == f"error: cannot listen on 127.0.0.1 port {port}: Address already in use; try another --port\n"
