"""A fixture that writes files for the readers."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str | bytes], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the folder of the test; a name that ends in .gz is compressed."""

    def to_file(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        written = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(written) if name.endswith(".gz") else written)
        return str(path)

    return to_file
