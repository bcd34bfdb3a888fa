"""Formatting of text on pages: safe HTML, with line breaks in the right places."""

from __future__ import annotations

import pytest

from treaty.catalog.formatting import allow_breaks, format_code_spans


@pytest.mark.parametrize(
    ("name", "html"),
    [
        ("orders", "orders"),
        ("retail.order_placed@1", "retail.<wbr>order_<wbr>placed@<wbr>1"),
        ("orders_", "orders_"),
        ("<b>.x", "&lt;b&gt;.<wbr>x"),
        ("a\u202eb", "a⟨U+202E⟩b"),
    ],
)
def test_identifiers_break_between_their_words(name: str, html: str) -> None:
    assert str(allow_breaks(name)) == html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain", "plain"),
        ("its `id` stays", "its <code>id</code> stays"),
        ("`a` and `<b>`", "<code>a</code> and <code>&lt;b&gt;</code>"),
        ("one ` only & <i>", "one ` only &amp; &lt;i&gt;"),
    ],
)
def test_backticks_become_code(text: str, html: str) -> None:
    assert str(format_code_spans(text)) == html
