"""What a newcomer gets wrong is answered with what is wrong, where, and what to do; the cases are data."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Treaty
from treaty.cli.app import main

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "messages" / "wrong_inputs.yaml").read_text()
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a project with a registered contract once."""
    folder = tmp_path_factory.mktemp("project") / "shop"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREATY_ACTOR", "ada")
        for arguments in (["init", str(folder)], ["register", "contracts"]):
            patch.setattr(sys, "argv", ["treaty", *arguments])
            with pytest.raises(SystemExit) as ended:
                main()
            assert not ended.value.code
            patch.chdir(folder)
    return folder


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_wrong_input_is_answered_with_what_to_do(
    treaty: Treaty, project: Path, tmp_path: Path, case: dict[str, Any]
) -> None:
    shutil.copytree(project, tmp_path, dirs_exist_ok=True)
    for name, text in case.get("file", {}).items():
        (tmp_path / name).write_text(text)
    for name, (before, after) in case.get("edit", {}).items():
        file = tmp_path / name
        assert before in file.read_text()
        file.write_text(file.read_text().replace(before, after, 1))

    result = treaty(*case["command"].split())

    answer = " ".join((result.output + result.errors).split())
    assert case["says"] in answer
    assert result.code == case["code"]
    assert "Traceback" not in answer
