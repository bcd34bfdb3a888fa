"""The public library: every name loads, and the examples of docs/library.md print what the page shows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import treaty

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+?)\n(?:(?!^## ).)*?```python\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE))
PLAIN = ("Compare two versions", "Lint a contract", "Keep versions in memory", "Keep versions in a database")


def run_example(title: str, *, replace: Mapping[str, str] = {}, **names: Any) -> list[str]:
    """Run the example below a title and return the lines it prints."""
    code, output = SECTIONS[title], StringIO()
    for text, replacement in replace.items():
        code = code.replace(text, replacement)
    with redirect_stdout(output):
        exec(compile(code, title, "exec"), names)  # noqa: S102
    return output.getvalue().splitlines()


def shown(title: str) -> list[str]:
    """Return what the page says that an example prints."""
    return re.findall(r"print\(.*\)  # (.*)$", SECTIONS[title], re.MULTILINE)


@pytest.mark.parametrize("title", PLAIN)
def test_an_example_prints_what_the_page_shows(title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert run_example(title) == shown(title)


def test_the_client_example_prints_what_the_page_shows(tmp_path: Path) -> None:
    title = "Talk to a registry server"
    server = subprocess.Popen(
        [str(Path(sys.executable).with_name("treaty")), "serve", "--port", "0", "--format", "json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["address"]

        assert run_example(title, replace={"http://127.0.0.1:8090": address}) == shown(title)
    finally:
        server.terminate()
        server.communicate()


def test_the_spark_example_prints_what_the_page_shows(spark: SparkSession) -> None:
    title = "Enforce a contract on Spark"

    assert run_example(title, spark=spark) == shown(title)


@pytest.mark.parametrize("name", treaty.__all__)
def test_a_public_name_loads_and_is_on_the_page(name: str) -> None:
    assert getattr(treaty, name) is not None
    assert name.startswith("__") or f"`{name}`" in PAGE


@pytest.mark.parametrize(
    ("module", "name", "extra"),
    [("sqlalchemy", "Registry", "registry"), ("httpx2", "RegistryClient", "registry"), ("pyspark", "enforce", "spark")],
)
def test_a_missing_extra_is_named(module: str, name: str, extra: str) -> None:
    code = f"import sys; sys.modules[{module!r}] = None\nfrom treaty import {name}"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].endswith(
        f"treaty.{name} needs the extra {extra!r}; install it with: pip install 'treaty[{extra}]'"
    )


def test_importing_treaty_loads_nothing_else() -> None:
    code = "import sys, treaty; print(sorted(name for name in sys.modules if name.startswith('treaty')))"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == "['treaty']"
