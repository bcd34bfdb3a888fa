"""Commands that run in hooks load nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "gym" / "contracts" / "gym.scheduling.class_published.yaml"
WITHOUT_SQL = EXAMPLE.with_name("gym.scheduling.class_published.poor.yaml")
HEAVY = {"rich", "pydantic", "sqlalchemy", "fastapi", "pyspark", "treaty.compatibility"}
SCRIPT = """
import sys
from treaty.cli.app import main
sys.argv = ["treaty", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
print("LOADED " + " ".join(sys.modules))
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["lint", str(EXAMPLE)],
        ["register", "--help"],
        ["serve", "--help"],
        ["admin", "token", "create", "--help"],
    ],
    ids=lambda arguments: arguments[0].strip("-"),
)
def test_a_command_loads_nothing_heavy(arguments: list[str]) -> None:
    ran = subprocess.run([sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=True)

    loaded = set(ran.stdout.rpartition("LOADED ")[2].split())
    assert loaded & HEAVY == set()
    assert "--help" not in arguments or "treaty.settings" not in loaded


def test_sqlglot_is_loaded_only_if_a_rule_has_sql() -> None:
    loaded = []
    for file in (WITHOUT_SQL, EXAMPLE):
        arguments = [sys.executable, "-c", SCRIPT, "lint", str(file)]
        ran = subprocess.run(arguments, capture_output=True, text=True, check=True)
        loaded.append("sqlglot" in ran.stdout.rpartition("LOADED ")[2].split())

    assert loaded == [False, True]
