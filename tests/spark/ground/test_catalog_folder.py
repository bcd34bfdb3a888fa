"""A catalog in a file has a folder to be in before anybody has run anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from treaty.errors import Unavailable
from treaty.spark.session import create_catalog_folder
from treaty.spark.session_options import IcebergCatalog


def _catalog(uri: str) -> IcebergCatalog:
    return IcebergCatalog(uri, "warehouse")


def test_the_folder_of_a_file_is_made(tmp_path: Path) -> None:
    create_catalog_folder(_catalog(f"jdbc:sqlite:{tmp_path}/new/.treaty/catalog.db?busy_timeout=1"))

    assert [path.name for path in (tmp_path / "new").iterdir()] == [".treaty"]


@pytest.mark.parametrize("uri", ["jdbc:sqlite::memory:", "jdbc:postgresql://db/catalog"])
def test_what_is_no_file_needs_no_folder(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    create_catalog_folder(_catalog(uri))

    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")

    with pytest.raises(
        Unavailable, match=r"cannot create the folder .*/taken/\.treaty for the catalog: .*; change spark.ice"
    ):
        create_catalog_folder(_catalog(f"jdbc:sqlite:{tmp_path}/taken/.treaty/catalog.db"))
