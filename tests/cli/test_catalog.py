"""`treaty catalog build`, and commands that a published catalog follows."""

from __future__ import annotations

import errno
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Treaty, Write
from tests.cli.order_contracts import V1, V1_WITH_CITY
from treaty.catalog.pages import contract_list


def test_build_prints_a_summary(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    treaty("register", write("orders.yaml", V1))

    result = treaty("catalog", "build", "site", "--name", "Shop")

    assert result.code == 0
    assert "Built the catalog of 1 contract in site" in result.output
    assert (tmp_path / "site" / "index.html").as_uri() in result.output
    assert "· Shop</title>" in (tmp_path / "site" / "index.html").read_text()


def test_a_build_that_changes_nothing_says_so_in_json(treaty: Treaty, write: Write) -> None:
    treaty("register", write("orders.yaml", V1))
    first = json.loads(treaty("catalog", "build", "site", "--format", "json").output)

    second = json.loads(treaty("catalog", "build", "site", "--format", "json").output)

    assert first["written"] > 0
    assert (second["written"], second["removed"], second["unchanged"]) == (0, 0, first["written"])


def test_a_server_gives_the_same_site_as_its_database(
    treaty: Treaty, write: Write, served: str, tmp_path: Path
) -> None:
    treaty("register", write("orders.yaml", V1), "--registry", served)

    assert treaty("catalog", "build", "by-address", "--registry", served).code == 0
    assert treaty("catalog", "build", "by-file", "--registry", "served.db").code == 0

    one, other = (
        {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.suffix in (".html", ".js")}
        for folder in (tmp_path / "by-address", tmp_path / "by-file")
    )
    assert one == other


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("taken.txt", "is not a folder"),
        ("full", "has files that were not written by the catalog, such as 'thesis.txt'"),
    ],
)
def test_a_folder_that_cannot_be_is_refused(
    treaty: Treaty, write: Write, tmp_path: Path, folder: str, words: str
) -> None:
    treaty("register", write("orders.yaml", V1))
    (tmp_path / "taken.txt").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")

    result = treaty("catalog", "build", folder)

    assert result.code == 1
    assert words in result.errors


def test_unwritable_folder_is_reported(treaty: Treaty, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    treaty("register", write("orders.yaml", V1))
    mkdir = Path.mkdir

    def forbidden(self: Path, *given: Any, **asked: Any) -> None:
        if self.name == "site":
            raise PermissionError(errno.EACCES, "Permission denied")
        mkdir(self, *given, **asked)

    monkeypatch.setattr(Path, "mkdir", forbidden)
    result = treaty("catalog", "build", "site")

    assert result.code == 1
    assert "cannot write site: Permission denied" in result.errors


def test_without_a_registry_nothing_is_built(treaty: Treaty, tmp_path: Path) -> None:
    result = treaty("catalog", "build", "site")

    assert result.code == 1
    assert "there is no registry at" in result.errors
    assert not (tmp_path / "site").exists()


def test_the_first_commands_that_an_empty_catalog_shows_work_as_they_stand(treaty: Treaty) -> None:
    for _, command in contract_list._FIRST_COMMANDS:
        result = treaty(*shlex.split(command)[1:])
        assert result.code == 0, result.errors


def test_a_registration_ends_with_the_site_up_to_date(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    write("treaty.yaml", "catalog:\n  publish: public\n  name: Shop\n")

    result = treaty("register", write("orders.yaml", V1))

    assert result.code == 0
    assert "published the catalog to" in result.errors
    assert "1.0.0" in (tmp_path / "public" / "index.html").read_text()


def test_every_step_of_a_life_is_published(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    write("treaty.yaml", "catalog:\n  publish: public\n")
    treaty("register", write("orders.yaml", V1))

    treaty("version", "deprecate", "orders", "1.0.0", "--plan", "https://example.com/guide")

    assert "deprecated" in (tmp_path / "public" / "index.html").read_text()


def test_a_command_that_reads_publishes_nothing(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    treaty("register", write("orders.yaml", V1))
    write("treaty.yaml", "catalog:\n  publish: public\n")

    treaty("search")

    assert not (tmp_path / "public").exists()


def test_a_site_that_cannot_be_written_does_not_fail_the_registration(
    treaty: Treaty, write: Write, tmp_path: Path
) -> None:
    write("treaty.yaml", "catalog:\n  publish: public\n")
    (tmp_path / "public").write_text("mine")

    result = treaty("register", write("orders.yaml", V1), write("more.yaml", V1_WITH_CITY))

    assert result.code == 0
    assert "the registry was changed, but publishing the catalog failed: " in result.errors
    assert (tmp_path / "public").read_text() == "mine"
    assert "1.1.0" in treaty("show", "orders").output
