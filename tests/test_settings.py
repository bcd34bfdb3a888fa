"""Settings are read once, from the nearest project file and the environment over it."""

from __future__ import annotations

from pathlib import Path

import pytest

from treaty.contracts.reading import Limits
from treaty.errors import InvalidDocument, NotFound
from treaty.settings import Settings, load_settings


def _project(folder: Path, text: str) -> Path:
    file = folder / "treaty.yaml"
    file.write_text(text)
    return file


def test_without_a_project_file_every_setting_has_its_default(tmp_path: Path) -> None:
    assert load_settings(start=tmp_path, environment={}) == Settings()


def test_the_nearest_project_file_above_is_used(tmp_path: Path) -> None:
    _project(tmp_path, "name: retail\ncompatibility: full\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)

    settings = load_settings(start=inner, environment={})

    assert (settings.name, settings.compatibility) == ("retail", "full")


def test_the_search_ends_at_the_root_of_the_repository(tmp_path: Path) -> None:
    _project(tmp_path, "name: outside\n")
    (tmp_path / "repository" / ".git").mkdir(parents=True)

    assert load_settings(start=tmp_path / "repository", environment={}).name is None


def test_the_environment_goes_over_the_file(tmp_path: Path) -> None:
    file = _project(tmp_path, "compatibility: full\nlimits: {depth: 10}\n")

    settings = load_settings(file, environment={"TREATY_COMPATIBILITY": "none", "TREATY_LIMITS_BYTES": "5000"})

    assert settings.compatibility == "none"
    assert settings.limits == Limits(bytes=5000, depth=10)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("compatability: full\n", "treaty.yaml:1: unknown setting 'compatability'; did you mean 'compatibility'"),
        ("limits: {depth: -1}\n", "limits.depth must be a whole number above 0, not -1"),
        ("limits: {width: 3}\n", "unknown limit 'width'; use: aliases, bytes, depth, nodes"),
        ("waivers: none\n", "'waivers' must be a list, not 'none'"),
        ("lint: {rules: [a]}\n", "'rules' must be a mapping"),
        ("- a\n", "a document is a mapping"),
    ],
)
def test_a_wrong_setting_says_what_and_where(tmp_path: Path, text: str, said: str) -> None:
    file = _project(tmp_path, text)

    with pytest.raises(InvalidDocument) as caught:
        load_settings(file, environment={})

    assert said in str(caught.value)


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="treaty init"):
        load_settings(tmp_path / "nothing.yaml", environment={})


def test_a_wrong_number_in_the_environment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="TREATY_LIMITS_DEPTH must be a whole number"):
        load_settings(start=tmp_path, environment={"TREATY_LIMITS_DEPTH": "deep"})
