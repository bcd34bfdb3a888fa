"""Working folders: landed files, the project, its contracts and the warehouse."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.peers import HOME
from benchmarks.pipeline.event_files import FOLDER, files_in

_RETAIL = HOME / "examples" / "retail"
_KEPT_OUT = shutil.ignore_patterns(".treaty", "landing", "feeds")


@contextmanager
def workspace(name: str) -> Iterator[Path]:
    """Lay a folder out, and remove it with everything that was written there."""
    folder = FOLDER / f"work-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        shutil.copytree(_RETAIL / "pipeline", folder / "pipeline", ignore=_KEPT_OUT)
        shutil.copytree(_RETAIL / "contracts", folder / "contracts")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def deliver(history: Path, folder: Path) -> None:
    """Let the files of a wave arrive, as further names of the same bytes."""
    for file in files_in(history):
        place = landing(folder) / file.parent.name
        place.mkdir(parents=True, exist_ok=True)
        os.link(file, place / f"{history.name}-{file.name}")


def empty(folder: Path) -> None:
    """Remove what was made in a folder, and leave what arrived."""
    for made in ("lake", "feed", "local", "pipeline/.treaty", "pipeline/feeds"):
        shutil.rmtree(folder / made, ignore_errors=True)


def landing(folder: Path) -> Path:
    """Return where files arrive."""
    return folder / "pipeline" / "landing"


def size_of(folder: Path) -> int:
    """Return the bytes of the tables in a folder."""
    return sum(file.stat().st_size for file in (folder / "lake").rglob("*") if file.is_file())
