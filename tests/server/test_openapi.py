"""The API answers as its OpenAPI document says; `make faults` has a longer run on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.schemathesis_run import ANYTHING, WHAT_IS_THERE, run_schemathesis


@pytest.mark.parametrize(
    ("parameters", "phases"),
    [(ANYTHING, "examples,fuzzing,stateful"), (WHAT_IS_THERE, "coverage")],
    ids=["generated names", "registered names"],
)
def test_every_answer_is_as_described(tmp_path: Path, parameters: str, phases: str) -> None:
    run_schemathesis(tmp_path, str(tmp_path / "registry.db"), parameters, phases, max_examples=2, timeout_s=150)
