"""`treaty test` as a process: it prints only its report and stops Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Write
from treaty.cli.progress import show_progress

SHOWN = """
import sys
from treaty.cli.app import main
sys.argv = ["treaty", "test", "--help"]
try:
    main()
except SystemExit:
    print("LOADED " + " ".join(sys.modules))
"""


def test_process_prints_only_its_report(write: Write, tmp_path: Path) -> None:
    write("orders.yaml", [{"name": "order_id", "logicalType": "string", "required": True}])
    write("orders.csv", "order_id,city\nO1,Rome\n,Oslo\n")
    program = [sys.executable, "-c", "from treaty.cli.app import main; main()"]
    arguments = ["test", "orders.yaml", "orders.csv", "--format", "json", "--quarantine", "bad", "--master", "local[1]"]

    ran = subprocess.run([*program, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stderr) == (3, "starting Spark\n")
    assert json.loads(ran.stdout)["reasons"] == ["1 of 2 rows is quarantined"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "orders.csv", "orders.yaml"]


def test_its_help_does_not_load_spark() -> None:
    ran = subprocess.run([sys.executable, "-c", SHOWN], capture_output=True, text=True, check=True)

    loaded = set(ran.stdout.rpartition("LOADED ")[2].split())
    assert "Test data against a contract" in ran.stdout
    assert loaded & {"rich", "pydantic", "pyspark", "treaty.compatibility"} == set()


def test_progress_is_shown_on_a_terminal_and_cleared(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with show_progress() as steps:
        steps.start("reading a\x1b[31m.csv")
        with steps.measured_by(lambda: 0.25):
            drawn = steps.__rich__().plain

    captured = capsys.readouterr()
    assert captured.out == ""
    assert "reading a\\x1b[31m.csv  25%  0 s" in drawn
    assert captured.err.rstrip("\n").endswith(("\x1b[2K", "\x1b[?25h"))


def test_progress_is_not_shown_elsewhere(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "0")
    with show_progress() as steps:
        steps.start("reading")

    assert capsys.readouterr().err == ""
