"""Texts and names as Spark reads them, and written so that Spark reads the same again."""

from __future__ import annotations

import re

from treaty.contracts.sql_quoting import name_problem, name_sql, text_sql

__all__ = ["name_problem", "name_sql", "text_sql", "unescaped"]

_ESCAPE = re.compile(
    r"\\(?:u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<octal>[01][0-7]{2})|(?P<one>.))", re.DOTALL
)
_NAMED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": r"\%", "_": r"\_"}


def unescaped(body: str) -> str | None:
    r"""Return the value of a text between its quotes, such as ``it\'s``; None where it is no text."""
    try:
        value = _ESCAPE.sub(_character, body)
        return value.encode("utf-16", "surrogatepass").decode("utf-16")
    except (ValueError, OverflowError):
        return None


def _character(found: re.Match[str]) -> str:
    code = found["u"] or found["U"]
    if code:
        return chr(int(code, 16))
    if found["octal"]:
        return chr(int(found["octal"], 8))
    return _NAMED.get(found["one"], found["one"])
