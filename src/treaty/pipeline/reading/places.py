"""Where things are: files that declarations name, and the declarations themselves."""

from __future__ import annotations

import re
from pathlib import Path

from treaty.contracts.findings import Place

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/.*")


def found_from(folder: Path, text: str) -> str:
    """Return an address as it is, and a relative path or pattern below the folder, `~` followed."""
    return text if _URL.fullmatch(text) else str(folder / Path(text).expanduser())


def place_at(at: str) -> Place:
    """Return the place of a declaration from its `at`: a file and a line."""
    source, colon, line = at.rpartition(":")
    return Place(source, int(line)) if colon and line.isdecimal() else Place(at)
