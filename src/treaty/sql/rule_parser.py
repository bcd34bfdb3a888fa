"""Read the lexemes of a rule as a syntax tree, every function call by the name it was given."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from treaty.errors import InvalidDocument
from treaty.sql.lexer import Kind, Lexeme
from treaty.sql.refusing import refused


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


class _PlainParser(SparkParser):
    """Spark's parser without its translations of functions and without statements."""

    FUNCTIONS: ClassVar = {}
    STATEMENT_PARSERS: ClassVar = {}
    ARRAY_CONSTRUCTORS: ClassVar = {}
    FUNCTION_PARSERS: ClassVar = {
        name: parser for name, parser in SparkParser.FUNCTION_PARSERS.items() if name in ("CAST", "TRY_CAST", "EXTRACT")
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": SparkParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}


class _Plain(Spark):
    Tokenizer = _PlainTokenizer
    Parser = _PlainParser


def tree(text: str, found: Sequence[Lexeme]) -> exp.Expr:
    """Return the syntax tree of one query or one condition."""
    parser = _PlainParser(dialect=_dialect(), error_level=ErrorLevel.IMMEDIATE)
    try:
        tokens = _tokens(text, found)
        trees = parser.parse(tokens, text) if _is_query(found) else parser.parse_into(exp.Condition, tokens, text)
    except InvalidDocument:
        raise
    except SqlglotError as error:
        raise _unreadable(text, error) from None
    except Exception:  # whatever a foreign parser trips over is one text that cannot be read
        raise _unreadable(text) from None
    if len(trees) != 1 or trees[0] is None:
        raise _unreadable(text)
    return trees[0]


def place_of(node: exp.Expr) -> int | None:
    """Return where a node, or the first thing inside it, stands in the text."""
    return min((item.meta["start"] for item in node.walk() if "start" in item.meta), default=None)


def _is_query(found: Sequence[Lexeme]) -> bool:
    first = next((lexeme for lexeme in found if lexeme.value != "("), found[0])
    return first.kind is Kind.WORD and first.value.upper() in _QUERY_STARTS


def _tokens(text: str, found: Sequence[Lexeme]) -> list[Token]:
    """Let sqlglot name the keywords, and put the values and places of the lexemes into its tokens."""
    shown: list[str] = []
    by_place: dict[int, Lexeme] = {}
    length = 0
    for lexeme in found:
        by_place[length] = lexeme
        shown.append(_STAND_INS.get(lexeme.kind, lexeme.value))
        length += len(shown[-1]) + 1
    tokens: list[Token] = []
    for token in _dialect().tokenize(" ".join(shown)):
        known = by_place.get(token.start)
        if known is None:
            raise _unreadable(text)
        value = known.value if known.kind in _STAND_INS else token.text
        tokens.append(Token(token.token_type, value, 1, known.at, known.at, known.at))
    return [_as_function(tokens, number) for number in range(len(tokens))]


def _as_function(tokens: list[Token], number: int) -> Token:
    """Return the token, a type's name before a parenthesis being a function: the parser would read its inside twice."""
    token = tokens[number]
    is_called = number + 1 < len(tokens) and tokens[number + 1].token_type is TokenType.L_PAREN
    is_type = number > 0 and tokens[number - 1].token_type in _AFTER_WHICH_A_TYPE_STANDS
    if token.text.upper() in _TYPES and is_called and not is_type:
        return Token(TokenType.VAR, token.text, 1, token.col, token.start, token.end)
    return token


def _unreadable(text: str, error: SqlglotError | None = None) -> Exception:
    details = getattr(error, "errors", None) or [{}]
    then = "write one SELECT over the contract's tables, or one condition on a row, in Spark's SQL"
    return refused(text, details[0].get("col"), "cannot be read", then)


@cache
def _dialect() -> _Plain:
    return _Plain()
