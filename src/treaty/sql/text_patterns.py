r"""Render LIKE and RLIKE of rules so that no value can stall them.

Spark turns LIKE into a backtracking regular expression: `LIKE '%a%a%b'` needs seconds for one text of 1,000 letters.
Each part between two `%` is matched at its first occurrence instead, without backtracking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sqlglot import exp

from treaty.contracts.sql_quoting import quote_string
from treaty.errors import InvalidDocument
from treaty.regex.translation import translate
from treaty.sql.rule_expressions import PREDICATES, render_operand
from treaty.sql.rule_renderer import NodeRenderer, Renderer, node_renderer

MAX_LIKE_LENGTH = 500
_ANY, _ONE = "%", "_"
_SIMPLE = re.compile("[^%]*%?[^%]*|%[^%]+%", re.DOTALL)
"""Spark compares these without a regular expression, as long as they have no `_`."""


def _like(r: Renderer, node: exp.Like | exp.ILike, escape: str = "\\") -> str:
    subject = render_operand(r, node.this, *PREDICATES)
    sql = render_like(r, node, subject, node.expression, escape, folds=isinstance(node, exp.ILike))
    return f"(NOT {sql})" if node.args.get("negate") else sql


def _escape(r: Renderer, node: exp.Escape) -> str:
    mark = node.expression
    is_mark = isinstance(mark, exp.Literal) and mark.is_string and len(mark.name) == 1 and mark.name not in "%_"
    if not is_mark or not isinstance(node.this, (exp.Like, exp.ILike)):
        raise r.refuse(node, "has an unsupported ESCAPE", "write LIKE '…' ESCAPE '!' with one character")
    r.known(node.this)
    return _like(r, node.this, mark.name)


def render_like(r: Renderer, node: Any, subject: str, pattern: Any, escape: str = "\\", *, folds: bool) -> str:
    """Render LIKE with a literal pattern."""
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        raise r.refuse(node, "has LIKE with a pattern that is not a literal", "write the pattern as a string literal")
    value = pattern.name
    if len(value) > MAX_LIKE_LENGTH:
        raise r.refuse(node, f"has LIKE with more than {MAX_LIKE_LENGTH} characters", "write a shorter pattern")
    parts = _parts(r, node, value, escape)
    if folds:
        if not value.isascii():
            raise r.refuse(node, "has ILIKE with letters other than a to z", "write lower(…) LIKE '…'")
        subject, parts = f"lower({subject})", [(kind, text.lower()) for kind, text in parts]
    plain = "".join(text if kind == "" else kind for kind, text in parts)
    if all(kind != _ONE for kind, _ in parts) and not {*"%_\\"} & {*_literals(parts)} and _SIMPLE.fullmatch(plain):
        return f"({subject} LIKE {quote_string(plain)})"
    return f"({subject} RLIKE {quote_string(_expression(parts))})"


def _literals(parts: list[tuple[str, str]]) -> Iterator[str]:
    return (character for kind, text in parts if kind == "" for character in text)


def _parts(r: Renderer, node: Any, pattern: str, escape: str) -> list[tuple[str, str]]:
    """Split a pattern into wildcards and single characters; consecutive `%` count as one."""
    parts: list[tuple[str, str]] = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            escaped = next(characters, None)
            if escaped is None or escaped not in (_ANY, _ONE, escape):
                raise r.refuse(
                    node,
                    f"has LIKE with {escape!r} before a character other than % and _",
                    f"write {escape * 2!r} for itself",
                )
            parts.append(("", escaped))
        elif character not in (_ANY, _ONE):
            parts.append(("", character))
        elif character == _ONE or not parts or parts[-1][0] != _ANY:
            parts.append((character, ""))
    return parts


def _expression(parts: list[tuple[str, str]]) -> str:
    """Return a regular expression that matches each part between two `%` where it first occurs, atomically."""
    pieces = [""]
    for kind, text in parts:
        if kind == _ANY:
            pieces.append("")
        else:
            pieces[-1] += "." if kind == _ONE else re.sub(r"([^A-Za-z0-9])", _escaped, text)
    start = rf"(?s)\A{pieces[0]}"
    if len(pieces) == 1:
        return rf"{start}\z"
    middle = "".join(f"(?>.*?{piece})" for piece in pieces[1:-1])
    return start + middle + (rf".*{pieces[-1]}\z" if pieces[-1] else "")


def _escaped(match: re.Match[str]) -> str:
    return f"\\x{{{ord(match[0]):x}}}"


def render_regex_match(r: Renderer, node: Any, subject: str, pattern: Any) -> str:
    """Render a match with a literal RE2 pattern; values that are too long for it do not match."""
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        raise r.refuse(node, "has RLIKE with a pattern that is not a literal", "write the pattern as a string literal")
    try:
        java = translate(pattern.name)
    except InvalidDocument as error:
        raise r.refuse(pattern, f"has a pattern that cannot be used ({error})", "write another in RE2 syntax") from None
    return f"if(length({subject}) > {java.max_length}, false, {subject} RLIKE {quote_string(java.text)})"


def _rlike(r: Renderer, node: exp.RegexpLike) -> str:
    return render_regex_match(r, node, render_operand(r, node.this, *PREDICATES), node.expression)


PATTERN_RENDERERS: dict[type[exp.Expr], NodeRenderer] = {
    exp.Like: node_renderer(_like, "this expression negate"),
    exp.ILike: node_renderer(_like, "this expression negate"),
    exp.Escape: node_renderer(_escape, "this expression"),
    exp.RegexpLike: node_renderer(_rlike, "this expression"),
}
