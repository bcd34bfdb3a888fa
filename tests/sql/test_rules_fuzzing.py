"""Any text is refused or rendered from allowed parts only, in less than a second."""

from __future__ import annotations

import re
import time
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.sql.rule_cases import cases, parse
from treaty.errors import InvalidDocument
from treaty.sql.allowed_functions import RULE_FUNCTIONS
from treaty.sql.checked_sql import AggregateMetric, RuleQuery, RuleSql

_VIEWS = {"things": "things", "owners": "owners"}
_RULES: list[str] = [*cases("rules"), *(case["sql"] for name in ("shapes", "refused") for case in cases(name))]
_EXPRESSIONS: list[str] = [*cases("expressions"), *(call for calls in cases("functions").values() for call in calls)]
_WORDS = """
    SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN LEFT ON AS AND OR NOT IN IS NULL LIKE RLIKE BETWEEN CASE WHEN
    THEN ELSE END CAST INTERVAL DATE DISTINCT OVER PARTITION WITH UNION ALL EXISTS FILTER USING LATERAL VIEW VALUES SET
    TABLE IDENTIFIER DECIMAL ARRAY STRUCT MAP count sum reflect transform exists explode concat csv date n big text flag
    day at list pairs names part things owners a b x 'x' 1 2.5 1L `n`
    ( ) [ ] , . ; = <=> < > + - * / % || & | ^ ~ ! -> :: : ? @ # $ { } ${n} {object} {column} -- /* */ /*+ ' " ` \\ \\'
"""
_LEXEME = re.compile(
    r"""
      '(?:[^'\\$]|\$(?!\{))*'
    | X'[0-9A-F]*'
    | `(?:[^`\0$]|``|\$(?!\{))+`
    | [0-9][0-9.]*(?:[eE][+-]?[0-9]+)?\w*
    | \.[0-9]+(?:[eE][+-]?[0-9]+)?\w*
    | [A-Za-z_]\w*
    | <=>|<>|<=|>=|->|\|\||[-+*&|^~(),.\[\]=<>]
    | [ ]
    """,
    re.VERBOSE | re.ASCII,
)
"""What Spark cuts SQL at, as far as rules need it: no comments, variables, parameters or second statements."""
_BEFORE_PARENTHESES = frozenset(
    {"AND", "OR", "NOT", "IN", "IS", "BETWEEN", "CASE", "WHEN", "THEN", "ELSE", "WHERE", "HAVING", "ON", "BY", "FROM"}
) | {"SELECT", "DISTINCT", "UNION", "INTERSECT", "EXCEPT", "ALL", "AS", "OVER", "FILTER", "EXISTS", "CAST", "TRY_CAST"}
_BEFORE_PARENTHESES |= {"DECIMAL", "DIV", "LIKE", "RLIKE", "extract"}

soup = st.lists(st.sampled_from(_WORDS.split()), max_size=40)
texts = st.one_of(
    st.text(max_size=60),
    soup.map(" ".join),
    soup.map("".join),
    soup.map(lambda words: " ".join(["SELECT count(*) FROM things WHERE", *words])),
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A rule with something cut out, doubled or put in."""
    rule = draw(st.sampled_from([*_RULES, *_EXPRESSIONS]))
    start = draw(st.integers(0, len(rule)))
    end = draw(st.integers(start, len(rule)))
    put_in = draw(st.one_of(st.just(""), texts, st.sampled_from(_EXPRESSIONS), st.just(rule[start:end] * 2)))
    return rule[:start] + put_in + rule[end:]


@given(st.one_of(texts, mutated()))
@example("date(" * 20 + "day" + ")" * 20 + " > day")
@example("struct(" * 20 + "n" + ")" * 20 + " = n")
@example("CAST(n AS " + "STRUCT<a: " * 20 + "INT" + ">" * 20 + ") = n")
@example("list[if(" * 11 + "list[0]" + " = 1, 0, 1)]" * 11 + " = 1")
@settings(max_examples=1_500, deadline=None)
def test_text_is_refused_or_rendered_from_allowed_parts(text: str) -> None:
    rule = _parse_in_time(text)
    if rule is not None:
        _assert_known(_sql(rule))


@given(st.sampled_from(_EXPRESSIONS), st.sampled_from(_EXPRESSIONS), st.sampled_from(["=", "<=>", "<>"]))
@settings(max_examples=300, deadline=None)
def test_allowed_expressions_can_be_combined(left: str, right: str, sign: str) -> None:
    try:
        rule = parse(f"({left}) {sign} ({right})")
    except InvalidDocument:
        return

    _assert_known(_sql(rule))


def _parse_in_time(text: str) -> RuleSql | None:
    """Read a text; one that takes long does so every time, while a pause of Python's own is over the next time."""
    for _ in range(3):
        started = time.thread_time()
        try:
            rule: RuleSql | None = parse(text)
        except InvalidDocument:
            rule = None
        if time.thread_time() - started < 1:
            return rule
    raise AssertionError(f"it takes more than a second of processor time to read {text!r}")


def _sql(rule: RuleSql) -> str:
    if isinstance(rule, RuleQuery):
        return rule.render(_VIEWS)
    return rule.expression if isinstance(rule, AggregateMetric) else rule.condition


def _assert_known(sql: str) -> None:
    """Read the SQL as Spark would cut it: known functions only, and no sign that begins anything else."""
    lexemes = []
    at = 0
    while at < len(sql):
        lexeme = _LEXEME.match(sql, at)
        assert lexeme is not None, sql[at:]
        at = lexeme.end()
        if lexeme[0] != " ":
            lexemes.append(lexeme[0])
    assert ("-", "-") not in set(pairwise(lexemes))
    for word, following in pairwise(lexemes):
        if following == "(" and (word[0].isalpha() or word[0] in "`'_"):
            assert word in RULE_FUNCTIONS or word in _BEFORE_PARENTHESES
