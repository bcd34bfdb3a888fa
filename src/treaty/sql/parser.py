"""Read SQL as a syntax tree, every function by the name it was given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from treaty.contracts.findings import Finding, Place, Severity
from treaty.errors import InvalidDocument
from treaty.sql.functions import words
from treaty.sql.lexer import Kind, Lexeme, rule_error

_KEPT = ("CAST", "EXTRACT", "POSITION", "SUBSTR", "SUBSTRING", "TRIM", "TRY_CAST")
"""Functions with words between their arguments."""
_LONGEST = 1_000_000
_VARIABLE = "${"


def _called(name: str) -> Callable[[], exp.Expr]:
    return lambda: exp.Anonymous(this=name, expressions=[])


class _PlainParser(SparkParser):
    """Spark's parser without its translations of functions, and without statements other than queries."""

    FUNCTIONS: ClassVar = {}
    STATEMENT_PARSERS: ClassVar = {TokenType.SEMICOLON: SparkParser.STATEMENT_PARSERS[TokenType.SEMICOLON]}
    ARRAY_CONSTRUCTORS: ClassVar = {}
    FUNCTION_PARSERS: ClassVar = {name: SparkParser.FUNCTION_PARSERS[name] for name in _KEPT}
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": SparkParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}
    NO_PAREN_FUNCTIONS: ClassVar = {token: _called(token.name.lower()) for token in SparkParser.NO_PAREN_FUNCTIONS}


class _Plain(Spark):
    Parser = _PlainParser


@dataclass(frozen=True)
class SqlText:
    """A text of SQL, and where it stands, so that findings can say so."""

    source: str
    text: str
    first_line: int | None = 1
    """None where only the source is known."""

    def line_of(self, node: exp.Expr | None) -> int | None:
        """Return the line that a node begins on, if its place is known."""
        starts = [item.meta["start"] for item in node.walk() if "start" in item.meta] if node is not None else []
        return self._line(min(starts)) if starts else self.first_line

    def found(self, finding: str, message: str, hint: str, node: exp.Expr | None = None) -> Finding:
        """Return an error in this text."""
        place = Place(self.source, self.line_of(node))
        return Finding(finding, Severity.ERROR, message, place=place, hint=hint)

    def _line(self, start: int) -> int | None:
        return None if self.first_line is None else self.first_line + self.text.count("\n", 0, start)


def parse_select(text: SqlText) -> exp.Query:
    """Return the tree of one query; anything else is refused."""
    tokens = _tokens(text)
    parser = _PlainParser(dialect=_dialect(), error_level=ErrorLevel.IMMEDIATE)
    parsed = _parsed(text, lambda: parser.parse(tokens, text.text))
    trees = [tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)]
    if len(trees) > 1:
        raise error_from_findings(
            text.found("sql-statement", "there is more than one statement", "write one SELECT", trees[1])
        )
    tree = trees[0] if trees else None
    bare = tree.unnest() if isinstance(tree, exp.Subquery) else tree
    if not isinstance(bare, (exp.Select, exp.SetOperation)):
        raise error_from_findings(text.found("sql-statement", "this is no query", "write one SELECT", tree))
    assert isinstance(tree, exp.Query)  # noqa: S101  a query or one in parentheses
    return tree


def parse_expression(text: SqlText) -> exp.Expr:
    """Return the tree of one expression, such as a condition."""
    tokens = _tokens(text)
    parser = _PlainParser(dialect=_dialect(), error_level=ErrorLevel.IMMEDIATE)
    trees = _parsed(text, lambda: parser.parse_into(exp.Condition, tokens, text.text))
    if len(trees) != 1 or trees[0] is None:
        raise error_from_findings(
            text.found("sql-syntax", "this is no expression", "write one expression in Spark's SQL")
        )
    return trees[0]


def error_from_findings(*findings: Finding) -> InvalidDocument:
    """Return the error that carries findings, with the first of them as its words."""
    first = findings[0]
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return InvalidDocument(f"{first.place}: {first.message}; {first.hint}{more}", findings)


def _parsed(text: SqlText, parse: Callable[[], list[exp.Expr | None]]) -> list[exp.Expr | None]:
    try:
        return parse()
    except SqlglotError as error:
        raise _unreadable(text, error) from None
    except RecursionError:
        raise error_from_findings(text.found("sql-syntax", "this is nested too deeply", "split it into CTEs")) from None


def _tokens(text: SqlText) -> list[Token]:
    if len(text.text) > _LONGEST:
        raise error_from_findings(text.found("sql-syntax", f"this is longer than {_LONGEST:,} characters", "split it"))
    if _VARIABLE in text.text:
        hint = "write the value itself, so that every run reads the same"
        raise error_from_findings(
            text.found("sql-variable", "Spark would replace ${…} in this text before it reads it", hint)
        )
    try:
        tokens = _dialect().tokenize(text.text)
    except SqlglotError as error:
        raise _unreadable(text, error) from None
    if any(token.token_type is TokenType.PIPE_GT for token in tokens):
        raise error_from_findings(text.found("sql-syntax", "there is a pipe |>", "write a SELECT with CTEs"))
    if not tokens:
        raise error_from_findings(text.found("sql-syntax", "the text says nothing", "write one SELECT"))
    return [_as_function(tokens, number) for number in range(len(tokens))]


_BEFORE_A_TYPE = frozenset({TokenType.ALIAS, TokenType.DCOLON, TokenType.LT, TokenType.COLON})
_TYPE_FUNCTIONS = words(
    "array bigint binary boolean char date decimal double float int map smallint string struct timestamp tinyint"
)


def _as_function(tokens: list[Token], number: int) -> Token:
    """Return the token, a type's name before a parenthesis being a function, as in date(x)."""
    token = tokens[number]
    is_called = number + 1 < len(tokens) and tokens[number + 1].token_type is TokenType.L_PAREN
    is_type = number > 0 and tokens[number - 1].token_type in _BEFORE_A_TYPE
    if is_called and token.text.upper() == "DECIMAL":  # decimal(12, 2) may stand inside a type
        is_type = is_type or (number + 2 < len(tokens) and tokens[number + 2].token_type is TokenType.NUMBER)
    if token.text.lower() in _TYPE_FUNCTIONS and is_called and not is_type:
        return Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end)
    return token


def _unreadable(text: SqlText, error: SqlglotError) -> InvalidDocument:
    details = (getattr(error, "errors", None) or [{}])[0]
    near = details.get("highlight")
    line = details.get("line")
    message = f"this cannot be read near {near!r}" if near else "this cannot be read"
    at = text.first_line + line - 1 if text.first_line is not None and line else text.first_line
    hint = "write one SELECT in Spark's SQL"
    return error_from_findings(Finding("sql-syntax", Severity.ERROR, message, place=Place(text.source, at), hint=hint))


@cache
def _dialect() -> _Plain:
    return _Plain()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TYPES = _words(
    """
    BIGINT BINARY BOOLEAN BYTE CHAR DATE DEC DECIMAL DOUBLE FLOAT INT INTEGER LONG NUMERIC REAL SHORT SMALLINT STRING
    TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_NTZ TINYINT VARCHAR
    """
)
_KEYWORDS = {"GROUP BY", "ORDER BY", "PARTITION BY"} | _words(
    """
    ALL AND ANTI AS ASC BETWEEN CASE CROSS CURRENT_DATE CURRENT_TIMESTAMP DESC DISTINCT DIV ELSE END ESCAPE EXCEPT
    EXISTS FALSE FILTER FROM FULL HAVING ILIKE IN INNER INTERSECT INTERVAL IS JOIN LEFT LIKE LIMIT MINUS NOT NULL ON OR
    OUTER OVER RANGE RECURSIVE REGEXP RIGHT RLIKE ROWS SELECT SEMI THEN TRUE UNION USING WHEN WHERE WITH
    """
)
_STAND_INS = {Kind.NAME: "`q`", Kind.TEXT: "'t'", Kind.BYTES: "x'00'", Kind.NUMBER: "0"}
"""What sqlglot's tokenizer is shown in place of a quoted name, a text, bytes or a number; the parser gets the value."""
_AFTER_WHICH_A_TYPE_STANDS = frozenset({TokenType.ALIAS, TokenType.DCOLON})
_QUERY_STARTS = frozenset({"SELECT", "WITH"})


class _PlainTokenizer(Spark.Tokenizer):
    """Spark's tokenizer with the keywords that a rule may need; any other word is a name."""

    KEYWORDS: ClassVar[dict[str, TokenType]] = {
        word: kind
        for word, kind in Spark.Tokenizer.KEYWORDS.items()
        if not word[0].isalpha() or word in _KEYWORDS | _TYPES
    }
    COMMANDS: ClassVar[set[TokenType]] = set()


class _PlainParserRuleParser(SparkParser):
    """Spark's parser without its translations of functions and without statements."""

    FUNCTIONS: ClassVar = {}
    STATEMENT_PARSERS: ClassVar = {}
    ARRAY_CONSTRUCTORS: ClassVar = {}
    FUNCTION_PARSERS: ClassVar = {
        name: parser for name, parser in SparkParser.FUNCTION_PARSERS.items() if name in ("CAST", "TRY_CAST", "EXTRACT")
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": SparkParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}


class _PlainRuleParser(Spark):
    Tokenizer = _PlainTokenizer
    Parser = _PlainParserRuleParser


def parse_rule_tree(text: str, found: Sequence[Lexeme]) -> exp.Expr:
    """Return the syntax tree of one query or one condition."""
    parser = _PlainParserRuleParser(dialect=_dialect_rule_parser(), error_level=ErrorLevel.IMMEDIATE)
    try:
        tokens = _tokens_rule_parser(text, found)
        trees = parser.parse(tokens, text) if _is_query(found) else parser.parse_into(exp.Condition, tokens, text)
    except InvalidDocument:
        raise
    except SqlglotError as error:
        raise _unreadable_rule_parser(text, error) from None
    except Exception:  # whatever a foreign parser trips over is one text that cannot be read
        raise _unreadable_rule_parser(text) from None
    if len(trees) != 1 or trees[0] is None:
        raise _unreadable_rule_parser(text)
    return trees[0]


def offset_of(node: exp.Expr) -> int | None:
    """Return where a node, or the first thing inside it, stands in the text."""
    return min((item.meta["start"] for item in node.walk() if "start" in item.meta), default=None)


def _is_query(found: Sequence[Lexeme]) -> bool:
    first = next((lexeme for lexeme in found if lexeme.value != "("), found[0])
    return first.kind is Kind.WORD and first.value.upper() in _QUERY_STARTS


def _tokens_rule_parser(text: str, found: Sequence[Lexeme]) -> list[Token]:
    """Let sqlglot name the keywords, and put the values and places of the lexemes into its tokens."""
    shown: list[str] = []
    by_place: dict[int, Lexeme] = {}
    length = 0
    for lexeme in found:
        by_place[length] = lexeme
        shown.append(_STAND_INS.get(lexeme.kind, lexeme.value))
        length += len(shown[-1]) + 1
    tokens: list[Token] = []
    for token in _dialect_rule_parser().tokenize(" ".join(shown)):
        known = by_place.get(token.start)
        if known is None:
            raise _unreadable_rule_parser(text)
        value = known.value if known.kind in _STAND_INS else token.text
        tokens.append(Token(token.token_type, value, 1, known.at, known.at, known.at))
    return [_as_function_rule_parser(tokens, number) for number in range(len(tokens))]


def _as_function_rule_parser(tokens: list[Token], number: int) -> Token:
    """Return the token, a type's name before a parenthesis being a function: the parser would read its inside twice."""
    token = tokens[number]
    is_called = number + 1 < len(tokens) and tokens[number + 1].token_type is TokenType.L_PAREN
    is_type = number > 0 and tokens[number - 1].token_type in _AFTER_WHICH_A_TYPE_STANDS
    if token.text.upper() in _TYPES and is_called and not is_type:
        return Token(TokenType.VAR, token.text, 1, token.col, token.start, token.end)
    return token


def _unreadable_rule_parser(text: str, error: SqlglotError | None = None) -> Exception:
    details = getattr(error, "errors", None) or [{}]
    then = "write one SELECT over the contract's tables, or one condition on a row, in Spark's SQL"
    return rule_error(text, details[0].get("col"), "cannot be read", then)


@cache
def _dialect_rule_parser() -> _PlainRuleParser:
    return _PlainRuleParser()
