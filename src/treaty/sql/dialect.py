"""The sqlglot dialect of all SQL here: Spark's grammar, with every function call left under the name it was given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ErrorLevel
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from treaty.sql.functions import words

_KEYWORD_FUNCTIONS = ("CAST", "EXTRACT", "POSITION", "SUBSTR", "SUBSTRING", "TRIM", "TRY_CAST")
"""Functions with keywords between their arguments, such as trim(BOTH ' ' FROM a)."""
_RULE_KEYWORD_FUNCTIONS = ("CAST", "EXTRACT", "TRY_CAST")
RULE_TYPES = words(
    """
    BIGINT BINARY BOOLEAN BYTE CHAR DATE DEC DECIMAL DOUBLE FLOAT INT INTEGER LONG NUMERIC REAL SHORT SMALLINT STRING
    TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_NTZ TINYINT VARCHAR
    """
)
_RULE_KEYWORDS = {"GROUP BY", "ORDER BY", "PARTITION BY"} | words(
    """
    ALL AND ANTI AS ASC BETWEEN CASE CROSS CURRENT_DATE CURRENT_TIMESTAMP DESC DISTINCT DIV ELSE END ESCAPE EXCEPT
    EXISTS FALSE FILTER FROM FULL HAVING ILIKE IN INNER INTERSECT INTERVAL IS JOIN LEFT LIKE LIMIT MINUS NOT NULL ON OR
    OUTER OVER RANGE RECURSIVE REGEXP RIGHT RLIKE ROWS SELECT SEMI THEN TRUE UNION USING WHEN WHERE WITH
    """
)


def _call_of(name: str) -> Callable[[], exp.Expr]:
    return lambda: exp.Anonymous(this=name, expressions=[])


class PlainParser(SparkParser):
    """Spark's parser without translations of functions and without statements other than queries."""

    FUNCTIONS: ClassVar = {}
    STATEMENT_PARSERS: ClassVar = {TokenType.SEMICOLON: SparkParser.STATEMENT_PARSERS[TokenType.SEMICOLON]}
    ARRAY_CONSTRUCTORS: ClassVar = {}
    FUNCTION_PARSERS: ClassVar = {name: SparkParser.FUNCTION_PARSERS[name] for name in _KEYWORD_FUNCTIONS}
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": SparkParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}
    NO_PAREN_FUNCTIONS: ClassVar = {token: _call_of(token.name.lower()) for token in SparkParser.NO_PAREN_FUNCTIONS}


class PlainDialect(Spark):
    """The dialect of project SQL."""

    Parser = PlainParser


class _RuleTokenizer(Spark.Tokenizer):
    """Spark's tokenizer with only the keywords that a rule may use; any other word is a name."""

    KEYWORDS: ClassVar[dict[str, TokenType]] = {
        word: kind
        for word, kind in Spark.Tokenizer.KEYWORDS.items()
        if not word[0].isalpha() or word in _RULE_KEYWORDS | RULE_TYPES
    }
    COMMANDS: ClassVar[set[TokenType]] = set()


class _RuleParser(PlainParser):
    FUNCTION_PARSERS: ClassVar = {name: SparkParser.FUNCTION_PARSERS[name] for name in _RULE_KEYWORD_FUNCTIONS}


class RuleDialect(PlainDialect):
    """The dialect of SQL in contracts: fewer keywords."""

    Tokenizer = _RuleTokenizer
    Parser = _RuleParser


@cache
def project_dialect() -> PlainDialect:
    """Return the dialect of project SQL."""
    return PlainDialect()


@cache
def rule_dialect() -> RuleDialect:
    """Return the dialect of SQL in contracts."""
    return RuleDialect()


def strict_parser(dialect: PlainDialect) -> PlainParser:
    """Return a parser that raises the first error."""
    parser = dialect.parser(error_level=ErrorLevel.IMMEDIATE)
    assert isinstance(parser, PlainParser)  # noqa: S101
    return parser


def type_calls_as_functions(
    tokens: Sequence[Token], types: frozenset[str], before_type: frozenset[TokenType]
) -> list[Token]:
    """Make a type name before a parenthesis a function name, as in date(x); the parser would read x twice.

    `types` are upper case; `before_type` are the tokens after which a name really is a type.
    """

    def as_function(number: int) -> Token:
        token = tokens[number]
        following = [next_token.token_type for next_token in tokens[number + 1 : number + 3]]
        if token.text.upper() not in types or following[:1] != [TokenType.L_PAREN]:
            return token
        is_type = number > 0 and tokens[number - 1].token_type in before_type
        if token.text.upper() == "DECIMAL" and TokenType.LT in before_type:  # decimal(12, 2) inside a struct type
            is_type = is_type or following[1:] == [TokenType.NUMBER]
        return token if is_type else Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end)

    return [as_function(number) for number in range(len(tokens))]


def offset_of(node: exp.Expr) -> int | None:
    """Return the offset in the text at which a node, or the first node inside it, begins."""
    return min((child.meta["start"] for child in node.walk() if "start" in child.meta), default=None)
