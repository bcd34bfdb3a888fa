"""Small parts of Markdown, in which text from documents stays text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from treaty.cli.render.printable import visible

_ACTIVE = re.compile(r"([\\`*_\[\]!|#~])")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table of cells that are Markdown already."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def escaped(text: str) -> str:
    """Return a text that stays text: no markup, no tag, no mention, no new line."""
    plain = _ACTIVE.sub(r"\\\1", visible(text)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return plain.replace("@", "&#64;")


def code(text: str) -> str:
    """Return a text as code, fit for a cell of a table."""
    return f"`{visible(text).replace('`', 'ˋ').replace('|', '¦')}`"
