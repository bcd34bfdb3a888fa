"""Parse SQL into syntax trees: rules from checked lexemes, project queries and expressions from their text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from treaty.contracts.findings import Finding, Place, Severity
from treaty.errors import InvalidDocument
from treaty.sql.dialect import (
    RULE_TYPES,
    offset_of,
    project_dialect,
    rule_dialect,
    strict_parser,
    type_calls_as_functions,
)
from treaty.sql.functions import words
from treaty.sql.lexer import Kind, Lexeme, rule_error

_STAND_INS = {Kind.NAME: "`q`", Kind.TEXT: "'t'", Kind.BYTES: "x'00'", Kind.NUMBER: "0"}
"""What sqlglot's tokenizer sees instead of a quoted name, a text, bytes or a number; the parser receives the value."""
_QUERY_STARTS = frozenset({"SELECT", "WITH"})
_BEFORE_RULE_TYPE = frozenset({TokenType.ALIAS, TokenType.DCOLON})
_BEFORE_TYPE = _BEFORE_RULE_TYPE | {TokenType.LT, TokenType.COLON}
_TYPES = words(
    "ARRAY BIGINT BINARY BOOLEAN CHAR DATE DECIMAL DOUBLE FLOAT INT MAP SMALLINT STRING STRUCT TIMESTAMP TINYINT"
)
_MAX_TEXT_LENGTH = 1_000_000
_VARIABLE = "${"


def parse_rule_tree(text: str, lexemes: Sequence[Lexeme]) -> exp.Expr:
    """Return the syntax tree of one query or one condition of a contract."""
    parser = strict_parser(rule_dialect())
    try:
        tokens = _rule_tokens(text, lexemes)
        trees = parser.parse(tokens, text) if _is_query(lexemes) else parser.parse_into(exp.Condition, tokens, text)
    except InvalidDocument:
        raise
    except SqlglotError as error:
        raise _unreadable_rule(text, error) from None
    except Exception:  # sqlglot may fail in any way on text that is not SQL
        raise _unreadable_rule(text) from None
    if len(trees) != 1 or trees[0] is None:
        raise _unreadable_rule(text)
    return trees[0]


def _is_query(lexemes: Sequence[Lexeme]) -> bool:
    first = next((lexeme for lexeme in lexemes if lexeme.value != "("), lexemes[0])
    return first.kind is Kind.WORD and first.value.upper() in _QUERY_STARTS


def _rule_tokens(text: str, lexemes: Sequence[Lexeme]) -> list[Token]:
    """Let sqlglot classify the keywords, and put the values and offsets of the lexemes into its tokens."""
    shown: list[str] = []
    lexeme_at: dict[int, Lexeme] = {}
    length = 0
    for lexeme in lexemes:
        lexeme_at[length] = lexeme
        shown.append(_STAND_INS.get(lexeme.kind, lexeme.value))
        length += len(shown[-1]) + 1
    tokens: list[Token] = []
    for token in rule_dialect().tokenize(" ".join(shown)):
        known = lexeme_at.get(token.start)
        if known is None:
            raise _unreadable_rule(text)
        value = known.value if known.kind in _STAND_INS else token.text
        tokens.append(Token(token.token_type, value, 1, known.at, known.at, known.at))
    return type_calls_as_functions(tokens, RULE_TYPES, _BEFORE_RULE_TYPE)


def _unreadable_rule(text: str, error: SqlglotError | None = None) -> InvalidDocument:
    details = getattr(error, "errors", None) or [{}]
    hint = "write one SELECT over the tables of the contract, or one condition on a row, in Spark SQL"
    return rule_error(text, details[0].get("col"), "cannot be parsed", hint)


@dataclass(frozen=True)
class SqlText:
    """SQL of a project, with its source and first line for the place of findings."""

    source: str
    text: str
    first_line: int | None = 1
    """None where only the source is known."""

    def line_of(self, node: exp.Expr | None) -> int | None:
        """Return the line that a node begins on; the first line where it is not known."""
        offset = offset_of(node) if node is not None else None
        if offset is None or self.first_line is None:
            return self.first_line
        return self.first_line + self.text.count("\n", 0, offset)

    def error(self, code: str, message: str, hint: str, node: exp.Expr | None = None) -> Finding:
        """Return an error finding at a node of this text."""
        place = Place(self.source, self.line_of(node))
        return Finding(code, Severity.ERROR, message, place=place, hint=hint)


def parse_select(text: SqlText) -> exp.Query:
    """Return the tree of the only query of a text; anything else is refused."""
    tokens = _project_tokens(text)
    parsed = _parse(text, lambda: strict_parser(project_dialect()).parse(tokens, text.text))
    trees = [tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)]
    if len(trees) > 1:
        finding = text.error("sql-statement", "there is more than one statement", "write one SELECT", trees[1])
        raise error_from_findings(finding)
    tree = trees[0] if trees else None
    bare = tree.unnest() if isinstance(tree, exp.Subquery) else tree
    if not isinstance(bare, (exp.Select, exp.SetOperation)):
        raise error_from_findings(text.error("sql-statement", "this is not a query", "write one SELECT", tree))
    assert isinstance(tree, exp.Query)  # noqa: S101  a query or one in parentheses
    return tree


def parse_expression(text: SqlText) -> exp.Expr:
    """Return the tree of one expression, such as a condition."""
    tokens = _project_tokens(text)
    trees = _parse(text, lambda: strict_parser(project_dialect()).parse_into(exp.Condition, tokens, text.text))
    if len(trees) != 1 or trees[0] is None:
        finding = text.error("sql-syntax", "this is not an expression", "write one expression in Spark SQL")
        raise error_from_findings(finding)
    return trees[0]


def error_from_findings(*findings: Finding) -> InvalidDocument:
    """Return an error that carries findings, with the first of them as its message."""
    first = findings[0]
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return InvalidDocument(f"{first.place}: {first.message}; {first.hint}{more}", findings)


def _parse(text: SqlText, parse: Callable[[], list[exp.Expr | None]]) -> list[exp.Expr | None]:
    try:
        return parse()
    except SqlglotError as error:
        raise _unreadable(text, error) from None
    except RecursionError:
        finding = text.error("sql-syntax", "this is nested too deeply", "split it into CTEs")
        raise error_from_findings(finding) from None


def _project_tokens(text: SqlText) -> list[Token]:
    if len(text.text) > _MAX_TEXT_LENGTH:
        message = f"this is longer than {_MAX_TEXT_LENGTH:,} characters"
        raise error_from_findings(text.error("sql-syntax", message, "split it"))
    if _VARIABLE in text.text:
        hint = "write the value itself, so that every run uses the same text"
        message = "Spark would replace ${…} in this text before parsing it"
        raise error_from_findings(text.error("sql-variable", message, hint))
    try:
        tokens = project_dialect().tokenize(text.text)
    except SqlglotError as error:
        raise _unreadable(text, error) from None
    if any(token.token_type is TokenType.PIPE_GT for token in tokens):
        message = "the pipe syntax |> is not supported"
        raise error_from_findings(text.error("sql-syntax", message, "write a SELECT with CTEs"))
    if not tokens:
        raise error_from_findings(text.error("sql-syntax", "the text is empty", "write one SELECT"))
    return type_calls_as_functions(tokens, _TYPES, _BEFORE_TYPE)


def _unreadable(text: SqlText, error: SqlglotError) -> InvalidDocument:
    details = (getattr(error, "errors", None) or [{}])[0]
    near, line = details.get("highlight"), details.get("line")
    message = f"this cannot be parsed near {near!r}" if near else "this cannot be parsed"
    at = text.first_line + line - 1 if text.first_line is not None and line else text.first_line
    hint = "write one SELECT in Spark SQL"
    return error_from_findings(Finding("sql-syntax", Severity.ERROR, message, place=Place(text.source, at), hint=hint))
