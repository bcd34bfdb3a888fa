"""Texts, numbers and mappings that documents are made of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

Document: TypeAlias = dict[str, Any]
Strategies: TypeAlias = Mapping[str, SearchStrategy[Any]]

AWKWARD_TEXTS = (
    *("no", "yes", "on", "off", "y", "n", "null", "Null", "~", "true", "TRUE", "False", "=", "<<", "-", "?", ":"),
    *("0", "-0", "+1", "010", "0o14", "0x1F", "0b11", "1_000", "1:30", "1e5", "1E5", ".5", "5.", "-.5e-3", "1.0.0"),
    *(".inf", "-.INF", "+.inf", ".nan", ".NaN", "Infinity", "2026-01-03", "2026-01-03T10:00:00Z", "12:30:00"),
    *("", " ", "  a", "a  ", "\t", "a\tb", "\n", "a\n", "\na", "a\nb", "a\n\n b\n", "a\r\nb", "\r", "a \n b"),
    *("- a", "a: b", "a:", "# a", "a # b", "'", '"', "it's", '"a"', "\\", "\\n", "%", "@", "`", "|", ">", "!a"),
    *("&a", "*a", "{}", "[]", "{a: b}", "[a", "a, b", "---", "...", "--- a", "!!str a", "\x00", "\x07", "\x7f"),
    *("\x85", "a\x85b", "\xa0", "\u2028", "a\u2028b", "\u2029", "\ufeff", "a\ufeffb", "\ufffe", "\U0010ffff"),
    *("é", "e\u0301", "日本語", "שלום", "😀", "👩\u200d👩\u200d👧"),
)
"""Texts that one writer or another takes for something else."""


def texts(max_size: int = 12) -> SearchStrategy[str]:
    """Any text that a document can hold, often an awkward one."""
    anything = st.text(st.characters(codec="utf-8"), max_size=max_size)
    return st.one_of(st.sampled_from(AWKWARD_TEXTS), anything)


def words() -> SearchStrategy[str]:
    """Texts with something to read in them, of any script."""
    return st.one_of(
        st.sampled_from(("orders", "größe", "注文", "a b", "x.y", "Ω")), texts().map(lambda text: f"w{text}")
    )


def names() -> SearchStrategy[str]:
    """Names of fields and objects: mostly plain, any text at times."""
    return st.one_of(
        st.sampled_from(("id", "amount", "customer_name", "größe", "a.b", "x[]", "`", "列")), words(), texts()
    )


def identifiers() -> SearchStrategy[str]:
    """Stable ids as ODCS writes them."""
    return st.text("abcXYZ019_-", min_size=1, max_size=6)


def dates() -> SearchStrategy[str]:
    """Days as documents write them."""
    return st.dates().map(lambda day: day.isoformat())


def numbers() -> SearchStrategy[int | float]:
    """Numbers that JSON can say."""
    return st.one_of(st.integers(-(10**20), 10**20), st.floats(allow_nan=False, allow_infinity=False))


def scalars() -> SearchStrategy[Any]:
    """Values without parts."""
    return st.one_of(st.none(), st.booleans(), numbers(), texts())


@cache
def json_values(max_leaves: int = 4) -> SearchStrategy[Any]:
    """Anything that JSON can say."""
    return st.recursive(
        scalars(),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts(), inner, max_size=3)),
        max_leaves=max_leaves,
    )


def mapping(required: Strategies, optional: Strategies, most: int = 3) -> SearchStrategy[Document]:
    """All of the required keys and a few of the optional ones, in any order."""
    free = sorted(optional.keys() - required.keys())
    known = {**optional, **required}

    @st.composite
    def drawn(draw: DrawFn) -> Document:
        chosen = draw(st.lists(st.sampled_from(free), unique=True, max_size=most)) if free else []
        keys = [*required, *chosen]
        return {key: draw(known[key]) for key in (draw(st.permutations(keys)) if chosen else keys)}

    return drawn()


def at_least_one(optional: Strategies) -> SearchStrategy[Document]:
    """A few of the optional keys, never none."""
    return st.one_of([mapping({name: optional[name]}, optional) for name in sorted(optional)])


def few(item: SearchStrategy[Any], max_size: int = 2) -> SearchStrategy[list[Any]]:
    """A short list, often empty."""
    return st.lists(item, max_size=max_size)
