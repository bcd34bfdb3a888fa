"""Names of declarations and of their tables: what SQL and every catalog take without quotes."""

from __future__ import annotations

import re

from treaty.pipeline.declarations import Line

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
_LAST_PART = re.compile(r"[^.:/]+\Z")
_OTHER_SIGNS = re.compile(r"[^0-9A-Za-z_]")
NAME_HINT = "use letters, digits and _, with a letter first, 100 at most"


def is_name(text: str) -> bool:
    """Tell whether a text can name a declaration or a table."""
    return _NAME.fullmatch(text) is not None


def folded(name: str) -> str:
    """Return the name as catalogs compare it: without regard to case."""
    return name.lower()


def table_of(line: Line) -> str:
    """Return the table of a published line: the last part of its contract's id, `_v` and MAJOR."""
    last = _LAST_PART.search(line.contract)
    return f"{_OTHER_SIGNS.sub('_', last[0] if last else line.contract)}_v{line.major}"
