"""Running the command as a user does: arguments in; exit code, output and errors out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.documents import document
from treaty.cli.app import main
from treaty.contracts.writing import write_yaml


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
    """Run `treaty` with arguments, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

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
