"""Texts and names written into Spark SQL so that Spark reads the same again."""

from __future__ import annotations

_SUBSTITUTED = "${"
"""Spark replaces `${env:NAME}` and its like in any SQL text before it reads it, even inside quotes and comments."""


def quote_string(value: str) -> str:
    """Write a text; whatever quotes, escapes or substitutions could change is written by its bytes."""
    is_plain = value.isprintable() and "'" not in value and "\\" not in value and _SUBSTITUTED not in value
    return f"'{value}'" if is_plain else f"CAST(X'{value.encode().hex().upper()}' AS STRING)"


def identifier_problem(name: str) -> str | None:
    """Say why Spark could not be given a name safely, or None where it can."""
    if not name:
        return "an empty name"
    if not name.isprintable():
        return "a name with a character that cannot be seen"
    return f"a name with {_SUBSTITUTED!r}, which Spark would replace" if _SUBSTITUTED in name else None


def quote_identifier(name: str) -> str:
    """Write a name in backticks."""
    problem = identifier_problem(name)
    if problem:
        raise ValueError(f"{problem}: {name!r}")
    return "`" + name.replace("`", "``") + "`"


def line_comment(text: str) -> str:
    """Write a comment that ends with its line and that nothing is substituted in."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return f"-- {plain.replace(_SUBSTITUTED, '$ {')}"
