"""The commands of the tutorial, run in order from an empty folder, do what the page shows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.e2e.console_blocks import steps_of
from treaty.spark.jars import default_jar_folder

STEPS = steps_of((Path(__file__).parents[2] / "docs" / "tutorial.md").read_text())
SHOW_EXIT_CODE = "echo $?"


def test_every_command_prints_what_the_tutorial_shows(tmp_path: Path) -> None:
    empty, state = tmp_path / "empty", tmp_path / "folder"
    empty.mkdir()
    folder, code = empty, 0
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "NO_COLOR": "1",
        "COLUMNS": "120",
        "PYTHONUNBUFFERED": "1",  # output and errors in the order of a terminal
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "TREATY_SPARK_JARS": str(default_jar_folder()),
        "GIT_AUTHOR_NAME": "Reader",
        "GIT_AUTHOR_EMAIL": "reader@example.com",
        "GIT_COMMITTER_NAME": "Reader",
        "GIT_COMMITTER_EMAIL": "reader@example.com",
    }
    for step, following in zip(STEPS, (*STEPS[1:], None), strict=True):
        ran = subprocess.run(
            ["bash", "-c", f'(exit {code}); {step.command}\ncode=$?; pwd > "{state}"; exit $code'],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        folder, code = Path(state.read_text().strip()), ran.returncode

        assert step.matches(ran.stdout), f"$ {step.command}\n{ran.stdout}"
        if following is None or following.command != SHOW_EXIT_CODE:
            assert code == 0, f"$ {step.command}\n{ran.stdout}"
