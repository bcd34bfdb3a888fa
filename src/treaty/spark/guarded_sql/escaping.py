"""Texts and names as Spark reads them, and written so that Spark reads the same again."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\\(?:u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<octal>[01][0-7]{2})|(?P<one>.))", re.DOTALL
)
_NAMED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": r"\%", "_": r"\_"}
_SUBSTITUTED = "${"
"""Spark replaces `${env:NAME}` and its like in any SQL text before it reads it, even inside quotes."""


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


def text_sql(value: str) -> str:
    """Write a text; whatever quotes, escapes or substitutions could change is written by its bytes."""
    is_plain = value.isprintable() and "'" not in value and "\\" not in value and _SUBSTITUTED not in value
    return f"'{value}'" if is_plain else f"CAST(X'{value.encode().hex().upper()}' AS STRING)"


def name_problem(name: str) -> str | None:
    """Say why Spark could not be given a name safely, or None where it can."""
    if not name:
        return "an empty name"
    if not name.isprintable():
        return "a name with a character that cannot be seen"
    return f"a name with {_SUBSTITUTED!r}, which Spark would replace" if _SUBSTITUTED in name else None


def name_sql(name: str) -> str:
    """Write a name in backticks."""
    problem = name_problem(name)
    if problem:
        raise ValueError(f"{problem}: {name!r}")
    return "`" + name.replace("`", "``") + "`"
