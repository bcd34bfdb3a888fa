"""Markdown tables, and escaping of text from documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from treaty.cli.render.plain_text import printable

_ACTIVE = re.compile(r"([\\`*_\[\]!|#~])")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; its cells are Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def escape_markdown(text: str) -> str:
    """Escape text: no markup, tags, mentions or line breaks."""
    plain = _ACTIVE.sub(r"\\\1", printable(text)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return plain.replace("@", "&#64;")


def code(text: str) -> str:
    """Return text as inline code that fits into a table cell."""
    return f"`{printable(text).replace('`', 'ˋ').replace('|', '¦')}`"
