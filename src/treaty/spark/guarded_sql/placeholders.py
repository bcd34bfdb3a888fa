"""The words in braces that stand for the rule's own object and field, such as `{object}` and `${column}`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from treaty.spark.guarded_sql.lexing import Kind, Lexeme
from treaty.spark.guarded_sql.refusing import refused
from treaty.spark.guarded_sql.scope import Scope

OBJECT = frozenset({"object", "table", "model"})
FIELD = frozenset({"property", "column", "field"})
QUALIFIERS = frozenset({"schema", "database", "dataset", "catalog", "project"})
"""Where the table lies is the caller's business: these fall away before a table."""


def filled(text: str, found: Sequence[Lexeme], scope: Scope) -> Iterator[Lexeme]:
    """Yield the lexemes with every placeholder replaced by the names it stands for."""
    place = 0
    while place < len(found):
        lexeme = found[place]
        place += 1
        if lexeme.kind is not Kind.PLACEHOLDER:
            yield lexeme
            continue
        word = lexeme.value.strip("${}").lower()
        if word in OBJECT:
            yield Lexeme(Kind.NAME, scope.object.name, lexeme.at)
        elif word in FIELD:
            yield from _field(text, lexeme, scope)
        elif word in QUALIFIERS and place < len(found) and found[place].value == ".":
            place += 1
        else:
            known = ", ".join(f"{{{name}}}" for name in sorted(OBJECT | FIELD))
            raise refused(text, lexeme.at, f"has the unknown placeholder {lexeme.value}", f"use one of: {known}")


def _field(text: str, lexeme: Lexeme, scope: Scope) -> Iterator[Lexeme]:
    if scope.field is None:
        then = "name the field, or move the rule below its field"
        raise refused(text, lexeme.at, f"has {lexeme.value}, but the rule stands on no field", then)
    if any(step.is_mark for step in scope.field.steps):
        then = f"write the rule on the object, with exists(…) or forall(…) over {scope.field.steps[0].text}"
        raise refused(text, lexeme.at, f"has {lexeme.value}, but {scope.field} stands inside a list or map", then)
    for number, step in enumerate(scope.field.steps):
        if number:
            yield Lexeme(Kind.SIGN, ".", lexeme.at)
        yield Lexeme(Kind.NAME, step.text, lexeme.at)
