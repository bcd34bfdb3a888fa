"""A supported Java is found, or the error says what to install."""

from __future__ import annotations

from pathlib import Path

import pytest

from treaty.errors import Unavailable
from treaty.spark.java import find_java


def java(folder: Path, version: str) -> Path:
    """Create a fake `java` that prints only its home and version."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    message = f"    java.home = {folder}\\n    java.specification.version = {version}"
    program.write_text(f"#!/bin/sh\nprintf '{message}\\n' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("set_home", "on_path", "installed", "expected"),
    [
        ("17", "21", "17", "home"),
        (None, "21", "17", "path"),
        (None, None, "17", "installed"),
        ("11", "25", "17", "installed"),
        ("1.8", "17", None, "path"),
    ],
)
def test_the_first_supported_java_is_chosen(
    tmp_path: Path, set_home: str | None, on_path: str | None, installed: str | None, expected: str
) -> None:
    versions = {"home": set_home, "path": on_path, "installed": installed}
    homes = {name: java(tmp_path / name, version) for name, version in versions.items() if version}
    environment = {"PATH": str(homes["path"] / "bin")} if on_path else {"PATH": ""}
    if set_home:
        environment["JAVA_HOME"] = str(homes["home"])

    found = find_java(environment, [f"{tmp_path}/installed/bin/java"])

    assert found.home == homes[expected]
    assert found.is_supported


def test_without_java_the_error_says_what_to_install() -> None:
    with pytest.raises(Unavailable, match=r"none was found; install Java 17 .*openjdk-17-jre-headless.*JAVA_HOME"):
        find_java({"PATH": "", "JAVA_HOME": "/nowhere"}, [])


def test_an_unsupported_java_is_named(tmp_path: Path) -> None:
    home = java(tmp_path / "new", "25")

    with pytest.raises(Unavailable, match=f"only Java 25 in {home}"):
        find_java({"PATH": "", "JAVA_HOME": str(home)}, [])
