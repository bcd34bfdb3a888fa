"""Tokenize the SQL of a rule by Spark's lexical rules; drops comments and limits length and nesting."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from treaty.contracts.sql_quoting import identifier_problem
from treaty.contracts.values import abbreviate
from treaty.errors import InvalidDocument

MAX_RULE_LENGTH = 10_000
MAX_LEXEMES = 2_000
MAX_NESTING = 24
_MAX_PREFIX_OPERATORS = 8
_MAX_DIGITS = 38


class Kind(Enum):
    """What a lexeme is."""

    WORD = "word"
    NAME = "name"
    TEXT = "text"
    BYTES = "bytes"
    NUMBER = "number"
    SIGN = "sign"
    PLACEHOLDER = "placeholder"


@dataclass(frozen=True, slots=True)
class Lexeme:
    """One token and its offset in the text."""

    kind: Kind
    value: str
    at: int


_LEXEME = re.compile(
    r"""
      (?P<space>[ \t\r\n]+)
    | (?P<line>--(?:\\\n|[^\r\n])*)
    | (?P<block>/\*)
    | (?P<placeholder>\$?\{[A-Za-z_]\w*\})
    | (?P<raw>[rR](?:'[^']*'|"[^"]*"))
    | (?P<bytes>[xX](?:'(?:[0-9A-Fa-f]{2})*'|"(?:[0-9A-Fa-f]{2})*"))
    | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<name>`(?:[^`]|``)+`)
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:[bB][dD]|[lLsSyYfFdD])?)(?!\w)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<sign><=>|<>|<=|>=|!=|==|->|\|\||::|[()\[\],.=<>+\-*/%&|^~!;])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_WHOLE_PLACEHOLDER = re.compile(r"\$?\{[A-Za-z_]\w*\}", re.ASCII)
_WHOLE = {"L": 2**63 - 1, "S": 2**15 - 1, "Y": 2**7 - 1}
_PREFIXES = frozenset({"-", "+", "~", "!", "NOT"})


def tokenize_rule(text: str) -> tuple[Lexeme, ...]:
    """Tokenize the SQL of a rule; refuse what is too long, nested too deeply or not Spark SQL."""
    if len(text) > MAX_RULE_LENGTH:
        raise rule_error(
            text, None, f"has {len(text):,} characters, more than {MAX_RULE_LENGTH:,}", "split it into several rules"
        )
    lexemes = tuple(_scan(text))
    while lexemes and lexemes[-1].value == ";" and lexemes[-1].kind is Kind.SIGN:
        lexemes = lexemes[:-1]
    second = next((lexeme for lexeme in lexemes if lexeme.value == ";" and lexeme.kind is Kind.SIGN), None)
    if second is not None:
        raise rule_error(text, second.at, "has more than one statement", "write one SELECT or one condition")
    if not lexemes:
        raise rule_error(text, None, "is empty", "write one SELECT or one condition")
    if len(lexemes) > MAX_LEXEMES:
        raise rule_error(text, None, f"has more than {MAX_LEXEMES:,} tokens", "split it into several rules")
    _refuse_depth(text, lexemes)
    return lexemes


def _scan(text: str) -> Iterator[Lexeme]:
    at, before = 0, None
    while at < len(text):
        match = _LEXEME.match(text, at)
        if match is None:
            raise _unknown_character(text, at)
        kind, end = str(match.lastgroup), match.end()
        if kind == "block":
            end = _end_of_comment(text, at)
        elif kind not in ("space", "line"):
            lexeme = _lexeme(text, kind, match[0], at)
            if before is not None and before.kind is lexeme.kind is Kind.TEXT:
                raise rule_error(
                    text,
                    at,
                    "has two string literals in a row",
                    r"write one string literal; escape a quote inside it as \'",
                )
            before = lexeme
            yield lexeme
        at = end


def _end_of_comment(text: str, at: int) -> int:
    depth = 0
    for mark in re.finditer(r"/\*|\*/", text[at:]):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return at + mark.end()
    raise rule_error(text, at, "has a comment that is not closed", "close it with */")


def _lexeme(text: str, kind: str, lexeme_text: str, at: int) -> Lexeme:
    if kind == "number":
        return _number(text, lexeme_text, at)
    if kind == "name":
        name = lexeme_text[1:-1].replace("``", "`")
        if _WHOLE_PLACEHOLDER.fullmatch(name):
            return Lexeme(Kind.PLACEHOLDER, name, at)
        if problem := identifier_problem(name):
            raise rule_error(text, at, f"has {problem}", "use another name")
        return Lexeme(Kind.NAME, name, at)
    if kind == "bytes":
        return Lexeme(Kind.BYTES, lexeme_text[2:-1].upper(), at)
    if kind in ("text", "raw"):
        if "${" in lexeme_text and not _WHOLE_PLACEHOLDER.fullmatch(lexeme_text.strip("'\"")):
            raise _variable(text, at)
        return _text(text, lexeme_text[2:-1] if kind == "raw" else unescape(lexeme_text[1:-1]), at)
    return Lexeme(Kind(kind), lexeme_text, at)


def _text(text: str, value: str | None, at: int) -> Lexeme:
    if value is None or any("\ud800" <= character <= "\udfff" for character in value):
        raise rule_error(
            text, at, "has half of a surrogate pair", r"write the full character, or its code as \U0001F600"
        )
    if _WHOLE_PLACEHOLDER.fullmatch(value):
        return Lexeme(Kind.PLACEHOLDER, value, at)
    return Lexeme(Kind.TEXT, value, at)


def _number(text: str, lexeme_text: str, at: int) -> Lexeme:
    digits = lexeme_text.rstrip("bBdDlLsSyYfF")
    suffix = lexeme_text[len(digits) :].upper()
    if suffix in _WHOLE:
        is_fit = digits.isdigit() and len(digits) <= _MAX_DIGITS and int(digits) <= _WHOLE[suffix]
    else:
        is_fit = sum(map(str.isdigit, digits)) <= _MAX_DIGITS and float(digits) < float("inf")
    if not is_fit:
        raise rule_error(text, at, "has a number that is too large for Spark", f"write at most {_MAX_DIGITS} digits")
    return Lexeme(Kind.NUMBER, digits + suffix, at)


def _unknown_character(text: str, at: int) -> Exception:
    if text[at] in "'\"`":
        return rule_error(text, at, "has a quote that is not closed", "close it")
    if text[at] in "${":
        return _variable(text, at)
    if text[at].isalnum():
        return rule_error(text, at, "has a name with unusual characters", "put it in backticks")
    return rule_error(text, at, f"has the unsupported character {text[at]!r}", "remove it")


def _variable(text: str, at: int) -> Exception:
    return rule_error(text, at, "has a variable", "only placeholders such as {object} and {property} are filled in")


def _refuse_depth(text: str, lexemes: tuple[Lexeme, ...]) -> None:
    depth = run = 0
    for lexeme in lexemes:
        word = lexeme.value.upper() if lexeme.kind in (Kind.WORD, Kind.SIGN) else ""
        depth = max(0, depth + (word in ("(", "[", "CASE")) - (word in (")", "]", "END")))
        run = run + 1 if word in _PREFIXES else 0
        if depth > MAX_NESTING or run > _MAX_PREFIX_OPERATORS:
            raise rule_error(
                text, lexeme.at, f"nests deeper than {MAX_NESTING} levels", "nest less, or split it into several rules"
            )


_ESCAPE = re.compile(
    r"\\(?:u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<octal>[01][0-7]{2})|(?P<one>.))", re.DOTALL
)
_NAMED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": r"\%", "_": r"\_"}


def unescape(body: str) -> str | None:
    r"""Return the value of a text between its quotes, such as ``it\'s``; None if it is not valid Unicode."""
    try:
        value = _ESCAPE.sub(_character, body)
        return value.encode("utf-16", "surrogatepass").decode("utf-16")
    except (ValueError, OverflowError):
        return None


def _character(match: re.Match[str]) -> str:
    code = match["u"] or match["U"]
    if code:
        return chr(int(code, 16))
    if match["octal"]:
        return chr(int(match["octal"], 8))
    return _NAMED.get(match["one"], match["one"])


_MAX_SHOWN_CHARACTERS = 40


def rule_error(text: str, at: int | None, what: str, then: str) -> InvalidDocument:
    """Return the error for the SQL of a rule, with the position of its cause."""
    if at is None or not 0 <= at < len(text):
        return InvalidDocument(f"the SQL of the rule {what} ({abbreviate(text, _MAX_SHOWN_CHARACTERS)!r}); {then}")
    return InvalidDocument(
        f"the SQL of the rule {what} at character {at + 1} ({abbreviate(text[at:], _MAX_SHOWN_CHARACTERS)!r}); {then}"
    )
