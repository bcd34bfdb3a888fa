"""One uninterrupted run of the kiosk project, shared by the tests that compare with it."""

from __future__ import annotations

import pytest

from tests.faults.processes import WAVES, Premises, open_premises


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Premises:
    """The project after one uninterrupted local run over all waves."""
    opened = open_premises(tmp_path_factory.mktemp("undisturbed"), WAVES)
    code, _, complaint = opened.run()
    assert (code, complaint) == (0, "")
    return opened
