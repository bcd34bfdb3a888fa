"""Quoting of strings, identifiers and comments for Spark SQL."""

from __future__ import annotations

_VARIABLE_START = "${"
"""Spark substitutes `${env:NAME}` and similar variables in SQL text, even inside quotes and comments."""


def quote_string(value: str) -> str:
    """Return a string literal; text that quoting, escaping or substitution could change is written as bytes."""
    is_plain = value.isprintable() and "'" not in value and "\\" not in value and _VARIABLE_START not in value
    return f"'{value}'" if is_plain else f"CAST(X'{value.encode().hex().upper()}' AS STRING)"


def identifier_problem(name: str) -> str | None:
    """Return why a name cannot be used safely in Spark SQL, or None if it can."""
    if not name:
        return "an empty name"
    if not name.isprintable():
        return "a name with an invisible character"
    return f"a name with {_VARIABLE_START!r}, which Spark would substitute" if _VARIABLE_START in name else None


def quote_identifier(name: str) -> str:
    """Return an identifier in backticks; raises ValueError for unsafe names."""
    problem = identifier_problem(name)
    if problem:
        raise ValueError(f"{problem}: {name!r}")
    return "`" + name.replace("`", "``") + "`"


def line_comment(text: str) -> str:
    """Return a one-line comment without variables that Spark would substitute."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return f"-- {plain.replace(_VARIABLE_START, '$ {')}"
