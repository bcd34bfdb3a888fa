"""The SQL files that declarations name."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

from treaty.pipeline.declarations import Sql
from treaty.pipeline.reading.entries import Entry
from treaty.pipeline.reading.problems import MISSING_SQL

_LARGEST = 1_000_000


def read_sql(entry: Entry, folder: Path) -> Sql | None:
    """Read the file that `sql:` names, found from the project's folder; None where there is none."""
    named = entry.text("sql")
    if named is None:
        return None
    path = folder / named
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        _note(entry, f"no SQL file {path}", _nearest(named, folder))
    except OSError as error:
        _note(entry, f"cannot read {path}: {error.strerror}", "check the path")
    except (UnicodeDecodeError, ValueError):  # a path with a NUL is a ValueError too
        _note(entry, f"{_shown(named)} is no UTF-8 text", "save it as UTF-8")
    else:
        if len(content) > _LARGEST:
            _note(entry, f"{path} has more than {_LARGEST:,} bytes", "write a shorter query")
        elif not text.strip():
            _note(entry, f"{path} is empty", "write one SELECT into it")
        else:
            return Sql(path, text)
    return None


def _shown(named: str) -> str:
    return repr(named) if not named.isprintable() else named


def _note(entry: Entry, message: str, hint: str) -> None:
    entry.note(message, hint, "sql", kind=MISSING_SQL)


def _nearest(named: str, folder: Path) -> str:
    """Name the file with the nearest name, beside the one that is named or below the usual folder."""
    known = {path.stem: path for path in (*(folder / "sql").rglob("*.sql"), *(folder / named).parent.glob("*.sql"))}
    if close := get_close_matches(Path(named).stem, known, n=1):
        return f"did you mean {os.path.relpath(known[close[0]], folder)!r}?"
    return "write it, or correct the path; it is found from the project's folder"
