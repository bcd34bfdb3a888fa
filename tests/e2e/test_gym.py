"""The story of the gym through the command line: publishers that can replace each other, and three that cannot."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from examples.gym.demo import HERE, STORY, Step, StoryFailed, project, run, tell


def test_the_story_of_the_gym(spark: SparkSession, tmp_path: Path) -> None:
    told: list[str] = []

    with project(tmp_path / "gym"):
        tell(STORY, told.append)

    story = "\n".join(told)
    for message in (
        "✗ ordering.gaps         The sequence of a key has no gaps",
        "✗  who publishes classes is certified: native has no certificate for it",
        "336 events of 120 keys from native.jsonl\ncertified: no check failed\nissued certificate",
        "may native publish gym.scheduling.class_published@1?  yes",
        "✗ ordering.sequence     Events of a key arrive in the order of their sequence",
        "must not contain what the contract excludes (first key c00000 at 1, value internalNotes)",
        "takes classId apart; the contract promises that it identifies, not what it looks like",
        "ClassUpdated: scheduledStart must state its offset from UTC (first key c00055 at 2)",
    ):
        assert message in story
    assert story.count("interchangeable for these contracts") == 2
    assert story.count("not certified: 1 check failed") == 4


def test_a_story_that_goes_another_way_is_an_error(tmp_path: Path) -> None:
    with project(tmp_path / "gym"), pytest.raises(StoryFailed, match=r"publishers/none\.py ended with 2, not 0"):
        tell((Step("", (("python publishers/none.py", 0),)),), lambda line: None)


def test_an_error_of_treaty_ends_the_command_only(tmp_path: Path) -> None:
    with project(tmp_path / "gym"):
        code, output = run("treaty events generate missing.yaml")

    assert (code, output) == (1, "error: there is no contract missing.yaml; check the path\n")


def test_reservation_ignores_what_it_has_seen(tmp_path: Path) -> None:
    def schedule(*lines: str) -> str:
        program = HERE / "consumers" / "reservation.py"
        text = "\n".join(lines)
        return subprocess.run([sys.executable, program], input=text, capture_output=True, text=True, check=True).stdout

    with project(tmp_path / "gym"):
        events = run("python publishers/desk_adapter.py")[1].splitlines()

    once = schedule(*events)

    assert schedule(*events, *events[:50]) == once
    assert {json.loads(line)["state"] for line in once.splitlines()} == {"open", "cancelled"}
