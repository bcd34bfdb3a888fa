"""Fixtures that run commands: arguments in; exit code, output and errors out."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import structlog
import uvicorn

from tests.documents import document
from treaty.cli.app import main
from treaty.contracts.text.writer import write_yaml
from treaty.registry.service import Registry
from treaty.server.app import create_app


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    output: str
    errors: str


Treaty = Callable[..., Result]
Write = Callable[[str, Any], str]


@pytest.fixture
def treaty(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Treaty:
    """Run `treaty` with arguments, in a folder of its own, with nothing set."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("TREATY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TREATY_ACTOR", "ada")

    def run(*arguments: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["treaty", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        code = ended.value.code
        return Result(code if isinstance(code, int) else 0, captured.out, captured.err)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a contract, or any text, to a file of the folder."""

    def to_file(name: str, content: Any) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else write_yaml(document(content)))
        return name

    return to_file


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """Serve a registry of its own, and give its address; what it logs is not the command's output."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    with Registry.open(str(tmp_path / "served.db")) as registry:
        server = uvicorn.Server(uvicorn.Config(create_app(registry), port=0, log_level="error", ws="none"))
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            until = time.monotonic() + 20
            while not server.started and time.monotonic() < until:
                time.sleep(0.01)
            yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
            structlog.reset_defaults()
