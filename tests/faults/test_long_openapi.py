"""The API answers as its OpenAPI document says: more requests than in `make test`, on both databases."""

from __future__ import annotations

from pathlib import Path

from tests.server.schemathesis_run import ALL_PHASES, ANYTHING, WHAT_IS_THERE, run_schemathesis

MAX_EXAMPLES = 6
TIMEOUT_S = 400.0


def test_every_answer_is_as_described_on_sqlite(tmp_path: Path) -> None:
    run_schemathesis(tmp_path, str(tmp_path / "registry.db"), WHAT_IS_THERE, ALL_PHASES, MAX_EXAMPLES, TIMEOUT_S)


def test_every_answer_is_as_described_on_postgresql(tmp_path: Path, postgresql_database: str) -> None:
    run_schemathesis(tmp_path, postgresql_database, ANYTHING, ALL_PHASES, MAX_EXAMPLES, TIMEOUT_S)
